package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

// sharding is which of how many shards a command is, and what it leaves. The zero value is the
// whole.
type sharding struct {
	shard.Split
	out  string
	kept *shard.Kept // nil for the whole
	read bool        // another process keeps
}

func (h *sharding) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&h.Text, "shard", "", "only the `i/N`-th part, by how long replays are expected to take; job/N: the one of the index of a Kubernetes Job's pod")
	c.Flags().StringArrayVar(&h.Durations, "durations", nil, "stored runs, or a matrix in JSON, at `PATH`: how long replays take; default: as when they were last verified")
}

// choose returns the records with those targets that are this shard's, and begins to keep
// what it does.
func (h *sharding) choose(ctx context.Context, s *session, records []scenarios.Record) ([]scenarios.Record, error) {
	if !h.Asked() {
		return records, nil
	}
	part, jobs, err := h.Plan(ctx, records, console.Scratch)
	if err != nil {
		return nil, usage(err)
	}
	around, _ := buildstore.Root() // there need not be one
	h.kept = &shard.Kept{Part: part, Program: run.Program(), Whole: jobs}
	if err := h.kept.Free(s.Out); err != nil {
		return nil, usage(err)
	}
	h.kept.Nodestorm, h.kept.Features = replay.Self(ctx, around, s.Own.Checkout)
	for _, flag := range s.Flags {
		name, _, _ := strings.Cut(flag, "=")
		if !slices.Contains([]string{"--shard", "--durations", "--out", "--" + archive.Flag, "--json"}, name) {
			h.kept.Flags = append(h.kept.Flags, flag)
		}
	}
	h.out, h.read = s.Out, s.Serving != nil
	chosen, mine := h.kept.Mine(records)
	s.remark("shard %s has %d of %s", part, mine, counted(len(jobs), "replay"))
	return chosen, h.keep(nil, false)
}

// keep notes what has come of the shard so far; of the whole nothing is kept.
func (h *sharding) keep(rows []table.Row, ended bool) error {
	if h.read {
		return nil
	}
	return h.kept.Note(h.out, rows, ended)
}

// listShard prints which replays the shard has.
func (e *env) listShard(ctx context.Context, split shard.Split, records []scenarios.Record, asJSON bool) error {
	part, jobs, err := split.Plan(ctx, records, console.Scratch)
	if err != nil {
		return usage(err)
	}
	if asJSON {
		return e.JSON(append([]shard.Job{}, shard.JobsOf(part, jobs)...))
	}
	return shard.Show(e.Stdout, part, jobs)
}
