package cli_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/cli"
	"nodestorm/sim/history"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, resources: {requests: {cpu: "3"}}}]}
`

// What a user does with kubectl, and breaks, in a world that stays is a feature that
// does it again.
func TestRecord(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.6.4"})
	tmp, folder := t.TempDir(), t.TempDir()
	feature := filepath.Join(folder, "mine.feature")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	cmd, stdout, stderr := command(t, tmp, "up", "--target", "karpenter@v1.6.4", "--clock", "10x", "--record", feature, "--out", folder)
	out := bufio.NewReader(stdout)
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	go func() { _, _ = bufio.NewReader(stderr).WriteTo(os.Stderr) }()
	await(t, out, "Ctrl-C ends the world")
	found, err := filepath.Glob(filepath.Join(tmp, "nodestorm-world-*", "kubeconfig-*"))
	if err != nil || len(found) == 0 {
		t.Fatal("no kubeconfig", found, err)
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("KUBECONFIG", "")
	said := func(name, stdin string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(ctx, name, args...)
		c.Env = append(os.Environ(), asCommand+"=1")
		c.Stdin = strings.NewReader(stdin)
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v, %s", name, args, err, text)
		}
		return string(text)
	}
	kubectl := func(stdin string, args ...string) {
		t.Helper()
		said(filepath.Join(kubernetes.Bin(), "kubectl"), stdin, append([]string{"--kubeconfig", kubeconfigOf(t, found)}, args...)...)
	}
	kubectl("", "wait", "--for=create", "node/node-1", "--timeout=60s")
	kubectl("", "wait", "--for=condition=Ready", "node/node-1", "--timeout=60s")
	kubectl(deployment, "apply", "-f", "-")
	kubectl("", "rollout", "status", "deployment/web")
	kubectl("", "scale", "deployment/web", "--replicas=9")
	kubectl("", "rollout", "status", "deployment/web")
	said(os.Args[0], "", "up", "fault", `the simulated node "node-1" is NotReady, for 1m`)
	kubectl("", "wait", "--for=condition=Ready=false", "node/node-1", "--timeout=60s")
	kubectl("", "delete", "nodeclaims", "--all", "--wait=false")
	if list := said(os.Args[0], "", "up", "fault", "list"); !strings.Contains(list, "node-1") {
		t.Errorf("fault list: %q", list)
	}
	for want, args := range map[string][]string{
		`did you mean "the simulated node \"NAME\" is NotReady WHEN"`:                  {"up", "fault", `the simulated nod "node-1" is NotReady`},
		`, "a cloud of node groups", "a cloud of instances" or "an AWS region" before`: {"up", "fault", `the server type "cx22" is out of stock`},
		`there is no fault "dead"`:               {"up", "fault", "clear", "dead"},
		"it is there already; take another name": {"up", "--record", feature},
	} {
		if code, _, text := nodestorm(t, args...); code != cli.Usage || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", args, code, text, want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	await(t, out, "What happened in it is in")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if code, _, text := nodestorm(t, "up", "fault", "list"); code != cli.Usage || !strings.Contains(text, "no world is running; nodestorm up starts one") {
		t.Errorf("without a world: status %d, %q", code, text)
	}

	if code, text, _ := nodestorm(t, "lint", feature); code != cli.AsExpected {
		t.Fatal(text)
	}
	code, text, errors := nodestorm(t, "run", feature, "--target", "karpenter@v1.6.4", "--json", "--out", folder)
	if code != cli.AsExpected {
		written, _ := os.ReadFile(feature)
		t.Fatalf("status %d, %s, %s of\n%s", code, text, errors, written)
	}
	up, err := filepath.Glob(filepath.Join(folder, "up-*"))
	if err != nil || len(up) != 1 {
		t.Fatal(up, err)
	}
	before, after := deeds(t, up[0]), deeds(t, rowsOf(t, text)[0].Run)
	if len(before) < 5 || !slices.Equal(before, after) {
		t.Errorf("the user did %q, and the feature does %q", before, after)
	}
}

// kubeconfigOf is the newest: the others are of programs.
func kubeconfigOf(t *testing.T, all []string) string {
	t.Helper()
	return slices.MaxFunc(all, func(a, b string) int {
		first, err := os.Stat(a)
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.Stat(b)
		if err != nil {
			t.Fatal(err)
		}
		return first.ModTime().Compare(second.ModTime())
	})
}

var madeUp = regexp.MustCompile(`-[a-z0-9]{5}$`)

// deeds are what kubectl has changed in a run, and the faults that acted, in their order.
// Where the Givens of a feature end, up's own end, too.
func deeds(t *testing.T, run string) (all []string) {
	t.Helper()
	file, err := os.Open(filepath.Join(run, "history.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, problems := history.Read(file)
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, r := range records {
		switch {
		case r.Source == history.API && r.Actor == "kubectl" && r.Code < 400:
			all = append(all, r.Verb+" "+madeUp.ReplaceAllString(r.Object.String(), ""))
		case r.Source == history.Fault && (r.Verb == history.Armed || r.Verb == history.Effective):
			all = append(all, r.Verb+" "+r.Object.String())
		}
	}
	return all
}
