package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProxyRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.yaml", "rules:\n- {name: a, match: {resource: pods}, act: {drop: {}}}\n")
	bad := write("bad.yaml", "rules:\n- {name: a, match: {resource: pods, verbs: [PUT]}, act: {drop: {}}}\n")
	one := func(name, match string) string {
		return write(name, "rules:\n- {name: a, match: {"+match+"}, act: {drop: {}}}\n")
	}
	resource := one("resource.yaml", "resource: podz")
	crd := one("crd.yaml", "resource: machinedeployments")
	field := one("field.yaml", "resource: pods, verb: get")
	never := one("never.yaml", "resource: pods, verbs: [create], name: a")
	twice := write("twice.yaml", "rules:\n- {name: a, match: {resource: pods}, act: {drop: {}}}\n- {name: b, match: {resource: pods}, act: {lose: {}}}\n")
	list := write("list.yaml", "current-context: [x]\n")
	nowhere := write("nowhere", `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: x}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`)
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"no rules", nil, []string{"--rules is missing"}},
		{"no such file", []string{"--rules", "nothing"}, []string{"--rules", "no such file"}},
		{"bad rules", []string{"--rules", bad, "--check"}, []string{"bad.yaml", `unknown verb "PUT"`}},
		{"an unknown resource", []string{"--rules", resource, "--check"}, []string{"resource.yaml", `unknown resource "podz"`}},
		{"a CRD's resource without its group", []string{"--rules", crd, "--check"}, []string{"machinedeployments.cluster.x-k8s.io"}},
		{"an unknown field", []string{"--rules", field, "--check"}, []string{`unknown field "rules[0].match.verb"`}},
		{"a rule that can never match", []string{"--rules", never, "--check"}, []string{"can never match"}},
		{"rules that contradict", []string{"--rules", twice, "--check"}, []string{`"b" contradicts rule "a"`}},
		{"no kubeconfig", []string{"--rules", good}, []string{"--kubeconfig is missing", "--check"}},
		{"no such kubeconfig", []string{"--rules", good, "--kubeconfig", "nothing"}, []string{"--kubeconfig", "no such file"}},
		{"no kubeconfig at all", []string{"--rules", good, "--kubeconfig", good}, []string{"--kubeconfig", "good.yaml"}},
		{"a kubeconfig that is none", []string{"--rules", good, "--kubeconfig", list}, []string{"--kubeconfig", "list.yaml"}},
		{"API server that is not there", []string{"--rules", good, "--kubeconfig", nowhere}, []string{"asking the API server what it serves", "127.0.0.1:1"}},
		{"an argument", []string{"--rules", good, "more"}, []string{"want 0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			status := Run(t.Context(), append([]string{"proxy"}, test.args...), &stdout, &stderr)
			if status != Usage {
				t.Errorf("status %d", status)
			}
			for _, text := range test.want {
				if !strings.Contains(stderr.String(), text) {
					t.Errorf("%q, want %q in it", stderr.String(), text)
				}
			}
			if strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("not one line: %q", stderr.String())
			}
		})
	}
	var stdout, stderr strings.Builder
	if status := Run(t.Context(), []string{"proxy", "--rules", good, "--check"}, &stdout, &stderr); status != AsExpected || !strings.Contains(stdout.String(), "1 rule(s) good") {
		t.Errorf("status %d: %s%s", status, stdout.String(), stderr.String())
	}
}
