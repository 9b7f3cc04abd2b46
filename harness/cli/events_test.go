package cli_test

import (
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

func TestEventsCommand(t *testing.T) {
	newBench(t)
	code, stdout, stderr := nodestorm(t, "events", "cloud", "running")
	if code != cli.AsExpected || stderr != "" || !strings.Contains(stdout, "# cloud running instances\n#   details: ") ||
		!strings.Contains(stdout, "\n- {source: cloud, verb: running, resource: instances, name: ") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if _, stdout, _ := nodestorm(t, "events", "NodeClaim", "-o", "json"); !strings.Contains(stdout, `"resource": "nodeclaims"`) {
		t.Errorf("%q", stdout)
	}
	if code, stdout, stderr := nodestorm(t, "events", "zapped"); code != cli.Usage || stdout != "" || !strings.Contains(stderr, `no event has the word "zapped"`) {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
}
