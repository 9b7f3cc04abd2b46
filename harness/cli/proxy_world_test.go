package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/cli"
)

// A world that stays, a proxy in front of it from the command line, and the real
// kubectl on its way through it.
func TestProxyServes(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	up, world, _ := command(t, t.TempDir(), "up", "--nodes", "1", "--out", t.TempDir())
	t.Cleanup(func() { // before its folder goes
		_ = up.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, world)
		_ = up.Wait()
	})
	direct := exported(t, bufio.NewReader(world))

	rules := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, rules, `rules:
- name: refuse
  match: {client: kubectl, verbs: [create], resource: configmaps, namespace: default}
  limit: 1
  act: {answer: {code: 403}}
- name: another client
  match: {client: kubectl, verbs: [update], resource: configmaps, name: probe}
  limit: 1
  act: {otherWriter: {}}
`, 0o600)
	status, stdout, stderr := nodestorm(t, "proxy", "--kubeconfig", direct, "--rules", rules, "--check")
	if status != cli.AsExpected || !strings.Contains(stdout, "2 rule(s) good, and https://127.0.0.1:") {
		t.Errorf("--check: status %d, %s%s", status, stdout, stderr)
	}
	kubectl := func(kubeconfig, stdin string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(kubernetes.Bin(), "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
		cmd.Env, cmd.Stdin = []string{"HOME=" + t.TempDir()}, strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	proxy, said, _ := command(t, t.TempDir(), "proxy", "--kubeconfig", direct, "--rules", rules)
	lines := bufio.NewReader(said)
	through := exported(t, lines)
	if out, err := kubectl(through, "", "auth", "whoami", "--output=jsonpath={.status.userInfo.username}"); err != nil || out != "admin" {
		t.Errorf("the API server sees %q, %v: want the client itself", out, err)
	}
	if out, err := kubectl(through, "", "create", "configmap", "probe", "--from-literal=a=1"); err == nil || !strings.Contains(out, "forbidden by a rule") {
		t.Errorf("the first creation: %v, %q, want it to be forbidden", err, out)
	}
	await(t, lines, "effective")
	if out, err := kubectl(through, "", "create", "configmap", "probe", "--from-literal=a=1"); err != nil {
		t.Errorf("the second creation: %v, %q", err, out)
	}
	object, err := kubectl(through, "", "get", "configmap", "probe", "--output=yaml")
	if err != nil {
		t.Fatal(err, object)
	}
	if out, err := kubectl(through, object, "replace", "--filename=-"); err == nil || !strings.Contains(out, "the object has been modified") {
		t.Errorf("writing after another client: %v, %q, want a conflict", err, out)
	}
	await(t, lines, "effective")
	if err := proxy.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := proxy.Wait(); err != nil {
		t.Errorf("the proxy ends with %v, and both of its rules took effect", err)
	}
	if _, err := os.Stat(through); err == nil {
		t.Error("the kubeconfig is left behind")
	}

	unserved := filepath.Join(t.TempDir(), "unserved.yaml")
	write(t, unserved, "rules:\n- {name: a, match: {resource: machinedeployments.cluster.x-k8s.io}, act: {drop: {}}}\n", 0o600)
	status, _, stderr = nodestorm(t, "proxy", "--kubeconfig", direct, "--rules", unserved, "--check")
	if status != cli.Usage || !strings.Contains(stderr, "machinedeployments.cluster.x-k8s.io") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a CRD that is not there: status %d, %q", status, stderr)
	}

	// A rule that no call came to makes no difference, and that is said.
	proxy, said, warned := command(t, t.TempDir(), "proxy", "--kubeconfig", direct, "--rules", rules)
	exported(t, bufio.NewReader(said))
	if err := proxy.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(warned)
	_ = proxy.Wait()
	if proxy.ProcessState.ExitCode() != cli.Inconclusive || !strings.Contains(string(text), `rule "refuse" made no difference`) {
		t.Errorf("status %d, %q", proxy.ProcessState.ExitCode(), text)
	}
}

// exported reads what a command says until it names a kubeconfig.
func exported(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	for lines := ""; ; {
		line, err := from.ReadString('\n')
		lines += line
		if _, path, ok := strings.Cut(strings.TrimSpace(line), "export KUBECONFIG="); ok {
			return path
		}
		if err != nil {
			t.Fatalf("no kubeconfig, but %q and %v", lines, err)
		}
	}
}
