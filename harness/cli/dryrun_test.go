package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli"
)

// A dry run prints what is missing, how it would be got and how long the replays take, and gets nothing.
func TestDryRun(t *testing.T) {
	newBench(t) // whose store is empty
	t.Setenv(buildstore.EnvMirror, buildstore.NoRegistry)
	var plan struct {
		Builds  []struct{ Target, How, Why string }
		Replays int
		Seconds float64
		Unknown int
		Between int

		Skipped, RealTime int
	}
	of := func(args ...string) {
		t.Helper()
		plan.Builds, plan.Skipped, plan.RealTime = nil, 0, 0
		code, stdout, stderr := nodestorm(t, append(args, "--dry-run", "-o", "json")...)
		if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != cli.AsExpected || stderr != "" {
			t.Fatalf("%v: status %d, %q, %q", args, code, stdout, stderr)
		}
	}
	of("verify", scenario)
	if len(plan.Builds) != 3 || plan.Builds[0].Target != "kubernetes@v1.36.3" || plan.Builds[0].How != "build" || plan.Replays != 2 || plan.Seconds <= 0 || plan.Unknown != 0 {
		t.Errorf("%+v", plan)
	}
	of("verify", scenario, "--repeat", "5", "--target", "karpenter@v1.0.6")
	if len(plan.Builds) != 2 || plan.Replays != 5 || plan.Unknown != 5 {
		t.Errorf("%+v", plan)
	}
	of("verify", "hetzner-4133-rate-limit")
	if last := plan.Builds[0]; last.How != "cannot" || !strings.Contains(last.Why, "--source") || plan.Replays != 0 || plan.Skipped == 0 {
		t.Errorf("%+v", plan)
	}
	of("verify", scenario, "hetzner-4133-rate-limit", "--repeat", "3")
	if plan.Replays != 6 || plan.Skipped == 0 || plan.Skipped%3 != 0 || plan.Unknown != 0 {
		t.Errorf("%+v", plan)
	}
	of("verify", scenario, "--clocks")
	if plan.Replays != 4 || plan.RealTime != 2 || plan.Seconds <= 0 {
		t.Errorf("%+v", plan)
	}
	of("verify", scenario, "--clock", "real")
	if plan.Replays != 2 || plan.RealTime != 2 || plan.Seconds != 0 {
		t.Errorf("%+v", plan)
	}
	of("run", scenario, "--target", "karpenter@v1.6.4")
	if len(plan.Builds) != 2 || plan.Replays != 1 {
		t.Errorf("%+v", plan)
	}
	of("history", scenario, "--build", "--healthy-runs", "2")
	if last := plan.Builds[len(plan.Builds)-1]; len(plan.Builds) < 6 || last.How != "build" || plan.Replays != 2*(len(plan.Builds)-1) {
		t.Errorf("%+v", plan)
	}
	of("history", scenario)
	if last := plan.Builds[len(plan.Builds)-1]; last.How != "cannot" || plan.Replays != 0 || plan.Seconds != 0 {
		t.Errorf("%+v", plan)
	}
	code, stdout, _ := nodestorm(t, "history", scenario, "-n")
	if code != cli.AsExpected || !strings.Contains(stdout, "karpenter@v1.6.4 ") || !strings.Contains(stdout, "not played; --build builds it") {
		t.Errorf("status %d, %q", code, stdout)
	}
	code, stdout, _ = nodestorm(t, "verify", scenario, "hetzner-4133-rate-limit", "--clocks", "-n")
	if code != cli.AsExpected || !strings.Contains(stdout, "4 replays: about ") || !strings.Contains(stdout, ", not counting 2 in real time, which take minutes each; 10 skipped\n") {
		t.Errorf("status %d, %q", code, stdout)
	}
	code, stdout, _ = nodestorm(t, "verify", scenario, "-n")
	if code != cli.AsExpected || !strings.Contains(stdout, "karpenter@v1.6.4") || !strings.Contains(stdout, "2 replays: about ") {
		t.Errorf("status %d, %q", code, stdout)
	}
}

// A feature that is named by its path is played without the record beside it, which is said, and whatever lint finds in it.
func TestDryRunOfAFeature(t *testing.T) {
	newBench(t)
	t.Setenv(buildstore.EnvMirror, buildstore.NoRegistry)
	dir := t.TempDir()
	nodestorm(t, "new", "late-node", "--dir", dir)
	feature := filepath.Join(dir, "late-node.feature")
	const bare = "is played without its record"
	if _, _, stderr := nodestorm(t, "run", feature, "--target", "karpenter@v1.6.4", "-n"); !strings.Contains(stderr, bare) {
		t.Errorf("%q", stderr)
	}
	if _, _, stderr := nodestorm(t, "run", "late-node", "--catalogue", dir, "--target", "karpenter@v1.6.4", "-n"); strings.Contains(stderr, bare) {
		t.Errorf("%q", stderr)
	}
	text, err := os.ReadFile(feature)
	if err != nil {
		t.Fatal(err)
	}
	write(t, feature, string(text)+"    When \"Deployment/web\" is deleted\n", 0o600) // what lint finds keeps none from being played
	for status, args := range map[int][]string{cli.NotAsExpected: {"lint", dir}, cli.AsExpected: {"run", feature, "--target", "karpenter@v1.6.4", "-n"}} {
		if code, stdout, stderr := nodestorm(t, args...); code != status {
			t.Errorf("%v: status %d, want %d: %q, %q", args, code, status, stdout, stderr)
		}
	}
}

// A plan of a shard leaves nothing that the next call, of another shard, would be refused for.
func TestDryRunLeavesNoShard(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	out := t.TempDir()
	for _, part := range []string{"1/2", "2/2"} {
		code, _, stderr := nodestorm(t, "verify", "--all", "--shard", part, "--dry-run", "--out", out)
		if code != cli.AsExpected {
			t.Errorf("--shard %s: status %d, %s", part, code, stderr)
		}
	}
}
