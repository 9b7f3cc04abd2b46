package buildstore

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"nodestorm/harness/builds"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// Recipe says how to build a target: from a module or from a source folder.
type Recipe struct {
	builds.Ref
	// Module is a Go module path, built in the module's own dependency graph.
	// Empty if Dir is given.
	Module string
	// Query is what of Module to build, as go get has it: a version, a tag, a
	// commit. Empty is Ref.Version.
	Query string
	// Dir is a source folder: it or a folder above it has the go.mod. Empty if
	// Module is given. With At it is a git repository: a folder of one, or a URL.
	Dir string
	// At is the tag, branch or commit of the repository to build, whatever is checked
	// out in it. Empty is the folder as it is.
	At string
	// Package is the main package, below the root of the source: "./kwok".
	// Empty is ".".
	Package string
	Tags    []string
	// LDFlags are the linker's, in addition to -s -w.
	LDFlags string
	// Assets are files and folders of the source that the entry keeps too.
	Assets []string
	// Faces are further names the program goes by: links beside it.
	Faces []string
	// Plain leaves the clock out, as the program's own project builds it: it is a guest of
	// virtual time then.
	Plain bool

	// sealed is the module path of a Dir that holds all of its source, go.sum
	// included. Its hash reports whether it has changed; of other folders only a
	// build does.
	sealed string
	// graft is the main package in place of Package, if it is one of ours.
	graft *graft
	// complete makes a copy of Module's source, at its root, one that can be built alone. The go
	// command may then add to its go.mod what else the graft needs.
	complete func(root, version string) error
}

// UnknownError says that a name has no recipe of ours.
type UnknownError struct{ Ref builds.Ref }

func (e *UnknownError) Error() string {
	if from, known := repositories[e.Ref.Name]; known {
		if like := intended(e.Ref); like != "" {
			return fmt.Sprintf("there is no %s; did you mean %s@%s?", e.Ref, e.Ref.Name, like)
		}
		way := append([]string{"nodestorm", "target", "build", e.Ref.String()}, sourceFlags(e.Ref)...)
		return fmt.Sprintf("%s is not built from a Go module but from %s: %s; or add a program with nodestorm target add", e.Ref.Name,
			from.url, oneline.Command(way...))
	}
	return fmt.Sprintf("no recipe for %q: karpenter, karpenter-aws, aws-ccm, descheduler, kueue, vpa-updater, vpa-admission-controller, kubernetes, "+
		"cluster-api, ccm, ccm-vsphere and csr-approver have one; build others with --source DIR or --module PATH, or add a program "+
		"with nodestorm target add", e.Ref.Name)
}

// Known is the recipe of a released target: Karpenter, Cluster API and Kubernetes at any
// version of their modules, our own parts of clusters at that of this build.
func Known(ref builds.Ref) (Recipe, error) {
	switch ref.Name {
	case "karpenter", builds.KarpenterAWS:
		return releasedKarpenter(ref)
	case builds.Kubernetes.Name, builds.Node.Name:
		return kubernetes(ref)
	case "cluster-api":
		return clusterAPI(ref)
	case builds.AWSCCM, builds.Descheduler, builds.Kueue, builds.VPARecommender, builds.VPAUpdater, builds.VPAAdmission:
		return releasedCharted(ref)
	case builds.CCM.Name, builds.CCMVSphere.Name, builds.CSRApprover.Name:
		return part(ref)
	}
	return Recipe{}, &UnknownError{ref}
}

// FromSource is the recipe of a target built from the source folder dir. What
// is known of ref.Name is filled in; main package, tags and provider are the
// caller's to change.
func FromSource(ref builds.Ref, dir string) Recipe {
	r := Recipe{Ref: ref}
	if _, is := karpenters[ref.Name]; is {
		r = karpenter(ref)
		r.Module = ""
	}
	if ref.Name == "cluster-api" {
		_, err := os.Stat(filepath.Join(dir, builds.Core, "config"))
		r = clusterAPIIn(r, err == nil)
	}
	if of, is := builds.ChartedPrograms[ref.Name]; is {
		r.Provider, r.Package, r.Assets = of.Provider, of.Package, []string{of.Chart}
	}
	if ref.Name == builds.ReleasedCSRApprover || ref.Name == builds.CSRApprover.Name && ref != builds.CSRApprover {
		r.Package = "./cmd/" + builds.ReleasedCSRApprover
	}
	r.Dir = dir
	return r
}

// EnvRoot overrides where the checkout of nodestorm is looked for.
const EnvRoot = "NODESTORM_ROOT"

// Root is the checkout of nodestorm: $NODESTORM_ROOT, or the folder at or above
// the working directory whose go.mod is nodestorm's.
func Root() (string, error) {
	if root := os.Getenv(EnvRoot); root != "" {
		if !IsRoot(root) {
			return "", &NoCheckoutError{fmt.Sprintf("%s=%s is not a checkout of nodestorm: its go.mod is missing or another module's", EnvRoot,
				root)}
		}
		return filepath.Abs(root)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if IsRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", &NoCheckoutError{fmt.Sprintf("no checkout of nodestorm at or above %s: run from one, or name it in %s", wd, EnvRoot)}
		}
	}
}

// NoCheckoutError says that there is no checkout of nodestorm to build its own parts of
// worlds from. What is in the store needs none.
type NoCheckoutError struct{ text string }

func (e *NoCheckoutError) Error() string { return e.text }

// IsRoot reports whether the folder is a checkout of nodestorm.
func IsRoot(dir string) bool {
	mod, err := strict.ReadFile(filepath.Join(dir, "go.mod"), maxText)
	return err == nil && modfile.ModulePath(mod) == "nodestorm"
}

// check finds what is wrong with a recipe before anything starts.
func (r Recipe) check() error {
	if err := r.Ref.Check(); err != nil {
		return err
	}
	if (r.Module == "") == (r.Dir == "") {
		return errors.New("a recipe has a module or a source folder, one of the two")
	}
	if r.At != "" && r.Dir == "" {
		return errors.New("a ref is one of a repository, and none is named")
	}
	return nil
}

func (r Recipe) query() string { return cmp.Or(r.Query, r.Version) }

func (r Recipe) mainPackage() string { return cmp.Or(r.Package, ".") }
