package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
	"nodestorm/sim/time/lag"
)

// What is skipped is in the summary and in the index, and in the exit status if that is
// to be strict. Nothing run is never as expected.
func TestSkipped(t *testing.T) {
	t.Setenv("HOME", "/home/ada-lovelace")
	without := table.Row{ID: "karpenter-7515-not-ready-flap", Target: "karpenter@v9.9.9", Expected: "reproduced", Verdict: table.Skipped, Outcome: table.Skipped, Reason: "karpenter@v9.9.9 is not in the store /home/ada-lovelace/.cache"}
	for _, test := range []struct {
		name            string
		ran             []string // outcomes
		without         []table.Row
		strict          bool
		status          int
		summary, inPage string
	}{
		{"all ran", []string{"expected"}, nil, false, AsExpected, "\n1 replay: 1 as expected\n", "1 run, all as expected."},
		{"all ran, strict", []string{"expected"}, nil, true, AsExpected, "\n1 replay: 1 as expected\n", "1 run, all as expected."},
		{"half", []string{"expected"}, []table.Row{without}, false, AsExpected, "\n2 replays: 1 as expected, 1 skipped\n", "1 run: 1 as expected, 1 skipped."},
		{"half, strict", []string{"expected"}, []table.Row{without}, true, NotAsExpected, "\n2 replays: 1 as expected, 1 skipped\n", "1 run: 1 as expected, 1 skipped."},
		{"half, strict and inconclusive", []string{"inconclusive"}, []table.Row{without}, true, NotAsExpected, "2 replays: 1 inconclusive, 1 skipped\n", "1 run: 0 as expected, 1 inconclusive, 1 skipped."},
		{"all skipped", nil, []table.Row{without, without}, false, Inconclusive, "\nnothing was run, 2 skipped\n", "No runs: nothing is shown, 2 skipped."},
		{"all skipped, strict", nil, []table.Row{without}, true, NotAsExpected, "\nnothing was run, 1 skipped\n", "No runs: nothing is shown, 1 skipped."},
		{"nothing", nil, nil, false, Inconclusive, "\nnothing was run\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			catalogue, err := features.Catalogue()
			if err != nil {
				t.Fatal(err)
			}
			e, out := &console.Console{Stdout: &stdout, Stderr: &stderr}, t.TempDir()
			var rows []table.Row
			for _, outcome := range test.ran {
				r := run.Run{ID: "karpenter-7515-not-ready-noexecute", Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}, Source: builds.Source{Kind: builds.FromModule, Module: builds.Modules["karpenter"], Version: "v1.7.0", Package: "./kwok"}, SHA256: "01"}, Expected: "healthy",
					Clock: lag.Figures{Mode: "auto"}, Seal: &run.Seal{Record: "02"}}
				r.Verdict = map[string]verdict.Verdict{"expected": "healthy", "inconclusive": "inconclusive"}[outcome]
				dir := filepath.Join(out, "run")
				if err := errors.Join(os.Mkdir(dir, 0o700), r.Save(dir), os.WriteFile(filepath.Join(dir, run.HistoryFile), []byte(`{"seq":1,"source":"harness","verb":"ended"}`+"\n"), 0o600), run.Reseal(t.Context(), dir)); err != nil {
					t.Fatal(err)
				}
				rows = append(rows, table.Row{ID: r.ID, Target: r.Target.Ref.String(), Expected: "healthy", Verdict: string(r.Verdict), Outcome: outcome, Run: dir})
			}
			status := exit.CodeOf(e.Finish(t.Context(), catalogue, append(rows, test.without...), out, false, test.strict))
			if status != test.status || !strings.Contains(stdout.String(), test.summary) || stderr.Len() > 0 {
				t.Errorf("status %d, it says %q and %q; want status %d and %q", status, stdout.String(), stderr.String(), test.status, test.summary)
			}
			index, err := os.ReadFile(filepath.Join(out, "index.html"))
			if (err != nil) != (test.inPage == "") || !strings.Contains(string(index), test.inPage) || strings.Contains(string(index), "is not in the store ~/.cache") != (len(test.without) > 0) || strings.Contains(string(index), "lovelace") {
				t.Errorf("the index lacks %q, or why something was skipped (%v): %s", test.inPage, err, index)
			}
		})
	}
}
