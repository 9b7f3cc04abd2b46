package cli_test

import (
	"encoding/json"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli"
	"nodestorm/harness/world/kind"
)

// A record plays on a real cluster with the verdict and the decisions of a simulated one.
func TestKindBesideSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes five minutes; make test-kind runs it")
	}
	for _, err := range []error{kind.CheckDocker(t.Context()), kind.CheckImage(t.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			t.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	code, stdout, stderr := nodestorm(t, "verify", "karpenter-3038-forced-deletion", "--cluster", "kind,sim", "--json", "--out", t.TempDir())
	var comparisons []struct {
		Target    string
		Same      bool
		Verdicts  [2]string
		Decisions [2][]struct{ What string }
	}
	if err := json.Unmarshal([]byte(stdout), &comparisons); err != nil || code != cli.AsExpected {
		t.Fatalf("status %d, %v: %s\n%s", code, err, stdout, stderr)
	}
	for _, c := range comparisons {
		if !c.Same || len(c.Decisions[0]) == 0 {
			t.Errorf("%s: %+v", c.Target, c)
		}
	}
}
