package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBisectArguments(t *testing.T) {
	b := newBench(t)
	bare := filepath.Join(t.TempDir(), "bare.feature")
	write(t, bare, "Feature: F\n\n  Scenario: S\n    Given a cluster\n    Then the pod \"a\" is Running within 1m\n", 0o600)
	for args, want := range map[string]string{
		"bisect|" + bare + "|--source|/none|--good|a|--bad|b":                                     bare + " has no record that says what is built: add --autoscaler karpenter or",
		"history|" + bare + "|--from|127.0.0.1:1/team/builds":                                     "add --autoscaler karpenter or",
		"bisect|" + bare + "|--source|/none|--good|a|--bad|b|--autoscaler|carpenter":              `--autoscaler "carpenter": want karpenter or cluster-autoscaler`,
		"bisect|" + bare + "|--source|/none|--good|a|--bad|b|--autoscaler|karpenter":              "--source: /none is no folder, and no URL of a git repository",
		"bisect|" + scenario + "|--source|/none|--good|a|--bad|b|--autoscaler|cluster-autoscaler": "is about karpenter, and --autoscaler is cluster-autoscaler",
		"bisect": "0 scenarios are named, want one",
		"bisect|" + scenario + "|" + scenario + "|--source|/none|--good|a|--bad|b": "2 scenarios are named, want one",
		"bisect|" + scenario: "name where to look, one of both: --source REPOSITORY or --module PATH",
		"bisect|" + scenario + "|--source|/none|--module|m":                                  "one of both: --source REPOSITORY or --module PATH",
		"bisect|" + scenario + "|--source|/none|--good|a":                                    "--good REF and --bad REF are both needed",
		"bisect|" + scenario + "|--source|/none|--good|a|--bad|a":                            "--good and --bad are the same: a",
		"bisect|" + scenario + "|--source|/none|--good|a|--bad|b":                            "--source: /none is no folder, and no URL of a git repository",
		"bisect|" + scenario + "|--source|/none|--good|a|--bad|b|--healthy-runs|0":           "want 1 or more",
		"bisect|karpenter-7515-nope|--source|/none|--good|a|--bad|b":                         "karpenter-7515-nope",
		"bisect|bootstrap-12059-csr-approver|--source|/none|--good|a|--bad|b":                "is about kubespray, of which nothing is built",
		"bisect|" + scenario + "|--module|sigs.k8s.io/karpenter|--good|main|--bad|v1.6.4":    "--good main is not a release of a module",
		"bisect|" + scenario + "|--module|example.com/fork|--good|v1.7.0|--bad|v1.6.4":       "the releases of karpenter are those of sigs.k8s.io/karpenter; a fork is bisected with --source",
		"history|" + scenario + "|--from|127.0.0.1:1/team/builds":                            "--from: listing what there is to pull: 127.0.0.1:1/team/builds: ",
		"history|" + scenario + "|--from|Team":                                               "--from: listing what there is to pull: ",
		"history|" + scenario + "|--source|/none":                                            "--source is where to build from: it needs --build",
		"bisect|hetzner-8402-min-size|--module|k8s.io/autoscaler|--good|v1.1.1|--bad|v1.2.1": "cluster-autoscaler is built of no module that is known here",
	} {
		t.Run(args, func(t *testing.T) { b.refusesWithGit(t, want, strings.Split(args, "|")...) })
	}
}

// refusesWithGit is refuses, where the go command may have been asked for versions.
func (b bench) refusesWithGit(t *testing.T, want string, args ...string) {
	t.Helper()
	code, stdout, stderr := nodestorm(t, append(args, "--out", b.out)...)
	if code != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %q, %q; want %q", code, stdout, stderr, want)
	}
}

// git takes each status of a script for something: only what is known of a commit is an
// answer, and what would be the same for all ends it.
func TestBisectStepStatus(t *testing.T) {
	b := newBench(t) // its go command builds nothing
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module sigs.k8s.io/karpenter\n", 0o600)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for args, want := range map[string]int{
		"":                     128,
		"nope":                 128,
		scenario:               128,
		scenario + "|--source": 128,
		scenario + "|--source|" + dir + "|--nope": 128,
		scenario + "|--source|" + t.TempDir():     128,
	} {
		code, _, stderr := nodestorm(t, append([]string{"bisect", "step", "--out", b.out}, strings.Split(args, "|")...)...)
		if code != want || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q; want %d", args, code, stderr, want)
		}
	}
}
