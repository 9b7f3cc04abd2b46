package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

// A run that was discarded says which one counts, and is no part of what is made of all runs.
func TestReportOfADiscardedRun(t *testing.T) {
	out := t.TempDir()
	plain := filepath.Join(out, "karpenter@v1.6.4")
	copyRun := func() {
		if err := os.CopyFS(plain, os.DirFS(aRun(t))); err != nil {
			t.Fatal(err)
		}
	}
	copyRun()
	discarded, err := run.Discard(plain)
	if err != nil || discarded != plain+".discarded" {
		t.Fatalf("%s, %v", discarded, err)
	}
	copyRun()
	again, err := run.Discard(plain)
	if err != nil || again != plain+".discarded.2" {
		t.Fatalf("%s, %v", again, err)
	}
	copyRun()
	if !run.Sound(t.Context(), discarded) {
		t.Error("a run is damaged when it is discarded")
	}
	if _, stdout, _ := nodestorm(t, "report", "-o", "md", out); !strings.Contains(stdout, "1 as expected, 0 not") {
		t.Errorf("of three runs, two of which were discarded: %s", stdout)
	}
	const want = "discarded: this run does not count; the one that does is karpenter@v1.6.4, beside it\n"
	if code, stdout, _ := nodestorm(t, "report", "-o", "text", again); code != cli.AsExpected || !strings.Contains(stdout, want) {
		t.Errorf("status %d, %s", code, stdout)
	}
	if _, _, stderr := nodestorm(t, "report", again); !strings.Contains(stderr, "this run does not count") {
		t.Errorf("%q", stderr)
	}
}

// The text of a run begins with what came of it. The clock's lines are there if they are asked for.
func TestReportTextHead(t *testing.T) {
	dir := aRun(t)
	const head = `✓ karpenter-7515-not-ready-noexecute on karpenter@v1.6.4
  expected: reproduced
  verdict:  reproduced, as expected
  reason:   failed: Then no more than 1 NodeClaim is created within 5m

`
	path := filepath.Join(dir, run.HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	paced := `{"seq":1,"source":"clock","verb":"pace","detail":{"factor":30,"seconds":1}}` + "\n" + string(text)
	write(t, path, numbered(paced), 0o600)
	reseal(t, dir)
	_, short, _ := nodestorm(t, "report", "-o", "text", dir)
	_, long, _ := nodestorm(t, "report", "-o", "text", "-v", dir)
	if !strings.HasPrefix(short, head) || !strings.HasPrefix(long, head) {
		t.Errorf("%s", short)
	}
	if strings.Contains(short, " pace ") || !strings.Contains(short, "(without 1 line of the clock, which -v shows)\n") {
		t.Errorf("the clock's line is there: %s", short)
	}
	if !strings.Contains(long, " pace ") || strings.Contains(long, "of the clock") {
		t.Errorf("the clock's line is not there: %s", long)
	}
	changed, err := os.ReadFile(filepath.Join(dir, run.File))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, run.File), strings.Replace(string(changed), "31.3", "31.4", 1), 0o600)
	if _, stdout, _ := nodestorm(t, "report", "-o", "text", dir); !strings.HasPrefix(stdout, "! ") ||
		!strings.Contains(stdout, "verdict:  inconclusive\n  reason:   the stored run proves nothing: run.json was changed") {
		t.Errorf("of a run that was changed: %.400s", stdout)
	}
}
