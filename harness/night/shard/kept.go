package shard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/reports/table"
	"nodestorm/sim/strict"
)

// File is the name of what a shard leaves in its folder of runs.
const File = "shard.json"

// Format is the version of shard.json.
const Format = 1

// Kept is shard.json: what a shard was to do, with what, and what it has done so far.
type Kept struct {
	Format int  `json:"format"`
	Part   Part `json:"part"`
	// Nodestorm is what the program was built from, Program its SHA-256, and Features what
	// the features are of.
	Nodestorm run.Code `json:"nodestorm"`
	Program   string   `json:"program"`
	Features  run.Code `json:"features"`
	// Flags are those that all shards have to have alike.
	Flags []string `json:"flags"`
	// Whole is the sequence that was split, in its order.
	Whole []Job `json:"whole"`
	// Rows are what came of this shard's jobs so far, in their order; runs are named as
	// folders below this one.
	Rows []table.Row `json:"rows"`
	// Ended says that nothing is to come.
	Ended bool `json:"ended"`
}

// Save writes the file into dir, whole or not at all.
func (k Kept) Save(dir string) error {
	k.Format = Format
	k.Rows = table.Finite(k.Rows)
	for i, row := range k.Rows {
		if row.Run == "" {
			continue
		}
		local, err := filepath.Rel(dir, row.Run)
		if err != nil || !filepath.IsLocal(local) {
			return fmt.Errorf("writing %s: the run in %s is not below %s", File, row.Run, dir)
		}
		k.Rows[i].Run = filepath.ToSlash(local)
	}
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", File, err)
	}
	return run.WriteFile(dir, File, append(text, '\n'))
}

// maxSize bounds the file, of which real ones have some 100 KiB: it may be a stranger's.
const maxSize = 16 << 20

// Load reads the file in dir.
func Load(dir string) (k Kept, err error) {
	path := filepath.Join(dir, File)
	text, err := strict.ReadFile(path, maxSize)
	switch {
	case errors.As(err, new(*strict.LargeError)):
		return k, fmt.Errorf("%s was not written by nodestorm: %w", path, strict.WithoutPath(err))
	case err != nil:
		return k, err
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&k); err != nil {
		return k, fmt.Errorf("%s is damaged or cut off: %w", path, err)
	}
	if k.Format != Format {
		return k, fmt.Errorf("%s has format %d, and this nodestorm reads %d: use the nodestorm that made it (commit %q)", path, k.Format,
			Format, k.Nodestorm.Commit)
	}
	if _, err := ParsePart(k.Part.String()); err != nil {
		return k, fmt.Errorf("%s: part: %w", path, err)
	}
	for i, row := range k.Rows {
		if row.Run == "" {
			continue
		}
		local := filepath.FromSlash(row.Run)
		if !filepath.IsLocal(local) {
			return k, fmt.Errorf("%s names a run outside of its folder: %.200q", path, row.Run)
		}
		k.Rows[i].Run = filepath.Join(dir, local)
	}
	return k, nil
}

// Shard is one that was found, and where.
type Shard struct {
	Dir string
	Kept
}

