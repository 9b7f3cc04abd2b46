package stored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/matrix"
	"nodestorm/sim/strict"
)

// VerifiedFile is the file below the checkout's root that holds what was last
// verified of each failure: runs themselves are too large to keep in git.
const VerifiedFile = "reports/verified.json"

// TrackRecord notes runs as verified in a checkout of nodestorm, and writes the tables of them. What
// was written it prints.
func (r *Reporter) TrackRecord(root string, cells []matrix.Cell) error {
	path := filepath.Join(root, VerifiedFile)
	verified, err := readVerified(path)
	if err != nil {
		return err
	}
	var left error
	for _, c := range cells {
		if len(c.Departures) > 0 {
			r.Say("%s on %s is not noted as verified: %s", c.Scenario, c.Target, strings.Join(c.Departures, "; "))
			left = &exit.Error{Code: exit.Inconclusive}
		}
	}
	verified = matrix.Newest(verified, cells)
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(verified); err != nil {
		return err
	}
	record := Documented(r.Catalogue)
	write := map[string][]byte{path: encoded.Bytes()}
	for name, table := range map[string]string{"README.md": matrix.Summary(record, verified),
		"scenarios/README.md": matrix.TrackRecord(record, verified)} {
		file := filepath.Join(root, name)
		text, err := strict.ReadFile(file, mostText)
		if err != nil {
			return err
		}
		anew, err := matrix.Insert(string(text), table)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		write[file] = []byte(anew)
	}
	for _, file := range slices.Sorted(maps.Keys(write)) {
		if err := run.WriteFile(filepath.Dir(file), filepath.Base(file), write[file]); err != nil {
			return err
		}
		fmt.Fprintln(r.Stdout, file)
	}
	return left
}

// mostText is more than any of these files has, in bytes.
const mostText = 64 << 20

func readVerified(path string) ([]matrix.Cell, error) {
	text, err := strict.ReadFile(path, mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var cells []matrix.Cell
	if err := json.Unmarshal(text, &cells); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return cells, nil
}
