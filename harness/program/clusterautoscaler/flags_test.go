package clusterautoscaler

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world/container"
)

// help is what a build might print; written for this test.
const help = `Usage of ./cluster-autoscaler:
      --address string                      Where to serve metrics. (default ":8085")
      --cloud-provider string               Whose cloud. Available values: [hetzner]
      --cordon-node-before-terminating      Whether to cordon
      --enable-dynamic-resource-allocation  Whether to, locked to true. (default true)
      --expander string                     How to choose (default "random")
      --feature-gates mapStringBool         A set of pairs. Options are:
                                            --not-a-flag=true|false (BETA - default=true)
      --kubeconfig string                   Path
      --nodes MultiStringFlag               sets min,max size (default [])
      --scale-down-unneeded-time duration   How long (default 10m0s)
      --scan-interval duration              How often (default 10s)
  -v, --v Level                             number for the log level verbosity
      --vmodule pattern=N,...               comma-separated list
      --enforce-node-group-min-size[=true]  Whether to
`

// build is a program that prints text for --help and ends with status.
func build(t *testing.T, text, status string) builds.Target {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ncat <<'END'\n" + text + "END\nexit " + status + "\n"
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", Name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: Name, Version: "1.2.3"}}, Dir: dir}
}

func TestAsk(t *testing.T) {
	for _, status := range []string{"0", "2"} {
		known, err := QueryFlags(t.Context(), build(t, help, status), container.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"expander": true, "v": true, "vmodule": true, "enforce-node-group-min-size": true, "not-a-flag": false, "leader-elect": false} {
			if known.Has(name) != want {
				t.Errorf("status %s: flag %s known: %t", status, name, !want)
			}
		}
	}
	for text, want := range map[string]string{
		"unknown flag: --help\n":                          "is it a Cluster Autoscaler?",
		"Usage of x:\n      --cloud-provider string  x\n": "cluster-autoscaler@1.2.3",
	} {
		if _, err := QueryFlags(t.Context(), build(t, text, "0"), container.Settings{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := QueryFlags(t.Context(), builds.Target{Dir: t.TempDir()}, container.Settings{}); err == nil {
		t.Error("no binary, no error")
	}
}

var pool = Group{Name: "pool1", Min: 1, Max: 3, Type: "cx22", Location: "fsn1"}

func TestCommandLine(t *testing.T) {
	known := Known{Build: "cluster-autoscaler@1.2.3", flags: parseHelp([]byte(help))}
	intent := Intent{Provider: "hetzner", Groups: []Group{pool}}
	place := flags{{"address", "127.0.0.1:1"}, {"v", "4"}, {"namespace", "x"}}
	given, err := parseFlags([]string{"--expander=priority", "-v=9", "--nodes=0:1:a:b:c", "--nodes", "0:2:a:b:d", "--scale_down_unneeded_time=1m", "--cordon-node-before-terminating"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		given flags
		want  string
	}{
		{"documented", nil, "--cloud-provider=hetzner --nodes=1:3:cx22:fsn1:pool1" +
			" --expander=least-waste --cordon-node-before-terminating=false --address=127.0.0.1:1 --v=4"},
		{"manifest", given, "--expander=priority --scale-down-unneeded-time=1m --cordon-node-before-terminating=true --cloud-provider=hetzner" +
			" --nodes=1:3:cx22:fsn1:pool1 --address=127.0.0.1:1 --v=4"},
	}
	for _, test := range tests {
		line := commandLine(known, test.given, intent.stated(), place)
		if diff := cmp.Diff(strings.Fields(test.want), line.args()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}

	for want, f := range map[string]flags{
		"who: cluster-autoscaler@1.2.3 knows no flag --max-node-provision-time":                                        {{"max-node-provision-time", "1m0s"}},
		"who: cluster-autoscaler@1.2.3 knows no flag --scale-down-delay-after-add (it has --scale-down-unneeded-time)": {{"scale-down-delay-after-add", "1m"}},
	} {
		if err := known.check(f, "who"); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestParseFlagsErrors(t *testing.T) {
	for _, args := range [][]string{{"--a=1", "x", "y"}, {"-"}, {"--"}, {"--=1"}, {""}} {
		if f, err := parseFlags(args); err == nil {
			t.Errorf("%q: %v", args, f)
		}
	}
}

func TestIntentCheck(t *testing.T) {
	with := func(change func(*Group)) Intent {
		g := pool
		change(&g)
		return Intent{Provider: "hetzner", Groups: []Group{g}}
	}
	tests := []struct {
		intent Intent
		want   string
	}{
		{Intent{}, "no cloud provider"},
		{with(func(g *Group) { g.Min = 4 }), `node group "pool1": from 4 to 3 instances: want 0 <= min <= max`},
		{with(func(g *Group) { g.Min, g.Max = 0, 0 }), "max above 0"},
		{with(func(g *Group) { g.Name = "pool 1" }), `node group "pool 1": want a name`},
		{with(func(g *Group) { g.Type = "" }), `node group "pool1": "" is no server type`},
		{with(func(g *Group) { g.Location = "a:b" }), `"a:b" is no location`},
		{Intent{Provider: "hetzner", Groups: []Group{pool, pool}}, `node group "pool1" is there twice`},
		{Intent{Provider: "hetzner", Backoff: -1}, "the backoff is -1ns"},
	}
	for _, test := range tests {
		if err := test.intent.Check(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v, want %q", test.intent, err, test.want)
		}
	}
	if err := (Intent{Provider: "hetzner", Groups: []Group{pool}}).Check(); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"1:2:3:4", "a:2:cx22:fsn1:x", "3:2:cx22:fsn1:x", "1:2::fsn1:x"} {
		if g, err := ParseGroup(text); err == nil {
			t.Errorf("%q: %+v", text, g)
		}
	}
	if g, err := ParseGroup(pool.String()); err != nil || g != pool {
		t.Errorf("%+v, %v", g, err)
	}
}

// What must not be seen is in no setting, wherever it was filled in.
func TestSettings(t *testing.T) {
	m := &manifest.Container{
		Source: "x.yaml: document 1", Namespace: "ns", ServiceAccount: "sa",
		Command: []string{"./cluster-autoscaler", "--cloud-provider=hetzner"}, Args: []string{"--kubeconfig=secret-token-1"},
		Env: []manifest.Variable{
			{Name: "HCLOUD_TOKEN", Value: "secret-token-0", Secret: true}, {Name: "OTHER", Value: "a secret-token-1"},
			{Name: "KEY", Value: "secret-token-1", Secret: true}, {Name: "HCLOUD_CLOUD_INIT", Value: "dXNlcmRhdGE="},
		},
	}
	cfg := Config{Target: build(t, help, "0"), Intent: Intent{Provider: "hetzner"}, Manifest: m,
		Env: []manifest.Variable{{Name: "HCLOUD_TOKEN", Value: "of-the-world", Secret: true}, {Name: "HCLOUD_ENDPOINT", Value: "http://127.0.0.1:1/v1"}}}
	a, err := prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--kubeconfig=(hidden)", "--cloud-provider=hetzner", "--expander=least-waste", "--cordon-node-before-terminating=false",
		"OTHER=a (hidden)", "KEY=(hidden)", "HCLOUD_CLOUD_INIT=(hidden)", "HCLOUD_TOKEN=(hidden)", "HCLOUD_ENDPOINT=http://127.0.0.1:1/v1"}
	if diff := cmp.Diff(want, a.Settings()); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	env := strings.Join(a.environment(), "\n") + "\n"
	for _, pair := range []string{"HCLOUD_TOKEN=of-the-world\n", "KEY=secret-token-1\n"} {
		if !strings.Contains(env, pair) {
			t.Errorf("the environment has no %q", pair)
		}
	}
	if want := (deploy.Account{Namespace: "ns", Name: "sa"}); a.account != want {
		t.Errorf("identity %v", a.account)
	}

	for _, command := range [][]string{{"sh", "-c", "./cluster-autoscaler"}, {"./cluster-autoscaler", "x"}, {"./cluster-autoscaler", "--cloud-provider=hetzner", "--nodes=1:2:x"}} {
		bad := *m
		bad.Command = command
		cfg.Manifest = &bad
		if _, err := prepare(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "x.yaml: document 1: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestDocumentedRBAC(t *testing.T) {
	a := &Autoscaler{account: deploy.Account{Namespace: "ns", Name: "sa"}}
	objects, err := a.documentedRBAC()
	if err != nil || len(objects) != 5 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	for _, o := range objects {
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "kube-system") || strings.Contains(o.GetKind(), "Binding") && !strings.Contains(string(text), `"name":"sa","namespace":"ns"`) {
			t.Errorf("%s", text)
		}
		if strings.Contains(string(text), `"*"`) || strings.Contains(string(text), "secrets") {
			t.Errorf("more rights than documented: %s", text)
		}
	}

	has := func(objects []*unstructured.Unstructured, word string) bool {
		return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			text, err := o.MarshalJSON()
			return err != nil || strings.Contains(string(text), word)
		})
	}
	a.cfg.Withheld = []string{"resource.k8s.io"}
	fewer, err := a.documentedRBAC()
	if err != nil {
		t.Fatal(err)
	}
	if !has(objects, "resourceclaims") || has(fewer, "resourceclaims") || !has(fewer, "csinodes") {
		t.Errorf("withheld %q: %v", a.cfg.Withheld, fewer)
	}
	a.cfg.Withheld = []string{"resource.k8s.oi"}
	if _, err := a.documentedRBAC(); err == nil || !strings.Contains(err.Error(), `"resource.k8s.oi"`) {
		t.Errorf("withheld %q: %v", a.cfg.Withheld, err)
	}
}

// The scenario's flags go over the intent's, and not over what is the world's to say.
func TestScenarioFlags(t *testing.T) {
	cfg := Config{Target: build(t, help, "0"), Intent: Intent{Provider: "hetzner", Expander: "random"}, Flags: []string{
		"--expander=priority", "--nodes=0:3:cx22:fsn1:a", "--nodes=0:3:cx32:nbg1:b",
	}}
	a, err := prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--cloud-provider=hetzner", "--expander=priority", "--nodes=0:3:cx22:fsn1:a", "--nodes=0:3:cx32:nbg1:b", "--cordon-node-before-terminating=false"}
	if diff := cmp.Diff(want, a.line.args()); diff != "" {
		t.Errorf("command line (-want +got):\n%s", diff)
	}
	cfg.Unlisted = []string{"--expandr=x", "--expander=price"}
	if a, err = prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	want = slices.Concat(want[:1], []string{"--nodes=0:3:cx22:fsn1:a", "--nodes=0:3:cx32:nbg1:b", "--expandr=x", "--expander=price"}, want[4:])
	if diff := cmp.Diff(want, a.line.args()); diff != "" {
		t.Errorf("command line with flags that are not listed (-want +got):\n%s", diff)
	}
	cfg.Unlisted = []string{"--kubeconfig=/x"}
	if _, err := prepare(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--kubeconfig is what the world sets") {
		t.Errorf("--kubeconfig, listed or not: %v", err)
	}
	cfg.Unlisted = nil
	group := Group{Name: "c", Min: 0, Max: 1, Type: "cx22", Location: "fsn1"}
	for _, test := range []struct {
		flag   string
		groups []Group
		want   string
	}{
		{"--kubeconfig=/x", nil, "--kubeconfig is what the world sets"},
		{"--cloud-provider=aws", nil, "--cloud-provider is what the world sets"},
		{"--expandr=x", nil, "knows no flag --expandr"},
		{"--nodes=0:3:cx22", nil, "want min:max:type:location:name"},
		{"--nodes=0:3:cx22:fsn1:a", []Group{group}, "the node groups are said already"},
	} {
		cfg.Flags, cfg.Intent.Groups = []string{test.flag}, test.groups
		if _, err := prepare(t.Context(), cfg); err == nil || !strings.HasPrefix(err.Error(), "the scenario: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.flag, err, test.want)
		}
	}
}