// Check reports whether the shards are parts of one whole, each there at most once: in a
// sentence, what was other where, or which is there twice.
func Check(shards []Shard) error {
	if len(shards) == 0 {
		return errors.New("there is no shard")
	}
	var twice []string
	at := map[int]string{}
	first := shards[0]
	for _, s := range shards {
		if other := at[s.Part.Number]; other != "" {
			twice = append(twice, fmt.Sprintf("shard %s is there twice, in %s and in %s", s.Part, other, s.Dir))
		}
		at[s.Part.Number] = s.Dir
		for _, of := range []struct {
			what        string
			here, there string
		}{
			{"the number of shards", fmt.Sprint(s.Part.Of), fmt.Sprint(first.Part.Of)},
			{"nodestorm's version", version(s.Kept), version(first.Kept)},
			{"the features", s.Features.String(), first.Features.String()},
			{"flags", strings.Join(s.Flags, " "), strings.Join(first.Flags, " ")},
		} {
			// mutant: shards with other flags are joined
			if of.here != of.there {
				return fmt.Errorf("%s of shard %s in %s and of shard %s in %s differ: %q and %q; they are not parts of one whole, and nothing was "+
					"joined", of.what, first.Part, first.Dir, s.Part, s.Dir, of.there, of.here)
			}
		}
		if !slices.Equal(s.Whole, first.Whole) {
			return fmt.Errorf("shard %s in %s and shard %s in %s split other replays, or by other durations: %s; nothing was joined", first.Part,
				first.Dir, s.Part, s.Dir, difference(first.Whole, s.Whole))
		}
	}
	if len(twice) > 0 {
		return fmt.Errorf("%s; name one of them", strings.Join(twice, "; "))
	}
	return nil
}

// version is the commit, and the program if that does not say all.
func version(k Kept) string {
	if k.Nodestorm.Commit == "" || k.Nodestorm.Dirty {
		return fmt.Sprintf("%s, program sha256 %.12s", k.Nodestorm, k.Program)
	}
	return k.Nodestorm.String()
}

func difference(a, b []Job) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("replay %d is %s (%.0f s, shard %d) and %s (%.0f s, shard %d)", i+1, a[i], a[i].Seconds, a[i].Shard, b[i],
				b[i].Seconds, b[i].Shard)
		}
	}
	return fmt.Sprintf("%d and %d replays", len(a), len(b))
}

// Missing is a job of the whole that no shard has done.
type Missing struct {
	Job
	Reason string
}

// Join puts the rows of all shards in the order of the whole, and says what is missing,
// and in a sentence for each shard why. The shards have passed [Check].
func Join(shards []Shard) (rows []table.Row, missing []Missing, problems []string) {
	by := map[int]Shard{}
	for _, s := range shards {
		by[s.Part.Number] = s
	}
	// A sequence is played again as a whole: the first rows of all jobs, then the second.
	rounds := map[Job][]table.Row{}
	most := 0
	counts := map[int]int{}
	for _, j := range shards[0].Whole {
		if _, seen := rounds[j]; seen {
			continue
		}
		s, there := by[j.Shard]
		for _, row := range s.Rows {
			if row.ID == j.Scenario && row.Target == j.Target {
				rounds[j] = append(rounds[j], row)
			}
		}
		most = max(most, len(rounds[j]))
		switch {
		case len(rounds[j]) > 0:
		case !there:
			missing = append(missing, Missing{j, fmt.Sprintf("shard %d/%d is missing", j.Shard, shards[0].Part.Of)})
			counts[j.Shard]++
		default:
			missing = append(missing, Missing{j, fmt.Sprintf("shard %s did not come to its end", s.Part)})
			counts[j.Shard]++
		}
	}
	for round := range most {
		seen := map[Job]bool{}
		for _, j := range shards[0].Whole {
			if of := rounds[j]; round < len(of) && !seen[j] {
				rows = append(rows, of[round])
			}
			seen[j] = true
		}
	}
	// What could not be had stands before all that was run, as verify has it.
	slices.SortStableFunc(rows, func(a, b table.Row) int { return cmp.Compare(min(1, len(a.Run)), min(1, len(b.Run))) })
	for number := range shards[0].Part.Of {
		p := Part{number + 1, shards[0].Part.Of}
		s, there := by[p.Number]
		switch n := counts[p.Number]; {
		case !there:
			problems = append(problems, fmt.Sprintf("shard %s is missing, with %d of %d replays", p, n, len(shards[0].Whole)))
		// mutant: a shard that was interrupted is complete
		case !s.Ended || n > 0:
			problems = append(problems, fmt.Sprintf("shard %s in %s did not come to its end: %d of its replays are missing", p, s.Dir, n))
		}
	}
	return rows, missing, problems
}
