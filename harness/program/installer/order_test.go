package installer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/program/installer"
)

const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: apps}\nspec: {selector: {matchLabels: {app: web}}, template: {spec: {tolerations: [{key: a}]}}}\n"

var folder = fstest.MapFS{
	"web.yaml":     {Data: []byte(deployment)},
	"empty.yaml":   {Data: []byte("# nothing\n")},
	"broken.yaml":  {Data: []byte("a: [")},
	"nothing.yaml": {Data: []byte("kind: Deployment\n")},
	"huge.yaml":    {Data: []byte(strings.Repeat("#", 2<<20))},
}

func TestParse(t *testing.T) {
	const wait = "\n  - rollout: {kind: Deployment, namespace: apps, name: web}"
	for _, test := range []struct{ name, text, want string }{
		{"right", "steps:\n  - label: {nodes: [a], labels: {k: v}}\n  - taint: {nodes: [a], taints: [\"k=v:NoSchedule\"]}\n  - apply: web.yaml" + wait, ""},
		{"never applied", "steps:\n  - apply: web.yaml\n  - rollout: {kind: Deployment, name: web}", "steps[1]: it waits for Deployment default/web, which no step before it applies: put the step that applies it first"},
		{"applied later", "steps:" + wait + "\n  - apply: web.yaml", "steps[0]: it waits for Deployment apps/web, which no step before it applies: put the step that applies it first"},
		{"nothing", "", "the document is empty"},
		{"no steps", "source: a", "steps is missing"},
		{"unknown field", "steps: [{aply: web.yaml}]", `unknown field "steps[0].aply" (allowed: apply, rollout, label, taint)`},
		{"two at once", "steps: [{apply: web.yaml, label: {nodes: [a], labels: {k: v}}}]", "steps[0]: 2 of apply, rollout, label and taint: want one"},
		{"none", "steps: [{}]", "steps[0]: 0 of"},
		{"missing manifest", "steps: [{apply: web.yml}]", "steps[0]: apply: web.yml: open web.yml"},
		{"outside", "steps: [{apply: ../web.yaml}]", "in the order's folder or below"},
		{"absolute", "steps: [{apply: /etc/passwd}]", "in the order's folder or below"},
		{"empty manifest", "steps: [{apply: empty.yaml}]", "it has no object"},
		{"broken manifest", "steps: [{apply: broken.yaml}]", "apply: broken.yaml: "},
		{"object without a name", "steps: [{apply: nothing.yaml}]", `object "Deployment " lacks one of`},
		{"huge manifest", "steps: [{apply: huge.yaml}]", "more than 1024 KiB"},
		{"kind", "steps:\n  - apply: web.yaml\n  - rollout: {kind: Pod, name: web}", `unknown value "Pod" (allowed: Deployment, DaemonSet, StatefulSet)`},
		{"timeout", "steps:\n  - apply: web.yaml" + strings.Replace(wait, "}", ", timeout: soon}", 1), `rollout.timeout: "soon" is no duration`},
		{"no time", "steps:\n  - apply: web.yaml" + strings.Replace(wait, "}", ", timeout: 0s}", 1), `rollout.timeout: "0s" is no duration`},
		{"label of no node", "steps: [{label: {labels: {k: v}}}]", "label: want nodes and labels"},
		{"label", "steps: [{label: {nodes: [a], labels: {\"a b\": v}}}]", `label "a b=v"`},
		{"taint of nothing", "steps: [{taint: {nodes: [a]}}]", "taint: want nodes and taints"},
		{"taint", "steps: [{taint: {nodes: [a], taints: [\"k:Never\"]}}]", `taint "k:Never"`},
		{"taint key", "steps: [{taint: {nodes: [a], taints: [\":NoSchedule\"]}}]", `taint ":NoSchedule"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := installer.Parse([]byte(test.text), folder)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("steps:\n  - apply: web.yaml\n  - rollout: {kind: Deployment, namespace: apps, name: web}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := installer.Parse([]byte(text), folder); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	})
}

func TestTolerate(t *testing.T) {
	o, err := installer.Parse([]byte("steps: [{apply: web.yaml}]"), folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Tolerate("Deployment", "apps", "web", corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists}); err != nil {
		t.Error(err)
	}
	if err := o.Tolerate("Deployment", "apps", "db", corev1.Toleration{}); err == nil || !strings.Contains(err.Error(), "no step applies Deployment apps/db") {
		t.Errorf("a workload that is not there: %v", err)
	}
}

// A user's own order is a file, with its manifests beside it and nowhere else.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"right.yaml":  {"steps: [{apply: web}]", ""},
		"waits.yaml":  {"steps: [{rollout: {kind: Deployment, name: web}}]", "waits.yaml: steps[0]: it waits for Deployment default/web, which no step before it applies: put the step that applies it first"},
		"leaves.yaml": {"steps: [{apply: link.yaml}]", "path escapes"},
		"web":         {deployment, "web: unknown field"},
		"missing":     {"", "no such file"},
	} {
		file := filepath.Join(dir, name)
		if name != "missing" {
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if name == "right.yaml" {
			if err := os.WriteFile(filepath.Join(dir, "web"), []byte(deployment), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := installer.Load(file)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: error %v, want one line with %q", name, err, test.want)
		}
	}
}

// The releases of Kubespray differ by their lists alone.
func TestKubespray(t *testing.T) {
	steps := map[string][]string{}
	for _, version := range installer.Versions("kubespray") {
		o, _, err := installer.Known("kubespray", version)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range o.Steps {
			switch {
			case s.Apply != "":
				steps[version] = append(steps[version], s.Apply)
			case s.Rollout != nil:
				steps[version] = append(steps[version], "wait for "+s.Rollout.Name)
			}
		}
	}
	const approver, wait, manager = "kubelet-csr-approver.yaml", "wait for kubelet-csr-approver", "vsphere-cloud-controller-manager.yaml"
	for version, want := range map[string][]string{"v2.24.0": {approver, wait, manager}, "v2.28.0": {manager, approver, wait}} {
		if strings.Join(steps[version], ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %q, want %q", version, steps[version], want)
		}
	}
	if _, _, err := installer.Known("kubespray", "v9.9.9"); err == nil || !strings.Contains(err.Error(), "(known: v2.24.0, v2.28.0)") {
		t.Errorf("an unknown release: %v", err)
	}
	if got := installer.Versions("karpenter"); got != nil {
		t.Errorf("karpenter is no installer: %q", got)
	}
}
