package table_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/table"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("../testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s", path, got)
	}
}

var rows = []table.Row{
	{ID: "karpenter-7515-not-ready-noexecute", Target: "karpenter@v1.6.4", Expected: "reproduced", Verdict: "reproduced", Outcome: "expected",
		WallSeconds: 17.23, VirtualSeconds: 372.6, Factor: 118.2, LagP99Ms: 41.7, Run: "runs/1"},
	{ID: "karpenter-7515-not-ready-noexecute", Target: "karpenter@v1.7.0", Expected: "healthy", Verdict: "reproduced", Outcome: "regression",
		Reason: "failed: Then no more than 1 NodeClaim is created within 5m", WallSeconds: 15, VirtualSeconds: 320, Factor: 101, LagP99Ms: 40, Run: "runs/2"},
	{ID: "karpenter-7515-startup-taint-declared", Target: "karpenter@v9.9.9", Expected: "", Verdict: "skipped", Outcome: "skipped",
		Reason: "karpenter@v9.9.9 is not in the store; get it with: nodestorm target build karpenter@v9.9.9", Factor: math.NaN()},
	{ID: "karpenter-7515-startup-taint-undeclared", Target: "karpenter@v9.9.9", Expected: "reproduced", Verdict: "skipped", Outcome: "skipped",
		Reason: "karpenter@v9.9.9 is not in the store; get it with: nodestorm target build karpenter@v9.9.9"},
	{ID: "karpenter-7515-startup-taint-undeclared", Target: "karpenter@v1.7.0", Expected: "reproduced", Verdict: "inconclusive", Outcome: "inconclusive",
		Reason: "the clock was distorted\nand more", WallSeconds: 200, VirtualSeconds: 5025, Factor: 25, LagP99Ms: 1234.5, Run: "runs/3",
		Programs: []table.Program{{Name: "karpenter", Timers: 90, P99: 1234.5, Max: 19900, Stopped: 20000, Distorted: "stopped for 20s (at most 2s)"}}},
}

func TestTable(t *testing.T) {
	for name, rows := range map[string][]table.Row{"verify.txt": rows, "verify-nothing.txt": nil, "verify-skipped.txt": rows[2:4]} {
		var out bytes.Buffer
		if err := table.Write(&out, table.Style{Wide: true}, rows); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
	}
}

// The release of Kubernetes is in the table if it is another than nodestorm's own.
func TestTableOfKubernetes(t *testing.T) {
	other := slices.Clone(rows)
	other[0].Kubernetes = "v1.36.3"
	var out bytes.Buffer
	if err := table.Write(&out, table.Style{}, other); err != nil {
		t.Fatal(err)
	}
	golden(t, "verify-kubernetes.txt", out.Bytes())
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := table.JSON(&out, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "verify.json", out.Bytes())
	out.Reset()
	if err := table.JSON(&out, nil); err != nil || strings.TrimSpace(out.String()) != "[]" {
		t.Errorf("no rows: %q, %v", out.String(), err)
	}
}

// On a terminal the marks have colours, and nothing else has.
func TestColoured(t *testing.T) {
	text := "✓ a\n  ✗ b ✓ c\n! d\n– e\nf ✓\n"
	want := "\x1b[32m✓\x1b[0m a\n  \x1b[31m✗\x1b[0m b ✓ c\n\x1b[33m!\x1b[0m d\n\x1b[90m–\x1b[0m e\nf ✓\n"
	if got := table.Coloured(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range []string{
		"✓ karpenter-7515-not-ready-noexecute karpenter@v1.6.4 reproduced 17s",
		"✗ karpenter-7515-not-ready-noexecute karpenter@v1.7.0 reproduced, regression 15s",
		"– karpenter-7515-startup-taint-declared karpenter@v9.9.9 skipped",
	} {
		if got := rows[i].Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
