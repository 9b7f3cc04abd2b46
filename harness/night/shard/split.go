package shard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/redact"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Split is which part of a whole is asked for. The zero value is the whole.
type Split struct {
	Text string // i/N; job/N: see OfPod
	// Durations are files that say how long replays take: stored runs, and matrices in JSON. None:
	// as when they were last verified.
	Durations []string
}

// Asked reports whether it is not the whole.
func (s Split) Asked() bool { return s.Text != "" || len(s.Durations) > 0 }

// Plan splits the replays of the records. Which builds there are on this machine makes no
// difference. Its errors are about what was asked.
func (s Split) Plan(ctx context.Context, records []scenarios.Record, scratch stored.Scratch) (Part, []Job, error) {
	if s.Text == "" {
		return Part{}, nil, errors.New("--durations says how --shard i/N splits, and there is none")
	}
	text, err := OfPod(s.Text, os.Getenv(EnvIndex))
	var part Part
	if err == nil {
		part, err = ParsePart(text)
	}
	if err != nil {
		return part, nil, fmt.Errorf("--shard %w", err)
	}
	known, err := durations(ctx, s.Durations, scratch)
	if err != nil {
		return part, nil, fmt.Errorf("--durations: %w", err)
	}
	var jobs []Job
	for _, r := range records {
		for _, of := range r.Targets {
			jobs = append(jobs, Job{Scenario: r.ID, Target: of.Name})
		}
	}
	Plan(jobs, known, part.Of)
	return part, jobs, nil
}

// EnvIndex has the index of a pod of an Indexed Job, from 0: the Job's controller sets it.
const EnvIndex = "JOB_COMPLETION_INDEX"

// OfPod is which shard a pod of the Job is: i/N of job/N and the index in its environment,
// which begins at 0. Any other text is returned as it is.
func OfPod(text, index string) (string, error) {
	of, is := strings.CutPrefix(text, "job/")
	if !is {
		return text, nil
	}
	number, err := strconv.Atoi(index)
	if err != nil || number < 0 || number >= Most {
		return "", fmt.Errorf("%q: %s is %q: want the index of a pod of an Indexed Job, from 0", text, EnvIndex, index)
	}
	// mutant: a Job's indexes begin at 1
	return fmt.Sprintf("%d/%s", number+1, of), nil
}

// durations are those of stored runs and of matrices, or what was last verified.
func durations(ctx context.Context, paths []string, scratch stored.Scratch) (known Durations, err error) {
	add := func(cells []matrix.Cell) {
		for _, c := range cells {
			known.Add(c.Scenario, c.Target, c.WallSeconds)
		}
	}
	if len(paths) == 0 {
		var verified []matrix.Cell
		err := json.Unmarshal(reports.Verified, &verified) // it is part of the program
		add(verified)
		return known, err
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.HasSuffix(path, ".json") {
			m, err := stored.ReadMatrix(ctx, path)
			if err != nil {
				return known, fmt.Errorf("%s: %w", path, err)
			}
			add(m.Cells)
			continue
		}
		found, done, err := stored.Find(ctx, []string{path}, scratch)
		defer done()
		if err != nil {
			return known, err
		}
		for _, f := range found {
			r, err := run.Load(f.Dir)
			if err != nil {
				return known, errors.New(f.ErrorText(err))
			}
			known.Add(r.ID, r.Target.Ref.String(), r.Took().Seconds())
		}
	}
	return known, nil
}

// Mine are the records with those targets that are the part's of the whole, and how many replays
// that are.
func (k *Kept) Mine(records []scenarios.Record) (mine []scenarios.Record, replays int) {
	jobs := k.Whole
	for _, r := range records {
		all := r.Targets
		r.Targets = nil
		for _, of := range all {
			if jobs[0].Shard == k.Part.Number {
				r.Targets = append(r.Targets, of)
				replays++
			}
			jobs = jobs[1:]
		}
		if len(r.Targets) > 0 {
			mine = append(mine, r)
		}
	}
	return mine, replays
}

// Free makes sure that no other shard has left something in a folder.
func (k *Kept) Free(dir string) error {
	other, err := Load(dir)
	switch {
	case err == nil && other.Part != k.Part:
		return fmt.Errorf("--out %s has what shard %s left; name another folder for shard %s", dir, other.Part, k.Part)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--out: %w; name another folder, or remove the file", err)
	}
	return nil
}

// Name is what the shard leaves is called in a bucket; nil is the whole.
func (k *Kept) Name() string {
	if k == nil {
		return "whole"
	}
	return fmt.Sprintf("shard-%d-of-%d", k.Part.Number, k.Part.Of)
}

// Empty reports whether the shard has nothing to do.
func (k *Kept) Empty() bool {
	return k != nil && !slices.ContainsFunc(k.Whole, func(j Job) bool { return j.Shard == k.Part.Number })
}

// SaveProgress writes into dir what has come of the shard so far; of the whole, which is nil, nothing.
func (k *Kept) SaveProgress(dir string, rows []table.Row, ended bool) error {
	if k == nil {
		return nil
	}
	redactor := redact.ForHere()
	k.Rows, k.Ended = slices.Clone(rows), ended
	for i := range k.Rows {
		k.Rows[i].Reason = redactor.Text(k.Rows[i].Reason)
	}
	return exit.WithRoom(k.Save(dir))
}

// JobsOf are those of a part.
func JobsOf(part Part, jobs []Job) (mine []Job) {
	return slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return j.Shard != part.Number })
}

// Show prints what a part has of all jobs, and how long they are expected to take.
func Show(w io.Writer, part Part, jobs []Job) error {
	loads := make([]float64, part.Of)
	for _, j := range jobs {
		loads[j.Shard-1] += j.Seconds
	}
	mine := JobsOf(part, jobs)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tTARGET\tEXPECTED TO TAKE")
	for _, j := range mine {
		fmt.Fprintf(table, "%s\t%s\t%.0fs\n", j.Scenario, j.Target, j.Seconds)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nshard %s: %d of %s, %.0fs; the shards take %.0fs to %.0fs\n",
		part, len(mine), wording.Counted(len(jobs), "replay"), loads[part.Number-1], slices.Min(loads), slices.Max(loads))
	return err
}

// FindShards finds what shards have left at or below the folders.
func FindShards(dirs []string) (found []Shard, err error) {
	for _, dir := range dirs {
		before := len(found)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != File {
				return err
			}
			kept, err := Load(filepath.Dir(path))
			found = append(found, Shard{Dir: filepath.Dir(path), Kept: kept})
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not there; name the --out of a shard, or a folder above some", dir)
		}
		if err != nil {
			return nil, err
		}
		if len(found) == before {
			return nil, fmt.Errorf("%s: no %s in it or below: it is not what verify --shard left; nodestorm matrix shows any runs", dir, File)
		}
	}
	slices.SortStableFunc(found, func(a, b Shard) int { return cmp.Compare(a.Part.Number, b.Part.Number) })
	return slices.CompactFunc(found, func(a, b Shard) bool { return sameFolder(a.Dir, b.Dir) }), nil
}

// sameFolder reports whether two paths lead to one folder, which may be named twice.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}
