package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/cli"
)

// The binary alone shows every record and feature, as they are.
func TestShow(t *testing.T) {
	newBench(t)
	const record = "../../scenarios/karpenter/7515-not-ready-noexecute.yaml"
	const feature = "../../features/karpenter/issue-7515-not-ready-noexecute.feature"
	for flag, file := range map[string]string{"--record": record, "--feature": feature} {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := nodestorm(t, "show", scenario, flag); code != cli.AsExpected || stdout != string(want) {
			t.Errorf("%s: status %d, %q, %q", flag, code, stdout, stderr)
		}
		if _, stdout, _ := nodestorm(t, "show", scenario); !strings.Contains(stdout, string(want)) {
			t.Errorf("without a flag it lacks %s", file)
		}
	}
	runs := t.TempDir()
	for _, name := range []string{scenario + "/karpenter@v1.6.4", "verify/" + scenario + "/karpenter@v1.7.0", "other/karpenter@v1.7.0"} {
		if err := os.MkdirAll(filepath.Join(runs, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(runs, name, "report.html"), "", 0o600)
	}
	_, stdout, _ := nodestorm(t, "show", scenario, "--run", "--runs", runs)
	for _, want := range []string{
		"nodestorm verify " + scenario + "\n", "nodestorm run " + scenario + " --target karpenter@v1.6.4  # reproduced\n",
		filepath.Join(runs, scenario, "karpenter@v1.6.4", "report.html"),
		filepath.Join(runs, "verify", scenario, "karpenter@v1.7.0", "report.html"),
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q lacks %q", stdout, want)
		}
	}
	if strings.Contains(stdout, "other") {
		t.Errorf("%q has the page of another scenario", stdout)
	}
}

func TestShowOwn(t *testing.T) {
	newBench(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "my-failure.feature"), `Feature: mine
  Scenario: mine
    Given a cluster
    And these objects from the file "web.yaml"
    Then the Node "a" is Ready within 1m
`, 0o600)
	write(t, filepath.Join(dir, "web.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n", 0o600)
	for args, want := range map[string]string{
		"--feature":       "nodestorm show my-failure --file web.yaml prints it",
		"--file|web.yaml": "kind: ConfigMap",
		"--run":           "nodestorm run my-failure --catalogue " + dir + " --target NAME@VERSION",
	} {
		words := append([]string{"show", "my-failure", "--catalogue", dir}, strings.Split(args, "|")...)
		if code, stdout, stderr := nodestorm(t, words...); code != cli.AsExpected || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: status %d, %q, %q", args, code, stdout, stderr)
		}
	}
	for args, want := range map[string]string{
		"show|my-failure|--record|--catalogue|" + dir:      "my-failure has no record",
		"show|my-failure|--file|x.yaml|--catalogue|" + dir: "no step of ",
		"show|" + scenario + "|--file|x.yaml":              "names a file",
		"show|" + scenario + "|--record|--run":             "--record and --run exclude each other",
		"show|karpenter-7515-not-ready-noexecut":           "unknown scenario",
		"show|" + scenario + "|--run|--runs|*":             "--runs: want a folder",
		"show":                                             "0 argument(s) given, want 1",
	} {
		code, stdout, stderr := nodestorm(t, strings.Split(args, "|")...)
		if code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
