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
	b.refuses(t, "a source is missing: want nodestorm draft --audit-log|", "draft")
	b.refuses(t, `--autoscaler "keda": want karpenter or cluster-autoscaler`, "draft", "--dump", drafts+"dump", "--autoscaler", "keda")
	b.refuses(t, "--log: stat /none: no such file or directory; name a file that can be read", "draft", "--log", "/none")
	b.refuses(t, "--out-file: open /none/x.feature: no such file or directory; name a file in a folder", "draft", "--dump", drafts+"dump", "--out-file", "/none/x.feature")
	if code, stdout, _ := nodestorm(t, "__complete", "draft", "--autoscaler", ""); code != cli.AsExpected || !strings.HasPrefix(stdout, "karpenter\ncluster-autoscaler\n") {
		t.Errorf("completion: status %d, %q", code, stdout)
	}
}

// A trace becomes a workload that compare takes.
func TestDraftOfTrace(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	log, day := filepath.Join(dir, "replay.json"), filepath.Join(dir, "day.yaml")
	if err := os.WriteFile(log, []byte(`{"events": [{"type": "create", "kind": "Deployment", "key": "a/web", "timestamp": "2026-01-02T03:00:00Z",
		"deployment": {"spec": {"replicas": 2, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": 1}}}]}}}}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := nodestorm(t, "draft", "--trace", log, "--out-file", day)
	if code != cli.AsExpected || stderr != "" || !strings.Contains(stdout, "1 load in 10m; 0 notes") {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, stderr = nodestorm(t, "compare", day, "--variant", "karpenter@v1.6.4", "--variant", "karpenter@v1.7.0", "--dry-run")
	if code != cli.AsExpected || !strings.Contains(stdout, "create Deployment/web, pods 2, cpu 1") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, _ = nodestorm(t, "draft", "--trace", log, "-o", "json"); code != cli.AsExpected || !strings.Contains(stdout, `"from": "kubereplay"`) {
		t.Errorf("status %d, %q", code, stdout)
	}
	b.refuses(t, "--out-file "+day+" is there already; name another file", "draft", "--trace", log, "--out-file", day)
	b.refuses(t, "--trace makes a workload, and the other sources a feature", "draft", "--trace", log, "--log", log)
	b.refuses(t, "--trace: open /none: no such file or directory; name a file that can be read", "draft", "--trace", "/none")
	b.refuses(t, "it is neither a replay log of kubereplay in JSON nor a trace of SimKube", "draft", "--trace", day)
}
