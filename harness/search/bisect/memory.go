package bisect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
	"nodestorm/sim/strict"
)

// memory is the file of what one question has taught, so that a second call goes on.
type memory struct {
	Question []string `json:"question"`
	Trials   []Trial  `json:"trials"`

	dir, path string
}

func (m *memory) known() map[string]Trial {
	known := map[string]Trial{}
	for _, t := range m.Trials {
		known[t.ID] = t
	}
	return known
}

func (m *memory) add(t Trial) error {
	m.Trials = append(m.Trials, t)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return run.WriteFile(m.dir, filepath.Base(m.path), append(text, '\n'))
}

// Remember reads what an earlier call with the same question has learned. The runs of
// both calls are below one folder.
func (q *Inquiry) Remember() error {
	question := append([]string{q.Record.ID, q.source.name(), q.ends.good, q.ends.bad}, q.Conditions...)
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(q.Out, "bisect", q.Record.ID, hex.EncodeToString(sum[:4]))
	q.memory = memory{Question: question, dir: dir, path: filepath.Join(dir, "bisect.json")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return exit.UsageError(fmt.Errorf("--out: %w", err))
	}
	text, err = strict.ReadFile(q.memory.path, 64<<20)
	if errors.Is(err, fs.ErrNotExist) || q.Anew {
		return nil
	}
	var earlier memory
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil {
		return exit.UsageError(fmt.Errorf("what was learned is damaged (%s: %w): --fresh forgets it", q.memory.path, err))
	}
	for _, t := range earlier.Trials {
		if t.Verdict == "" {
			continue // it could not be built, or decided, which may be otherwise now
		}
		if _, err := os.Stat(t.Run()); err != nil {
			continue // its run was removed: it is shown again
		}
		q.memory.Trials = append(q.memory.Trials, t)
	}
	if n := len(q.memory.Trials); n > 0 {
		q.Say("going on with %s learned earlier (%s); --fresh forgets them", wording.Counted(n, "answer"), q.memory.path)
	}
	return nil
}
