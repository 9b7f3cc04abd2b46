package replay_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
	"nodestorm/sim/time/clock"
)

// aProgram is a Go program that says so of itself.
func aProgram(t *testing.T, says string) []byte {
	t.Helper()
	dir := t.TempDir()
	source, built := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	text := fmt.Sprintf("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(%q) }\n", says)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// A folder is a control plane if its programs are those of this machine and of a release that
// worlds can have; what is wrong with it is said with its name.
func TestControlPlaneOfFolder(t *testing.T) {
	own, older, oldest, silent := aProgram(t, "Kubernetes "+builds.Kubernetes.Version+"\n"), aProgram(t, "Kubernetes v1.33.5\n"), aProgram(t, "Kubernetes v1.30.14\n"), aProgram(t, "")
	elsewhere := slices.Clone(own)
	const machine = 18 // of the ELF header
	elsewhere[machine], elsewhere[machine+1] = 8, 0
	all := func(apiServer []byte) map[string][]byte {
		return map[string][]byte{"etcd": own, "kube-apiserver": apiServer, "kube-controller-manager": own, "kube-scheduler": own}
	}
	without := func(programs map[string][]byte, names ...string) map[string][]byte {
		for _, name := range names {
			delete(programs, name)
		}
		return programs
	}
	for _, test := range []struct {
		name     string
		programs map[string][]byte
		version  string
		missing  int
		want     string // of the error
	}{
		{"whole", all(older), "v1.33.5", 0, ""},
		{"envtest's", without(all(own), "kube-controller-manager", "kube-scheduler"), builds.Kubernetes.Version, 2, ""},
		{"envtest's, older", without(all(older), "kube-controller-manager", "kube-scheduler"), "", 0, "has no kube-controller-manager and no kube-scheduler, and those of " + builds.Kubernetes.String() + " are newer than its kube-apiserver (v1.33.5)"},
		{"no etcd", without(all(own), "etcd"), "", 0, "has no program etcd; name a folder with etcd and kube-apiserver"},
		{"no API server", without(all(own), "kube-apiserver"), "", 0, "has no program kube-apiserver"},
		{"empty", nil, "", 0, "has no program etcd"},
		{"another machine's", all(elsewhere), "", 0, "kube-apiserver is for another machine: EM_MIPS"},
		{"a script", all([]byte("#!/bin/sh\necho Kubernetes v1.36.3\n")), "", 0, "kube-apiserver is not a Linux program (ELF)"},
		{"too old", all(oldest), "", 0, "release v1.30.14 of Kubernetes is too old: the oldest that was seen to be a world's control plane is v1.31"},
		{"silent", all(silent), "", 0, `does not say which release it is: --version says ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range test.programs {
				if err := os.WriteFile(filepath.Join(folder, name), text, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c, err := replay.OfFolder(t.Context(), folder)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), folder)) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			if err == nil && (c.Version != test.version || len(c.Missing()) != test.missing || c.String() != test.version+" (of the folder "+filepath.Base(folder)+")") {
				t.Errorf("%s, without %v", c, c.Missing())
			}
		})
	}
	file := filepath.Join(t.TempDir(), "etcd")
	if err := os.WriteFile(file, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.OfFolder(t.Context(), filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), "has no program etcd") {
		t.Errorf("a file that is not executable: %v", err)
	}
}

// What a record needs of Kubernetes is asked of the release that is chosen, or else of
// nodestorm's own.
func TestCheckKubernetes(t *testing.T) {
	kubelets := lookup(t, "bootstrap-7515-network-late")
	plain := lookup(t, scenario)
	for _, test := range []struct {
		name, needs, version string
		kubelets             bool
		want                 string
	}{
		{"nothing", "", "", false, ""},
		{"own, new enough", ">=1.30", "", false, ""},
		{"own, too old", ">=1.99", "", false, "it needs Kubernetes >=1.99, and this is " + builds.Kubernetes.Version},
		{"chosen, new enough", ">=1.36", "v1.36.3", false, ""},
		{"chosen, too old", ">=1.34", "v1.33.5", false, "it needs Kubernetes >=1.34, and this is v1.33.5"},
		{"chosen, too new", "<1.36", "v1.36.3", false, "it needs Kubernetes <1.36, and this is v1.36.3"},
		{"kubelets", "", "v1.36.3", true, ""},
		{"kubelets that are newer", "", "v1.33.5", true, "its kubelets are of " + builds.Kubernetes.String() + ", and may not be newer than kube-apiserver (v1.33.5)"},
		{"no kubelets", "", "v1.33.5", false, ""},
		{"policies", "", "v1.32.0", false, ""},
		{"no policies", "", "v1.31.9", false, "is from Kubernetes v1.32 on, and this is v1.31.9: build karpenter@v1.7.0 with --provider instances"},
	} {
		r := replay.Request{Record: plain, Features: os.DirFS("../../features"), Settings: replay.Settings{ControlPlane: replay.ControlPlane{Version: test.version}}}
		if test.kubelets {
			r.Record = kubelets
		}
		r.Target.Ref = builds.Ref{Name: "karpenter", Version: "v1.7.0"}
		if test.version != "" {
			r.ControlPlane.Folder = "k8s"
		}
		r.Record.Kubernetes = scenarios.Range(test.needs)
		err := r.CheckKubernetes()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// A release of Kubernetes that a record begins with is not built unasked, and what it is upgraded to is the run's own.
func TestOlderKubernetes(t *testing.T) {
	t.Setenv("NODESTORM_CACHE", t.TempDir())
	r := replay.Request{Record: lookup(t, "karpenter-4403-control-plane"), Features: os.DirFS("../../features")}
	r.Target.Ref = builds.Ref{Name: "karpenter", Version: "v1.14.1"}
	const lacks = "it begins with Kubernetes v1.35.4, which the store lacks; build it: nodestorm target build kubernetes@v1.35.4"
	for version, want := range map[string]string{
		"": lacks, "v1.36.3": lacks, "v1.35.9": lacks,
		"v1.34.1": "the control plane cannot go back from Kubernetes v1.35.4 to v1.34.1",
		"v1.37.0": "the control plane cannot be upgraded from Kubernetes v1.35.4 to v1.37.0: Kubernetes supports one minor release",
	} {
		r.ControlPlane = replay.ControlPlane{Version: version}
		if version != "" {
			r.ControlPlane.Folder = "k8s"
		}
		err := r.CheckKubernetes()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
	r.Record = lookup(t, "karpenter-4403-control-plane-restarted")
	r.ControlPlane = replay.ControlPlane{}
	if err := r.CheckKubernetes(); err != nil {
		t.Errorf("to itself: %v", err)
	}
	r.Settings.Cluster = replay.Kind
	r.World.Clock = clock.Real
	if err := r.CheckCluster(); err == nil || !strings.Contains(err.Error(), "a cluster of kind is of "+builds.Kubernetes.String()+" from the start") {
		t.Errorf("on kind: %v", err)
	}
}
