package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
	"nodestorm/harness/draft"
)

const drafts = "../draft/testdata/"

// A draft is written, is right, and is not written over.
func TestDraft(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "mine.feature")
	code, stdout, stderr := nodestorm(t, "draft", "--dump", drafts+"dump", "--log", drafts+"pasted.log", "--out-file", file)
	if code != cli.AsExpected || stderr != "" || !strings.Contains(stdout, "nodestorm run "+file+" --target cluster-autoscaler@1.33.0") {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, stderr := nodestorm(t, "lint", file); code != cli.AsExpected || stdout != "nothing is wrong with 1 scenario, 0 with a record\n" {
		t.Errorf("lint: status %d, %q, %q", code, stdout, stderr)
	}
	b.refuses(t, "--out-file "+file+" is there already", "draft", "--dump", drafts+"dump", "--out-file", file)

	code, stdout, stderr = nodestorm(t, "draft", "--audit-log", drafts+"audit.ndjson", "--json")
	var d draft.Draft
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d, %v, %q", code, err, stderr)
	}
	want, err := os.ReadFile(drafts + "audit.feature")
	if err != nil || d.Feature != string(want) || d.Target != "karpenter@v1.6.4" || d.Pods != 1 || d.Nodes != 1 || len(d.Notes) == 0 {
		t.Errorf("%v: %+v", err, d)
	}
	code, stdout, _ = nodestorm(t, "draft", "--audit-log", drafts+"audit.ndjson", "--autoscaler", draft.ClusterAutoscaler)
	if code != cli.AsExpected || !strings.Contains(stdout, "And Cluster Autoscaler\n") {
		t.Errorf("status %d, %q", code, stdout)
	}
}

func TestDraftRefuses(t *testing.T) {
	b := newBench(t)
	b.refuses(t, "a source is missing: want nodestorm draft --audit-log FILE|", "draft")
	b.refuses(t, `--autoscaler "keda": want karpenter or cluster-autoscaler`, "draft", "--dump", drafts+"dump", "--autoscaler", "keda")
	b.refuses(t, "--log: stat /none: no such file or directory; name a file that can be read", "draft", "--log", "/none")
	b.refuses(t, "--out-file: open /none/x.feature: no such file or directory; name a file in a folder", "draft", "--dump", drafts+"dump", "--out-file", "/none/x.feature")
	if code, stdout, _ := nodestorm(t, "__complete", "draft", "--autoscaler", ""); code != cli.AsExpected || !strings.HasPrefix(stdout, "karpenter\ncluster-autoscaler\n") {
		t.Errorf("completion: status %d, %q", code, stdout)
	}
}
