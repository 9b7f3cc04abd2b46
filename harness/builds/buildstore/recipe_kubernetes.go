package buildstore

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/sim/strict"
)

// OldestKubernetes is the first minor release that was seen to be a world's control plane.
const OldestKubernetes = "v1.31"

// kubernetes is that of worlds, or another release's control plane.
func kubernetes(ref builds.Ref) (Recipe, error) {
	dir, faces := "sim/kubernetes", []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"}
	switch {
	case ref == builds.Node:
		dir, faces = "harness/world/kind/node", []string{"kubelet", "kubeadm"}
	case ref.Name == builds.Node.Name:
		return Recipe{}, fmt.Errorf("%s: this nodestorm builds %s", ref, builds.Node)
	case ref != builds.Kubernetes:
		return controlPlane(ref)
	}
	root, err := Root()
	if err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Ref:     ref,
		Dir:     filepath.Join(root, filepath.FromSlash(dir)),
		LDFlags: versionFlags(ref.Version, kubernetesVersions...),
		Faces:   faces,
		sealed:  "nodestorm/" + dir,
	}, nil
}

var kubernetesVersions = []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"}

// versionFlags has the linker say in packages what a program is, as the release's own scripts do,
// but for the commit and the date, which a module doesn't carry.
func versionFlags(version string, packages ...string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(version), "v"), ".")
	var ldflags []string
	for _, pkg := range packages {
		for _, set := range []string{"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor, "gitCommit=", "gitTreeState=clean"} {
			ldflags = append(ldflags, "-X "+pkg+"."+set)
		}
	}
	return strings.Join(ldflags, " ")
}

// controlPlane is etcd, kube-apiserver, kube-controller-manager and kube-scheduler of a release,
// out of its own module, without the clock: as guests of a world's time they need no build for
// each Go release and each change of the clock.
func controlPlane(ref builds.Ref) (Recipe, error) {
	if v := ref.Version; semver.Canonical(v) != v || semver.Build(v) != "" {
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref,
			releaseHint(ref, "want a version of three numbers with a v, as in "+builds.Kubernetes.String()))
	}
	if err := CheckKubernetes(ref.Version); err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Ref:      ref,
		Module:   builds.Modules[ref.Name],
		Package:  "./" + graftPackage,
		LDFlags:  versionFlags(ref.Version, kubernetesVersions...),
		Faces:    []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"},
		Plain:    true,
		graft:    controlPlaneGraft(),
		complete: stagingFromModules,
	}, nil
}

// CheckKubernetes reports whether a release can be a world's control plane.
func CheckKubernetes(version string) error {
	if !semver.IsValid(version) || semver.Major(version) != "v1" {
		return fmt.Errorf("%q is no version of Kubernetes, such as %s", version, builds.Kubernetes.Version)
	}
	// mutant: a control plane is never too old
	if semver.Compare(version, OldestKubernetes+".0") < 0 {
		return fmt.Errorf("release %s of Kubernetes is too old: the oldest that was seen to be a world's control plane is %s", version,
			OldestKubernetes)
	}
	return nil
}

//go:embed _controlplane/main.go
var controlPlaneSource embed.FS

func controlPlaneGraft() *graft {
	source, err := fs.Sub(controlPlaneSource, "_controlplane")
	if err != nil {
		panic(err) // it is part of the program
	}
	return &graft{
		name: "control plane in one program", knows: OldestKubernetes + " and later", source: source,
		tags: func(string) ([]string, error) { return nil, nil },
	}
}

// stagingFromModules has the release take the libraries that its repository has in the folder
// staging, which its module lacks, from their modules: v0.33.5 of v1.33.5.
func stagingFromModules(root, version string) error {
	path := filepath.Join(root, "go.mod")
	text, err := strict.ReadFile(path, maxText)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	library := "v0." + strings.TrimPrefix(version, "v1.")
	for _, replace := range append([]*modfile.Replace{}, mod.Replace...) {
		if !strings.HasPrefix(replace.New.Path, "./staging/") {
			continue
		}
		name := replace.Old.Path
		if strings.HasPrefix(name, "k8s.io/sample-") { // examples, of which not all releases are served
			if err := mod.DropReplace(name, replace.Old.Version); err != nil {
				return err
			}
			if err := mod.DropRequire(name); err != nil {
				return err
			}
			continue
		}
		if err := mod.AddReplace(name, replace.Old.Version, name, library); err != nil {
			return err
		}
	}
	mod.Cleanup()
	if text, err = mod.Format(); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
