package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/redact"
	"nodestorm/scenarios"
)

// sharding is what a command is told of shards: which of how many it is. The zero value
// is the whole.
type sharding struct {
	text      string // i/N
	durations []string
	out       string
	kept      *shard.Kept // nil for the whole
	read      bool        // another process keeps
}

func (h *sharding) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&h.text, "shard", "", "only the `i/N`-th part, by how long replays are expected to take; job/N: the one of the index of a Kubernetes Job's pod")
	c.Flags().StringArrayVar(&h.durations, "durations", nil, "stored runs, or a matrix in JSON, at `PATH`: how long replays take; default: as when they were last verified")
}

// called is the name of what the shard leaves, of "archived" where there is one.
func (h *sharding) called() string {
	if h.kept == nil {
		return "whole"
	}
	return fmt.Sprintf("shard-%d-of-%d", h.kept.Part.Number, h.kept.Part.Of)
}

func (h *sharding) asked() bool { return h.text != "" || len(h.durations) > 0 }

// plan splits the replays of the records. Which builds there are on this machine makes no
// difference.
func (h *sharding) plan(ctx context.Context, e *env, records []scenarios.Record) (shard.Part, []shard.Job, error) {
	if h.text == "" {
		return shard.Part{}, nil, usage(errors.New("--durations says how --shard i/N splits, and there is none"))
	}
	text, err := k8sjob.Part(h.text, os.Getenv(k8sjob.EnvIndex))
	if err != nil {
		return shard.Part{}, nil, usage(fmt.Errorf("--shard %w", err))
	}
	part, err := shard.ParsePart(text)
	if err != nil {
		return part, nil, usage(fmt.Errorf("--shard %w", err))
	}
	known, err := e.durations(ctx, h.durations)
	if err != nil {
		return part, nil, usage(fmt.Errorf("--durations: %w", err))
	}
	var jobs []shard.Job
	for _, r := range records {
		for _, of := range r.Targets {
			jobs = append(jobs, shard.Job{Scenario: r.ID, Target: of.Name})
		}
	}
	shard.Plan(jobs, known, part.Of)
	return part, jobs, nil
}

// durations are those of stored runs and of matrices, or what was last verified.
func (e *env) durations(ctx context.Context, paths []string) (known shard.Durations, err error) {
	if len(paths) == 0 {
		var verified []matrix.Cell
		if err := json.Unmarshal(reports.Verified, &verified); err != nil {
			return known, err // it is part of the program
		}
		for _, c := range verified {
			known.Add(c.Scenario, c.Target, c.WallSeconds)
		}
		return known, nil
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.HasSuffix(path, ".json") {
			m, err := readMatrix(path)
			if err != nil {
				return known, fmt.Errorf("%s: %w", path, err)
			}
			for _, c := range m.Cells {
				known.Add(c.Scenario, c.Target, c.WallSeconds)
			}
			continue
		}
		found, done, err := e.runs(ctx, []string{path})
		defer done()
		if err != nil {
			return known, err
		}
		for _, f := range found {
			r, err := run.Load(f.dir)
			if err != nil {
				return known, errors.New(f.says(err))
			}
			known.Add(r.ID, r.Target.Ref.String(), r.Took().Seconds())
		}
	}
	return known, nil
}

