package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

// bothSides are runs of a scenario on a release with its failure and on one without, in one folder.
func bothSides(t *testing.T) (affected, fixed string) {
	t.Helper()
	affected = aRun(t)
	fixed = filepath.Join(filepath.Dir(affected), "karpenter@v1.7.0")
	if err := os.CopyFS(fixed, os.DirFS(affected)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../reports/page/testdata/fixed.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(fixed, run.HistoryFile), numbered(string(text)), 0o600)
	alter(t, fixed, `"version": "v1.6.4"`, `"version": "v1.7.0"`)
	alter(t, fixed, `"verdict": "reproduced"`, `"verdict": "healthy"`)
	return affected, fixed
}

// alter replaces what run.json says, and has it count.
func alter(t *testing.T, dir, old, with string) {
	t.Helper()
	path := filepath.Join(dir, run.File)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s: %v", path, old, err)
	}
	write(t, path, strings.ReplaceAll(string(text), old, with), 0o600)
	reseal(t, dir)
}

func TestSymptom(t *testing.T) {
	affected, fixed := bothSides(t)
	code, stdout, stderr := nodestorm(t, "symptom", affected, "--lines", evidence)
	if code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	for _, want := range []string{
		"symptom:\n  statement: ", "capture: {providerID: detail.providerID}", "detail: {providerID: $providerID}", "within: 5s",
		"reproduced  yes    " + evidence, "healthy     no",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	// What the scenario did not name is in none of it.
	for _, random := range []string{"default-", "kwok://", "1115035644"} {
		if strings.Contains(stdout, random) {
			t.Errorf("%q is in\n%s", random, stdout)
		}
	}
	lintsIn(t, stdout)

	var all struct {
		Symptom struct{ Sequence []any }
		Runs    []struct{ Run, Want, Holds string }
	}
	code, stdout, stderr = nodestorm(t, "symptom", affected, "--lines", evidence, "--against", fixed, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d, %v, %q", code, err, stderr)
	}
	if len(all.Symptom.Sequence) != 6 || len(all.Runs) != 2 || all.Runs[1].Run != fixed || all.Runs[1].Want != "no" || all.Runs[1].Holds != "no" {
		t.Errorf("%+v", all)
	}

	// A run that proves nothing is left out; where the sides differ in none of the events, that is said.
	alter(t, fixed, `"verdict": "healthy"`, `"verdict": "inconclusive"`)
	if code, stdout, stderr := nodestorm(t, "symptom", affected, "--lines", evidence); code != cli.AsExpected ||
		!strings.Contains(stderr, "left out: "+fixed+" is inconclusive") || !strings.Contains(stdout, "# no run of "+scenario+" is among them") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	alter(t, affected, `"verdict": "reproduced"`, `"verdict": "healthy"`)
	alter(t, fixed, `"verdict": "inconclusive"`, `"verdict": "reproduced"`)
	if err := os.Remove(filepath.Join(affected, run.ReportFile)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(fixed, run.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(affected, run.HistoryFile), string(text), 0o600)
	reseal(t, affected)
	if code, stdout, _ := nodestorm(t, "symptom", fixed, "--lines", "36,43"); code != cli.NotAsExpected || !strings.Contains(stdout, "# it holds in "+affected) {
		t.Errorf("status %d, %s", code, stdout)
	}
}

// lintsIn makes sure that a symptom can be pasted into a record.
func lintsIn(t *testing.T, symptom string) {
	t.Helper()
	dir := t.TempDir()
	if code, _, stderr := nodestorm(t, "new", "karpenter-mine", "--dir", dir); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	path := filepath.Join(dir, "karpenter-mine.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var record, with map[string]any
	if err := yaml.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(symptom), &with); err != nil || len(with) != 1 {
		t.Fatalf("%v, %v", with, err)
	}
	record["symptom"] = with["symptom"]
	if text, err = yaml.Marshal(record); err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text), 0o600)
	if code, stdout, stderr := nodestorm(t, "lint", dir); code != cli.AsExpected {
		t.Errorf("status %d, %s%s", code, stdout, stderr)
	}
}

func TestSymptomUsage(t *testing.T) {
	affected, fixed := bothSides(t)
	empty := t.TempDir()
	for args, want := range map[string]string{
		"symptom":                                                 "0 runs are named, want one: nodestorm symptom RUN",
		"symptom|" + affected:                                     "no events are named: say in --lines their numbers",
		"symptom|" + affected + "|--lines|1,x":                    `--lines 1,x: "x" is no number of a line: want numbers with commas`,
		"symptom|" + affected + "|--lines|37":                     "one event says only that it occurred",
		"symptom|" + affected + "|--lines|37,9999":                "has no line 9999, its lines are 1 to 71",
		"symptom|" + affected + "|--lines|44,37":                  "name them in the order of time: --lines 37,44",
		"symptom|" + affected + "|--lines|37,37":                  "37 is there twice",
		"symptom|" + filepath.Dir(fixed) + "|--lines|1,2":         "has 2 runs: name one of them, such as " + affected,
		"symptom|" + empty + "|--lines|1,2":                       "no run.json in it or below",
		"symptom|" + affected + "|--lines|1,2|--against|" + empty: "--against: " + empty,
	} {
		if code, _, stderr := nodestorm(t, strings.Split(args, "|")...); code != cli.Usage || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", args, code, stderr, want)
		}
	}
	if err := os.Remove(filepath.Join(affected, run.HistoryFile)); err != nil {
		t.Fatal(err)
	}
	want := affected + " has no history.ndjson, so it has no events to choose from; name a run that came to its end"
	if code, _, stderr := nodestorm(t, "symptom", affected, "--lines", "37,44"); code != cli.Usage || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %q", code, stderr)
	}
}
