package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

// The failure that a run shows is another scenario's when the run says so.
func TestRecheckCross(t *testing.T) {
	own, other := aRun(t), aRun(t)
	const declared = "karpenter-7515-startup-taint-declared"
	file := filepath.Join(other, run.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(text), scenario, declared, 1), 0o600)
	reseal(t, other)

	if code, stdout, stderr := nodestorm(t, "recheck", "--cross", own); code != cli.AsExpected || !strings.HasPrefix(stdout, "1 run, ") || !strings.HasSuffix(stdout, ": 0 symptoms of another scenario\n") || stderr != "" {
		t.Errorf("its own run: status %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, stderr := nodestorm(t, "recheck", "--cross", own, other)
	for _, want := range []string{
		"the symptom of " + scenario + " is in a run of " + declared + " on karpenter@v1.6.4 (", ", events [", "name " + declared + " in its kin if", other, "2 runs, ",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %q", want, stdout)
		}
	}
	if code != cli.NotAsExpected || stderr != "" {
		t.Errorf("another's run: status %d, %q", code, stderr)
	}
	var foreign []struct{ ID, Scenario, Run string }
	if code, stdout, _ := nodestorm(t, "recheck", "--cross", "--json", other); code != cli.NotAsExpected || json.Unmarshal([]byte(stdout), &foreign) != nil || len(foreign) == 0 || foreign[0].Scenario != declared {
		t.Errorf("JSON: status %d, %q", code, stdout)
	}
	if err := os.Truncate(filepath.Join(own, run.HistoryFile), 9000); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := nodestorm(t, "recheck", "--cross", own); code != cli.Inconclusive || !strings.HasPrefix(stdout, "0 runs") || !strings.Contains(stderr, "not judged: "+run.HistoryFile) {
		t.Errorf("a history that is cut off: status %d, %q, %q", code, stdout, stderr)
	}
}
