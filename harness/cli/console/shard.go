package console

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Shard is which of how many shards a command is, and what it leaves. The zero value is the
// whole.
type Shard struct {
	shard.Split
	Kept *shard.Kept // nil for the whole
	out  string
	read bool // another process keeps
}

func (h *Shard) AddFlags(c *cobra.Command) {
	c.Flags().StringVar(&h.Text, "shard", "",
		"only part `I/N`, of equal duration; job/N: by the index of a Job's pod")
	c.Flags().StringArrayVar(&h.Durations, "durations", nil,
		"runs or a JSON matrix at `PATH` with durations; default: the last verification")
}

// Choose returns the records with those targets that are this shard's, and begins to keep
// what it does.
func (h *Shard) Choose(ctx context.Context, e *Console, s replay.Settings, records []scenarios.Record) ([]scenarios.Record, error) {
	if !h.Asked() {
		return records, nil
	}
	part, jobs, err := h.Plan(ctx, records, Scratch)
	if err != nil {
		return nil, exit.UsageError(err)
	}
	around, _ := buildstore.Root() // there need not be one
	h.Kept = &shard.Kept{Part: part, Program: run.Program(), Whole: jobs}
	if err := h.Kept.Free(s.Out); err != nil {
		return nil, exit.UsageError(err)
	}
	h.Kept.Nodestorm, h.Kept.Features = replay.Self(ctx, around, s.Checkout)
	for _, flag := range s.Flags {
		name, _, _ := strings.Cut(flag, "=")
		if !slices.Contains([]string{"--shard", "--durations", "--out", "--" + archive.Flag, "--json"}, name) {
			h.Kept.Flags = append(h.Kept.Flags, flag)
		}
	}
	h.out, h.read = s.Out, e.Serving != nil
	chosen, mine := h.Kept.Mine(records)
	e.Remark("shard %s has %d of %s", part, mine, wording.Counted(len(jobs), "replay"))
	return chosen, nil
}

// SaveProgress notes what has come of the shard so far; of the whole nothing is kept.
func (h *Shard) SaveProgress(rows []table.Row, ended bool) error {
	if h.read {
		return nil
	}
	return h.Kept.SaveProgress(h.out, rows, ended)
}
