package replay_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
)

// autoscalerRequest is for a record on the first of its targets that is in the store.
func autoscalerRequest(t *testing.T, id string) (replay.Request, string) {
	t.Helper()
	r, tmp := request(t)
	r.Record = lookup(t, id)
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range r.Record.Targets {
		ref, parseErr := builds.ParseRef(of.Name)
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		ref.Provider = r.Record.Provider()
		if r.Target, err = store.Get(ref); err == nil {
			return r, tmp
		}
	}
	t.Skip(err)
	return r, tmp
}

// secretsOfFeature are in the manifest of issue-1476-kube-hetzner.feature: the
// token, and the beginning of the user data with the cluster's.
var secretsOfFeature = []string{"replaced-by-the-world", "I2Nsb3VkLWNvbmZpZwp3cml0ZV9maWxlczoK"}

func TestRunAutoscaler(t *testing.T) {
	r, tmp := autoscalerRequest(t, "hetzner-1476-kube-hetzner-ignored")
	processtest.Poison(t)
	looked, intruded, secret := false, func() {}, ""
	w := watcher{at: map[string]func(*world.World){"3 servers of the group": func(w *world.World) {
		p, ok := w.Component(clusterautoscaler.Name)
		if !ok {
			t.Errorf("there is no component %s", clusterautoscaler.Name)
			return
		}
		looked = true
		checkAutoscalerIdentity(t, p.PID())
		secret = checkWayOut(t, w, p.PID())
		checkLoopback(t, tmp, 4)
		processtest.CheckStrangers(t, tmp, 4, openMetrics())
		processtest.CheckUnpoisoned(t, tmp, 6)
		intruded = intrude(t, w, tmp)
	}}}
	r.Watch, r.Ready = w.step, w.ready
	result := undistorted(t, r)
	gone(t, tmp)
	if result.Verdict != verdict.Reproduced || !looked {
		t.Fatalf("%s: %s (looked inside: %t)", result.Verdict, result.Reason, looked)
	}
	checkJUnit(t, result.Dir, result.Verdict)
	intruded()
	for _, leak := range leaks(t, result.Dir, []string{secret}) {
		t.Error(leak)
	}
	err := filepath.WalkDir(result.Dir, func(path string, d fs.DirEntry, err error) error {
		// The feature's own text is in Cucumber's report.
		if err != nil || d.IsDir() || filepath.Base(path) == "cucumber.json" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range secretsOfFeature {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %q", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkAutoscalerIdentity makes sure that the process has the documented rights of
// its service account, and no more: those of its own kubeconfig.
func checkAutoscalerIdentity(t *testing.T, pid int) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Error(err)
		return
	}
	var path string
	for arg := range strings.SplitSeq(string(line), "\x00") {
		if value, ok := strings.CutPrefix(arg, "--kubeconfig="); ok {
			path = value
		}
	}
	client := clientWith(t, path)
	if client == nil {
		return
	}
	checkRights(t, client, []right{
		{true, "list", "", "nodes", "", "", ""},
		{true, "update", "", "nodes", "", "", ""},
		{true, "create", "", "pods", "eviction", "", "default"},
		{true, "update", "", "configmaps", "", "cluster-autoscaler-status", "kube-system"},
		{false, "update", "", "configmaps", "", "any", "kube-system"},
		{false, "list", "", "configmaps", "", "", "default"},
		{false, "list", "", "secrets", "", "", ""},
		{false, "delete", "", "pods", "", "", "default"},
		{false, "delete", "", "nodes", "", "", ""},
		{false, "create", "rbac.authorization.k8s.io", "clusterrolebindings", "", "", ""},
		{false, "impersonate", "", "users", "", "", ""},
		{false, "*", "*", "*", "", "", ""},
	})
}

// What is wrong with a manifest is reported before anything starts.
func TestManifestCheck(t *testing.T) {
	r, tmp := autoscalerRequest(t, "hetzner-1476-min-size-ignored")
	text, err := os.ReadFile("../program/manifest/testdata/kube-hetzner.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, test := range map[string]struct{ old, replacement, want string }{
		"good":                     {"", "", ""},
		"unknown flag":             {"--v=5", "--no-such-flag=5", "(Deployment kube-system/cluster-autoscaler): command and args: cluster-autoscaler@" + r.Target.Version + " knows no flag --no-such-flag"},
		"node group":               {"--nodes=3:5", "--nodes=5:3", `--nodes: node group "k3s-autoscaled-egress": from 5 to 3 instances`},
		"secret":                   {"name: hcloud, key: network", "name: nowhere, key: network", `env[7] (HCLOUD_NETWORK): secret "nowhere"`},
		"no cluster configuration": {"- name: HCLOUD_CLUSTER_CONFIG\n              value: e30=", "- name: OTHER\n              value: e30=", ""},
		"neither":                  {"- name: HCLOUD_CLOUD_INIT\n              value: I2Nsb3VkLWNvbmZpZwo=\n            - name: HCLOUD_CLUSTER_CONFIG\n              value: e30=", "- name: OTHER\n              value: x", "no cluster configuration: this build asks for HCLOUD_CLUSTER_CONFIG or HCLOUD_C"},
		"program":                  {"./cluster-autoscaler", "/bin/sh", `command: "sh" is not cluster-autoscaler`},
	} {
		t.Run(name, func(t *testing.T) {
			r.Manifest = filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
			if err := os.WriteFile(r.Manifest, []byte(strings.Replace(string(text), test.old, test.replacement, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			err := r.CheckManifest(t.Context())
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	gone(t, tmp)
}
