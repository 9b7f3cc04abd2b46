package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

func TestListInvariants(t *testing.T) {
	code, stdout, stderr := nodestorm(t, "list", "--invariants")
	if code != cli.AsExpected || !strings.Contains(stdout, "\n\nno-leak\n    ") || stderr != "" {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
	var list []struct{ Name, Statement, When string }
	if code, stdout, _ := nodestorm(t, "list", "--invariants", "--json"); code != cli.AsExpected || json.Unmarshal([]byte(stdout), &list) != nil || len(list) < 20 || list[0].Statement == "" || list[0].When == "" {
		t.Errorf("JSON: status %d, %q", code, stdout)
	}
}

// An invariant that a failing run breaks is counted; in a run that is healthy it is an alarm.
func TestRecheckInvariants(t *testing.T) {
	dir := aRun(t)
	code, stdout, stderr := nodestorm(t, "recheck", "--invariants", dir)
	if want := "| startup-discipline | 1 | 0 | 0 | " + scenario + " (v1.6.4) |"; code != cli.AsExpected || !strings.Contains(stdout, want) || stderr != "" {
		t.Errorf("status %d, %q, %q, want %q", code, stdout, stderr, want)
	}
	file := filepath.Join(dir, run.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(text), `"verdict": "reproduced"`, `"verdict": "healthy"`, 1), 0o600)
	reseal(t, dir)
	if code, stdout, _ := nodestorm(t, "recheck", "--invariants", dir); code != cli.NotAsExpected || !strings.Contains(stdout, "startup-discipline is broken in a healthy run of "+scenario+" on karpenter@v1.6.4: ") {
		t.Errorf("a healthy run: status %d, %q", code, stdout)
	}
	var tallies []struct {
		Invariant string
		Alarms    []struct{ Run string }
	}
	if code, stdout, _ := nodestorm(t, "recheck", "--invariants", "--json", dir); code != cli.NotAsExpected || json.Unmarshal([]byte(stdout), &tallies) != nil || len(tallies) == 0 || tallies[0].Invariant == "" {
		t.Errorf("JSON: status %d, %q", code, stdout)
	}
	if err := os.Truncate(filepath.Join(dir, run.HistoryFile), 9000); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := nodestorm(t, "recheck", "--invariants", dir); code != cli.Inconclusive || !strings.Contains(stderr, run.HistoryFile) {
		t.Errorf("a history that is cut off: status %d, %q", code, stderr)
	}
}
