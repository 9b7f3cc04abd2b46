package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

const aSchedule = `{site: karpenter/kwok, seed: 1, rest: 5m, groups: [{name: pool, type: c-4x-amd64-linux}],
acts: [{do: deploy, name: web, pods: 2, cpu: 500}, {after: 90s, do: restart}, {do: fault, fault: 'every call "watch nodes" of the program "karpenter" is cut off after 10s', for: 1m}]}`

func TestExplorePrint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schedule.yaml")
	write(t, file, aSchedule, 0o600)
	code, stdout, stderr := nodestorm(t, "explore", "print", file)
	if code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, words := range []string{"@karpenter\n", "When the scenario waits for 1m30s\n    And the target is killed\n", "is cut off after 10s, for 1m\n    And all faults are cleared\n    Then every pod is Running within"} {
		if !strings.Contains(stdout, words) {
			t.Errorf("%q is not in\n%s", words, stdout)
		}
	}
	feature := filepath.Join(t.TempDir(), "mine.feature")
	write(t, feature, stdout, 0o600)
	if code, stdout, stderr := nodestorm(t, "lint", feature); code != cli.AsExpected {
		t.Errorf("lint: status %d, %s%s", code, stdout, stderr)
	}
}

// What is wrong is said before anything starts.
func TestExploreWrong(t *testing.T) {
	dir := t.TempDir()
	file, wrong := filepath.Join(dir, "schedule.yaml"), filepath.Join(dir, "wrong.yaml")
	write(t, file, aSchedule, 0o600)
	write(t, wrong, strings.Replace(aSchedule, "do: restart", "do: restrat", 1), 0o600)
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"explore", "--duration", "1s"}, "--target NAME@VERSION is missing"},
		{[]string{"explore", "--target", "karpenter@v1.7.0", "--profile", "chrun"}, `unknown profile "chrun", did you mean "churn"?`},
		{[]string{"explore", "--target", "karpenter@v1.7.0", "--cloud", "instance"}, `--cloud: unknown cloud "instance" of karpenter, did you mean "instances"?`},
		{[]string{"explore", "--target", "karpenter@v1.7.0", "--faults", "nothing like it"}, "has any of the words"},
		{[]string{"explore", "--target", "cluster-autoscaler@1.36.1", "--cloud", "kwok"}, "want one of clusterapi, externalgrpc, hetzner"},
		{[]string{"explore", "print", wrong}, `act 2, restrat: do: unknown act "restrat", did you mean "restart"?`},
		{[]string{"explore", "print", filepath.Join(dir, "none.yaml")}, "no such file"},
		{[]string{"explore", "shrink", file, "--invariant", "no-overshot", "--target", "karpenter@v1.7.0"}, "an invariant: nodestorm list --invariants"},
		{[]string{"explore", "shrink", file, "--invariant", "no-overshoot", "--target", "cluster-autoscaler@1.36.1"}, "the schedule is for karpenter"},
	} {
		args := append(test.args, "--out", filepath.Join(dir, "out"))
		if test.args[1] == "print" {
			args = test.args
		}
		if code, _, stderr := nodestorm(t, args...); code != cli.Usage || !strings.Contains(stderr, test.says) {
			t.Errorf("%v: status %d, %q, want %q", test.args, code, stderr, test.says)
		}
	}
}
