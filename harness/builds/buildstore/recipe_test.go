package buildstore

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"nodestorm/harness/builds"
)

func TestKnown(t *testing.T) {
	r, err := Known(builds.Ref{Name: "karpenter", Version: "v1.7.0"})
	ok(t, err)
	if r.Module != "sigs.k8s.io/karpenter" || r.Package != "./kwok" || r.Provider != "kwok" || !strings.HasSuffix(r.LDFlags, "operator.Version=1.7.0") {
		t.Errorf("karpenter: %+v", r)
	}
	for _, version := range []string{"1.7.0", "v1.7", "main", "latest"} {
		_, err := Known(builds.Ref{Name: "karpenter", Version: version})
		wantError(t, err, "karpenter@"+version, "karpenter@v1.7.0")
	}
	r, err = Known(builds.Ref{Name: "karpenter-aws", Version: "v1.14.0"})
	ok(t, err)
	if r.Module != "github.com/aws/karpenter-provider-aws" || r.Package != "./cmd/controller" || r.Provider != "aws" ||
		!strings.HasSuffix(r.LDFlags, "operator.Version=1.14.0") {
		t.Errorf("karpenter-aws: %+v", r)
	}
	_, err = Known(builds.Ref{Name: "karpenter-aws", Version: "1.14"})
	wantError(t, err, "karpenter-aws@1.14 is not a release", "karpenter-aws@v1.14.0")
	r, err = Known(builds.Ref{Name: "aws-ccm", Version: "v1.34.3"})
	ok(t, err)
	if r.Module != "k8s.io/cloud-provider-aws" || r.Package != "./cmd/aws-cloud-controller-manager" || r.Provider != "aws" || len(r.Assets) != 1 ||
		!strings.HasSuffix(r.LDFlags, "version.gitVersion=v1.34.3") {
		t.Errorf("aws-ccm: %+v", r)
	}
	_, err = Known(builds.Ref{Name: "aws-ccm", Version: "1.34.3"})
	wantError(t, err, "aws-ccm@1.34.3 is not a release", "aws-ccm@v1.34.3")
	r, err = Known(builds.Ref{Name: "descheduler", Version: "v0.36.0"})
	ok(t, err)
	if r.Module != "sigs.k8s.io/descheduler" || r.Package != "./cmd/descheduler" || r.Provider != "" || len(r.Assets) != 1 {
		t.Errorf("descheduler: %+v", r)
	}
	_, err = Known(builds.Ref{Name: "descheduler", Version: "0.36"})
	wantError(t, err, "descheduler@0.36 is not a release", "descheduler@v0.36.0")
	r, err = Known(builds.Ref{Name: "kubernetes", Version: "v1.33.5"})
	ok(t, err)
	if r.Module != "k8s.io/kubernetes" || !r.Plain || len(r.Faces) != 4 || !strings.Contains(r.LDFlags, "component-base/version.gitVersion=v1.33.5") || r.sealed != "" {
		t.Errorf("another Kubernetes: %+v", r)
	}
	_, err = Known(builds.Ref{Name: "kubernetes", Version: "v1.30.14"})
	wantError(t, err, "release v1.30.14 of Kubernetes is too old", "is v1.31")
	for _, version := range []string{"1.33.5", "v1.33", "stable"} {
		_, err = Known(builds.Ref{Name: "kubernetes", Version: version})
		wantError(t, err, "kubernetes@"+version+" is not a release", "kubernetes@v1.3")
	}
	_, err = Known(builds.Ref{Name: "kubernetes-node", Version: "v1.33.5"})
	wantError(t, err, "kubernetes-node@v1.33.5", builds.Node.String())
	if _, err = Known(builds.Ref{Name: "cluster-autoscaler", Version: "1.32.7"}); !errors.As(err, new(*UnknownError)) {
		t.Errorf("cluster-autoscaler: %v", err)
	}
	wantError(t, err, "https://github.com/kubernetes/autoscaler --ref cluster-autoscaler-1.32.7 --tags CLOUD")
	_, err = Known(builds.Ref{Name: "my-controller", Version: "v1"})
	wantError(t, err, "karpenter", "kubernetes", "--source")

	if r := FromSource(builds.Ref{Name: "karpenter", Version: "mine"}, "/src"); r.Dir != "/src" || r.Module != "" || r.Package != "./kwok" || len(r.Assets) == 0 {
		t.Errorf("karpenter from source: %+v", r)
	}
	if r := FromSource(builds.Ref{Name: "karpenter-aws", Version: "mine"}, "/src"); r.Dir != "/src" || r.Module != "" || r.Provider != "aws" {
		t.Errorf("Karpenter for AWS of a checkout: %+v", r)
	}
	if r := FromSource(builds.Ref{Name: "aws-ccm", Version: "mine"}, "/src"); r.Package != "./cmd/aws-cloud-controller-manager" || r.Provider != "aws" {
		t.Errorf("the controller manager of AWS of a checkout: %+v", r)
	}
	if r := FromSource(builds.Ref{Name: "cluster-api", Version: "mine"}, "/src"); r.Dir != "/src" || r.Module != "" || len(r.Assets) == 0 {
		t.Errorf("Cluster API of a checkout: %+v", r)
	}
	if r := FromSource(builds.Ref{Name: "cluster-autoscaler", Version: "mine"}, "/src"); r.Dir != "/src" || r.Package != "" {
		t.Errorf("cluster-autoscaler from source: %+v", r)
	}
}

