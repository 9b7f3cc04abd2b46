package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

const aWorkload = "lasts: 10m\nloads:\n  - {name: web, kind: Deployment, pods: 2, cpu: 500m, steps: [{at: 5m, pods: 4}]}\n"

// The plan is the feature of each variant, and what the workload does.
func TestCompareDryRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.yaml")
	write(t, file, aWorkload, 0o600)
	code, stdout, stderr := nodestorm(t, "compare", file, "--variant", "karpenter@v1.6.4", "--flag", "BATCH_IDLE_DURATION=1s,10s", "--dry-run")
	if code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, words := range []string{"Feature: The workload day on karpenter@v1.6.4 BATCH_IDLE_DURATION=1s\n", "      | BATCH_IDLE_DURATION | 10s |\n",
		"    When this workload runs:\n", "5m         scale Deployment/web, pods 4\n", "20 runs of 10m in virtual time each\n"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%q is not in\n%s", words, stdout)
		}
	}
}

// What is wrong is said before anything starts.
func TestCompareWrong(t *testing.T) {
	dir := t.TempDir()
	file, wrong, big := filepath.Join(dir, "day.yaml"), filepath.Join(dir, "wrong.yaml"), filepath.Join(dir, "big.yaml")
	endless, given := filepath.Join(dir, "endless.yaml"), filepath.Join(dir, "given.feature")
	write(t, file, aWorkload, 0o600)
	write(t, wrong, strings.Replace(aWorkload, "pods: 2", "pods: two", 1), 0o600)
	write(t, big, strings.Replace(aWorkload, "cpu: 500m", "cpu: 12", 1), 0o600)
	write(t, endless, "{lasts: 10m, loads: [{name: batch, kind: Job}]}", 0o600)
	write(t, given, "Feature: a\n  Scenario: b\n    When all faults are cleared\n", 0o600)
	two := []string{"--variant", "karpenter@v1.6.4", "--variant", "karpenter@v1.14.1"}
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "want a workload, or folders of runs"},
		{[]string{file}, "0 variants are named, and a comparison needs two"},
		{[]string{file, "--variant", "karpenter@v1.6.4", "--variant", "karpenter@v1.6.4"}, "is there twice, and would differ from itself by chance alone"},
		{[]string{file, "--variant", "karpenter"}, `--variant "karpenter": `},
		{[]string{file, "--variant", "karpenter@v1.6.4 --x"}, `"--x": want a flag as in`},
		{[]string{file, "--variant", "karpenter@v1.6.4", "--flag", "x"}, "--flag x: "},
		{append([]string{file, "--seeds", "0"}, two...), "--seeds 0: want 1 or more"},
		{append([]string{file, "--parallel", "0"}, two...), "--parallel 0: want how many worlds play at a time"},
		{append([]string{file, "--parallel", "99"}, two...), "--parallel 99: want at most"},
		{append([]string{file, "--measures", "costs"}, two...), `--measures: no measure "costs", did you mean "cost"?`},
		{append([]string{file, "--cloud", "hetzner"}, two...), `karpenter has no usual world on "hetzner"`},
		{append([]string{file, "--given", given}, two...), "given.feature: its scenario has no Given"},
		{append([]string{filepath.Join(dir, "none.yaml")}, two...), "no such file"},
		{append([]string{wrong}, two...), `load "web": pods: "two": want an amount such as 3`},
		{append([]string{endless}, two...), `load "batch": runs: it is missing, and a Job would never end`},
		{append([]string{big}, two...), "request 12 CPU each and never fit: the largest machine of this world"},
		{[]string{dir}, "is one variant, and a comparison needs two"},
		{[]string{dir, dir}, "there is no run.json in it or below"},
		{[]string{dir, dir, "--variant", "karpenter@v1.6.4"}, "of stored runs each folder is a variant"},
	} {
		args := append([]string{"compare"}, append(test.args, "--out", filepath.Join(dir, "out"))...)
		if code, _, stderr := nodestorm(t, args...); code != cli.Usage || !strings.Contains(stderr, test.says) {
			t.Errorf("%v: status %d, %q, want %q", test.args, code, stderr, test.says)
		}
	}
}

// Stored runs are compared without a world. A pair that does not count is no number, but a reason and a status.
func TestCompareRuns(t *testing.T) {
	one, other := aRun(t), aRun(t)
	folders := []string{filepath.Dir(one), filepath.Dir(other)}
	args := append([]string{"compare", "--measures", "nodesLaunched,evictions"}, folders...)
	code, stdout, stderr := nodestorm(t, args...)
	if code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, words := range []string{"A is karpenter@v1.6.4 in " + filepath.Base(folders[0]) + "\n", "nodes launched", "0 (too few pairs)  not known",
		"1 pair of runs, 2 questions. No difference is certain. None can be with so few: want 7 pairs, or fewer measures.\n"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%q is not in\n%s", words, stdout)
		}
	}
	if code, stdout, stderr = nodestorm(t, append(args, "-o", "json")...); code != cli.AsExpected || !strings.Contains(stdout, `"claim": "not known"`) {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = nodestorm(t, append(args, "-o", "md")...); code != cli.AsExpected || !strings.Contains(stdout, "| measure | A | B | B - A (95 %) | B is |") {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(filepath.Join(other, run.File))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other, run.File), strings.Replace(string(text), `"verdict": "reproduced"`, `"verdict": "inconclusive"`, 1), 0o600)
	reseal(t, other)
	code, stdout, stderr = nodestorm(t, args...)
	if code != cli.Inconclusive || stderr != "" || !strings.Contains(stdout, "does not count: it is inconclusive") ||
		!strings.Contains(stdout, "Nothing is compared: no pair of runs counts.") || strings.Contains(stdout, "MEASURE ") {
		t.Errorf("status %d: %q, %q", code, stdout, stderr)
	}
}
