package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

func TestTargetArguments(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]string{
		"target|add|other@v1":                                                               "1 argument(s) given, want 2: nodestorm target add NAME@VERSION FILE | --image IMAGE",
		"target|add|other@v1|/none|--image|/none":                                           "2 argument(s) given, want 1",
		"target|add|other@v1|/none|--path|/x":                                               "--path is a path in an --image",
		"target|add|other@v1|--image|/none":                                                 "adding other@v1: image /none: there is no such file or folder",
		"target|add|other@v1|--image|" + t.TempDir():                                        "it is no OCI layout: the folder has no index.json",
		"target|add|other@v1|--image|x@y@z":                                                 "no such file or folder, and it is no reference to a registry either",
		"target|add|other@v1|--image|/none|--provider|A":                                    `"A" names no provider`,
		"target|build|other@v1|--source|/none|--module|m.example":                           "--source and --module are two ways in: give one",
		"target|build|other@v1|--source|" + t.TempDir():                                     "it is no checkout of a Go program",
		"target|build|other@v1|--ref|main":                                                  "--ref is one of a repository: name that with --source",
		"target|build|other@v1|--source|/none|--ref|main":                                   "--source: /none is no folder, and no URL of a git repository",
		"target|build|other|--source|/none":                                                 `"other" has no version`,
		"target|build|a@v1|b@v1|--source|/none|--ref|main":                                  "2 NAME@VERSION and 1 --ref: want one --ref for each",
		"target|build|a@v1|--source|/none|--ref|":                                           "--ref is empty",
		"target|build|a|--source|/none|--ref|HEAD^":                                         `"HEAD^" is no name for a version: write NAME@VERSION`,
		"target|build|a@v1|--source|/none|--tags|x|--tags|y|--provider|z":                   "--provider is the cloud of one build",
		"target|add|other@v1|/none|--ref|main":                                              "--ref is one of a repository",
		"target|build|other@v1|--source|/none|--provider|../../up":                          `"../../up" names no provider`,
		"target|build|cluster-autoscaler@1.32.7":                                            `nodestorm target build cluster-autoscaler@1.32.7 --source https://github.com/kubernetes/autoscaler --ref cluster-autoscaler-1.32.7 --tags CLOUD; or add a program with nodestorm target add`,
		"target|build|cluster-autoscaler@v1.33.0":                                           "there is no cluster-autoscaler@v1.33.0; did you mean cluster-autoscaler@1.33.0?",
		"target|build|kubelet-csr-approver@v1.2.14":                                         "nodestorm target build kubelet-csr-approver@v1.2.14 --source https://github.com/postfinance/kubelet-csr-approver --ref v1.2.14; or add",
		"target|build|karpenter@1.7.0":                                                      "karpenter@1.7.0 is not a release: did you mean karpenter@v1.7.0?",
		"target|build|karpenter@v9":                                                         "karpenter@v9 is not a release",
		"target|build|karpenter@v1.7":                                                       "did you mean karpenter@v1.7.0?",
		"target|rm|karpenter@1.7.0":                                                         "karpenter@1.7.0 is not in the store; did you mean karpenter@v1.7.0?",
		"run|karpenter-7515-not-ready-noexecute|--target|karpenter@1.7.0":                   "karpenter@1.7.0 is not in the store; did you mean karpenter@v1.7.0?",
		"verify|karpenter-7515-not-ready-noexecute|--component|kubelet-csr-approver@1.2.14": "did you mean kubelet-csr-approver@v1.2.14?",
	} {
		t.Run(args, func(t *testing.T) { b.refuses(t, want, strings.Split(args, "|")...) })
	}
}

func TestTargetList(t *testing.T) {
	program, err := exec.LookPath("go") // not this one, which may have the race detector
	if err != nil {
		t.Fatal(err)
	}
	newBench(t) // which has another go in PATH
	if code, _, stderr := nodestorm(t, "target", "add", "other@v1", program, "--provider", "hetzner"); code != cli.AsExpected {
		t.Fatalf("status %d, %q", code, stderr)
	}
	code, stdout, _ := nodestorm(t, "target", "list", "--json")
	var rows []struct {
		Name, Version, Provider, GoVersion, SHA256, Dir string
		Size                                            int64
		RealTimeOnly                                    bool
		Source                                          struct{ Kind, File string }
	}
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || code != cli.AsExpected || len(rows) != 1 {
		t.Fatalf("status %d, %v: %s", code, err, stdout)
	}
	r := rows[0]
	if r.Name != "other" || r.Version != "v1" || r.Provider != "hetzner" || r.GoVersion == "" || len(r.SHA256) != 64 || r.Size == 0 ||
		r.RealTimeOnly || r.Source.Kind != "binary" || r.Source.File != program || !strings.HasPrefix(r.Dir, "/") {
		t.Errorf("%+v", r)
	}
	// Two builds of one name differ in more than their times.
	script := filepath.Join(t.TempDir(), "other")
	write(t, script, "", 0o700)
	if text, err := os.ReadFile("/bin/true"); err != nil {
		t.Fatal(err)
	} else {
		write(t, script, string(text), 0o700)
	}
	if code, _, stderr := nodestorm(t, "target", "add", "other@v1", script, "--provider", "hetzner"); code != cli.AsExpected {
		t.Fatalf("status %d, %q", code, stderr)
	}
	_, stdout, _ = nodestorm(t, "target", "list")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[1], "binary "+script) || !strings.HasSuffix(lines[2], "binary "+program) || !strings.Contains(lines[2], r.SHA256[:12]) {
		t.Errorf("the table is %q", stdout)
	}
	if _, names, _ := nodestorm(t, "target", "list", "-o", "name"); names != "other@v1\n" {
		t.Errorf("the names are %q", names)
	}
	code, stdout, stderr := nodestorm(t, "target", "rm", "other@v1")
	if code != cli.AsExpected || strings.Count(stdout, "removed other@v1 for hetzner of 20") != 2 || !strings.Contains(stdout, "of binary "+program) {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
}