// The recipe and the nested module speak of the same release.
func TestKubernetesVersion(t *testing.T) {
	r, err := Known(builds.Kubernetes)
	ok(t, err)
	b, err := os.ReadFile(filepath.Join(r.Dir, "go.mod"))
	ok(t, err)
	mod, err := modfile.Parse("go.mod", b, nil)
	ok(t, err)
	found := map[string]string{}
	for _, require := range mod.Require {
		found[require.Mod.Path] = require.Mod.Version
	}
	if got := found["k8s.io/kubernetes"]; got != builds.Kubernetes.Version {
		t.Errorf("sim/kubernetes builds %s, the recipe says %s", got, builds.Kubernetes)
	}
	staging := "v0" + strings.TrimPrefix(builds.Kubernetes.Version, "v1")
	for _, replace := range mod.Replace {
		if replace.New.Version != staging {
			t.Errorf("%s is at %s, not at %s", replace.Old.Path, replace.New.Version, staging)
		}
	}
	for _, flag := range []string{"k8s.io/component-base/version.gitVersion=v1.36.3", "k8s.io/client-go/pkg/version.gitMinor=36"} {
		if !strings.Contains(r.LDFlags, flag) {
			t.Errorf("no %s in %s", flag, r.LDFlags)
		}
	}
}

func TestRoot(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module nodestorm\n")
	below := filepath.Join(root, "a", "b")
	write(t, filepath.Join(below, "go.mod"), "module nodestorm/a/b\n")
	t.Setenv(EnvRoot, "")
	t.Chdir(below)
	if got, err := Root(); err != nil || got != root {
		t.Errorf("Root below a nested module = %s, %v", got, err)
	}
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	_, err := Root()
	wantError(t, err, elsewhere, EnvRoot)
	t.Setenv(EnvRoot, root)
	if got, err := Root(); err != nil || got != root {
		t.Errorf("Root from the environment = %s, %v", got, err)
	}
	t.Setenv(EnvRoot, elsewhere)
	_, err = Root()
	wantError(t, err, EnvRoot, elsewhere)
}

// TestKubernetesFaces runs the real thing, where it has been built.
func TestKubernetesFaces(t *testing.T) {
	s, err := Open("")
	ok(t, err)
	k, err := s.Get(builds.Kubernetes)
	if errors.As(err, new(*NotFoundError)) || errors.As(err, new(*StaleError)) {
		t.Skip(err)
	}
	ok(t, err)
	for face, want := range map[string]string{
		"kube-apiserver":          "Kubernetes v1.36.3",
		"kube-controller-manager": "Kubernetes v1.36.3",
		"kube-scheduler":          "Kubernetes v1.36.3",
		"etcd":                    "etcd Version: 3.6.8",
		"kubelet":                 "Kubernetes v1.36.3",
		"kubectl":                 "Client Version: v1.36.3",
	} {
		args := []string{"--version"}
		if face == "kubectl" {
			args = []string{"version", "--client"}
		}
		for _, cmd := range []*exec.Cmd{
			exec.Command(filepath.Join(k.Bin(), face), args...),
			exec.Command(k.Binary(), append([]string{face}, args...)...),
		} {
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("%v: %v, %q", cmd.Args, err, out)
			}
		}
	}
	out, err := exec.Command(k.Binary(), "kube-proxy").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, kubelet") {
		t.Errorf("no such face: %v, %q", err, out)
	}
}

// A release takes its libraries from their modules, and without its examples.
func TestStagingFromModules(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), `module k8s.io/kubernetes

go 1.24.0

require (
	k8s.io/api v0.0.0
	k8s.io/sample-controller v0.0.0
	k8s.io/utils v0.1.0
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/sample-controller => ./staging/src/k8s.io/sample-controller
	k8s.io/utils => k8s.io/utils v0.2.0
)
`)
	ok(t, stagingFromModules(root, "v1.33.5"))
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	ok(t, err)
	mod, err := modfile.Parse("go.mod", text, nil)
	ok(t, err)
	replaced := map[string]string{}
	for _, r := range mod.Replace {
		replaced[r.Old.Path] = r.New.String()
	}
	want := map[string]string{"k8s.io/api": "k8s.io/api@v0.33.5", "k8s.io/utils": "k8s.io/utils@v0.2.0"}
	if !maps.Equal(replaced, want) || len(mod.Require) != 2 {
		t.Errorf("%s", text)
	}
	if nested, err := nestedModules(root); err != nil || len(nested) > 0 {
		t.Errorf("folders are left: %v, %v", nested, err)
	}
}
