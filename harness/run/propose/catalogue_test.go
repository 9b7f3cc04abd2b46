package propose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/run"
	"nodestorm/harness/run/propose"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
)

// TestCatalogue takes the symptoms of the catalogue's records away, and makes new ones out of the events that they matched: in
// the stored runs below the folder that NODESTORM_RUNS names. What is proposed for a record has to hold in each run that
// reproduces it, in no healthy one, and in none of another record but its kin.
func TestCatalogue(t *testing.T) {
	root := os.Getenv("NODESTORM_RUNS")
	if root == "" {
		t.Skip("NODESTORM_RUNS names no folder with stored runs")
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	runs := loadAll(t, root)
	tried, good := 0, 0
	for _, record := range catalogue.Records() {
		i := slices.IndexFunc(runs, func(r *propose.Run) bool { return r.ID == record.ID && r.Verdict == verdict.Reproduced })
		if i < 0 {
			continue
		}
		tried++
		text, wrong := proposed(t, record, runs, i)
		if wrong == "" {
			good++
		}
		t.Logf("%s: %s\n%s", record.ID, wrong, text)
	}
	t.Logf("%d of %d records: what is proposed discriminates the same runs", good, tried)
	if tried >= 20 && good*4 < tried*3 {
		t.Errorf("%d of %d records, want three quarters", good, tried)
	}
}

func loadAll(t *testing.T, root string) (runs []*propose.Run) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*", "*", run.File))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no runs: %v", root, err)
	}
	for _, path := range paths {
		r, err := propose.Load(t.Context(), filepath.Dir(path), strings.TrimPrefix(filepath.Dir(path), root))
		if err != nil {
			t.Log(err)
			continue
		}
		runs = append(runs, r)
	}
	return runs
}

// proposed is the symptom for a record out of one run, and what is wrong with where it holds.
func proposed(t *testing.T, record scenarios.Record, runs []*propose.Run, i int) (text, wrong string) {
	t.Helper()
	lines := runs[i].Find(record.Symptom).Evidence
	d, err := propose.New(runs[i], lines, record.Kin, nil)
	if err != nil {
		return "", fmt.Sprint("not tried: ", err)
	}
	for j, r := range runs {
		if j != i {
			with := *r
			d.CompareWith(&with)
		}
	}
	p, err := d.Propose()
	if err != nil {
		return "", err.Error()
	}
	if text, err = p.YAML(); err != nil {
		t.Error(err)
	}
	return text + p.Unfixed, strings.Join(p.Wrong, "\n  ")
}