// choose returns the records with those targets that are this shard's, and begins to keep
// what it does.
func (h *sharding) choose(ctx context.Context, s *session, records []scenarios.Record) ([]scenarios.Record, error) {
	if !h.asked() {
		return records, nil
	}
	part, jobs, err := h.plan(ctx, s.env, records)
	if err != nil {
		return nil, err
	}
	if other, err := shard.Load(s.Out); err == nil && other.Part != part {
		return nil, usage(fmt.Errorf("--out %s has what shard %s left; name another folder for shard %s", s.Out, other.Part, part))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, usage(fmt.Errorf("--out: %w; name another folder, or remove the file", err))
	}
	around, _ := buildstore.Root() // there need not be one
	kept := shard.Kept{Part: part, Program: run.Program(), Whole: jobs}
	kept.Nodestorm, kept.Features = replay.Self(ctx, around, s.own.checkout)
	for _, flag := range s.Flags {
		name, _, _ := strings.Cut(flag, "=")
		if !slices.Contains([]string{"--shard", "--durations", "--out", "--" + uploadFlag, "--json"}, name) {
			kept.Flags = append(kept.Flags, flag)
		}
	}
	h.kept, h.out, h.read = &kept, s.Out, s.player != nil
	var chosen []scenarios.Record
	mine := 0
	for _, r := range records {
		all := r.Targets
		r.Targets = nil
		for _, of := range all {
			if jobs[0].Shard == part.Number {
				r.Targets = append(r.Targets, of)
				mine++
			}
			jobs = jobs[1:]
		}
		if len(r.Targets) > 0 {
			chosen = append(chosen, r)
		}
	}
	s.remark("shard %s has %d of %s", part, mine, counted(len(kept.Whole), "replay"))
	return chosen, h.keep(nil, false)
}

// empty tells of a shard that has nothing to do.
func (h *sharding) empty() bool {
	return h.kept != nil && !slices.ContainsFunc(h.kept.Whole, func(j shard.Job) bool { return j.Shard == h.kept.Part.Number })
}

// keep notes what has come of the shard so far; of the whole nothing is kept.
func (h *sharding) keep(rows []reports.Row, ended bool) error {
	if h.kept == nil || h.read {
		return nil
	}
	redactor := redact.ForHere()
	h.kept.Rows, h.kept.Ended = slices.Clone(rows), ended
	for i := range h.kept.Rows {
		h.kept.Rows[i].Reason = redactor.Text(h.kept.Rows[i].Reason)
	}
	if err := h.kept.Save(h.out); err != nil {
		return withRoom(err)
	}
	return nil
}

// listShard prints which replays the shard has.
func (e *env) listShard(ctx context.Context, split sharding, records []scenarios.Record, asJSON bool) error {
	part, jobs, err := split.plan(ctx, e, records)
	if err != nil {
		return err
	}
	loads := make([]float64, part.Of)
	var mine []shard.Job
	for _, j := range jobs {
		loads[j.Shard-1] += j.Seconds
		if j.Shard == part.Number {
			mine = append(mine, j)
		}
	}
	if asJSON {
		return e.json(append([]shard.Job{}, mine...))
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tTARGET\tEXPECTED TO TAKE")
	for _, j := range mine {
		fmt.Fprintf(w, "%s\t%s\t%.0fs\n", j.Scenario, j.Target, j.Seconds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\nshard %s: %d of %s, %.0fs; the shards take %.0fs to %.0fs\n",
		part, len(mine), counted(len(jobs), "replay"), loads[part.Number-1], slices.Min(loads), slices.Max(loads))
	return nil
}

// shardsBelow finds what shards have left at or below the folders.
func shardsBelow(dirs []string) (found []shard.Shard, err error) {
	for _, dir := range dirs {
		before := len(found)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != shard.File {
				return err
			}
			kept, err := shard.Load(filepath.Dir(path))
			found = append(found, shard.Shard{Dir: filepath.Dir(path), Kept: kept})
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not there; name the --out of a shard, or a folder above some", dir)
		}
		if err != nil {
			return nil, err
		}
		if len(found) == before {
			return nil, fmt.Errorf("%s: no %s in it or below: it is not what verify --shard left; nodestorm matrix shows any runs", dir, shard.File)
		}
	}
	slices.SortStableFunc(found, func(a, b shard.Shard) int { return cmp.Compare(a.Part.Number, b.Part.Number) })
	return slices.CompactFunc(found, func(a, b shard.Shard) bool { return same(a.Dir, b.Dir) }), nil
}

// same tells whether two paths lead to one folder, which may be named twice.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}
