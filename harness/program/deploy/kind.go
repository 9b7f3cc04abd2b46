package deploy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/strict"
)

// Kind is a program that worlds can have: what is known of it before one is there, and its sentences, of which some
// start it. One that runs is a [scene.Program].
type Kind struct {
	// Name is what its builds are called, and the actor of what it does.
	Name string
	// Check finds what is wrong with how a build is to be run. Nil: there is one way only.
	Check func(context.Context, Request) error
	// CheckReplicas finds out whether this machine can have so many processes of it at once. Nil: any can.
	CheckReplicas func(n int) error
	// CheckKubernetes finds out whether a build can be run on a version of Kubernetes. Nil: all can.
	CheckKubernetes func(t builds.Target, version string) error
	// CheckBeside finds what is wrong with a release that is there beside a target with these variables. Optional.
	CheckBeside func(release builds.Target, env []manifest.Variable) error
	// CheckUpgrade finds out why a release cannot take the place of another one. Optional.
	CheckUpgrade func(from, to builds.Target, left scene.LeftBehind) error
	// Manifest is how the Deployment is found by which a user runs it. Nil: it is run by none.
	Manifest *manifest.Options
	// Breaks are parts of it that can be broken.
	Breaks []scene.Breakable
	// Way is what is needed where rules about the program are for a way to the API server that it has for itself. Nil:
	// they are for the target's.
	Way *scene.Need
	// Orders are what installers have in place of builds. Nil: it is built.
	Orders *Orders
	// Adopts has a Node that the program makes be a simulated machine, as it behaves. Nil: it makes none.
	Adopts func(*scene.Scene, *corev1.Node) (node.Profile, bool)
	// Objects reports whether a kind of objects is its own, and what is wrong if a world does not have it yet: runs says
	// whether the program is there. Nil: it has none.
	Objects func(kind schema.GroupVersionKind, runs bool) (its bool, err error)
	// Sentences are its own, by the worlds that they are for.
	Sentences []Sentences
}

// Sentences are those that act, and Thens that observe.
type Sentences struct {
	scene.Sentences
	Thens []then.Sentence
}

// WithoutCRDs finds out what cannot be left behind by the upgrade of a program that brings no CRDs.
func WithoutCRDs(_, to builds.Target, left scene.LeftBehind) error {
	if err := KeepsLease(to, left); err != nil {
		return err
	}
	if left.CRDs || left.Refused {
		return fmt.Errorf("%s brings no CRDs that could be left behind or refused", to.Ref)
	}
	return nil
}

// KeepsLease finds out that the lease cannot be left behind by the upgrade of a program that always ends in the same way.
func KeepsLease(to builds.Target, left scene.LeftBehind) error {
	if left.Lease {
		return fmt.Errorf("%s does not come in such a way that a lease is left behind: only Karpenter does", to.Ref)
	}
	return nil
}

// NoKind is that a world does not have a kind of objects yet, and how it comes to.
func NoKind(kind schema.GroupVersionKind, how string) error {
	return fmt.Errorf("there is no kind %s of %s yet: %s", kind.Kind, kind.GroupVersion(), how)
}

// MeantFlag is ": did you mean --name?" for a flag that is almost called like one of a program, else empty.
func MeantFlag(name string, known []string) string {
	// mutant: a flag that a build does not have is like none that it has
	if near := strict.Nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean --%s?", near)
	}
	return ""
}

// Request is how a build is to be run.
type Request struct {
	Target   builds.Target
	Provider string // the cloud, as Cluster Autoscaler calls it
	// Manifest is what the user runs; nil: nothing but the program's own.
	Manifest *manifest.Container
	// Flags are the scenario's, as on a command line, and Unlisted those that the build may not know.
	Flags, Unlisted []string
}

// Orders are those of an installer.
type Orders struct {
	// Known is the text of a release's, and the files that it applies, by their names in its folder or below.
	Known func(version string) (text []byte, files map[string][]byte, err error)
	// Load is that of a user's own.
	Load func(file string) (text []byte, files map[string][]byte, err error)
}
