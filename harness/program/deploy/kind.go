package deploy

import (
	"context"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
)

// Kind is a program that worlds can have: what is known of it before one is there, and its sentences, of which some
// start it. One that runs is a [scene.Program].
type Kind struct {
	// Name is what its builds are called, and the actor of what it does.
	Name string
	// Check finds what is wrong with how a build is to be run. Nil: there is one way only.
	Check func(context.Context, Request) error
	// CheckKubernetes finds out whether a build can be run on a version of Kubernetes. Nil: all can.
	CheckKubernetes func(t builds.Target, version string) error
	// CheckBeside finds what is wrong with a release that is there beside a target with these variables. Optional.
	CheckBeside func(release builds.Target, env []manifest.Variable) error
	// Manifest is how the Deployment is found by which a user runs it. Nil: it is run by none.
	Manifest *manifest.Options
	// Orders are what installers have in place of builds. Nil: it is built.
	Orders *Orders
	// Sentences are its own.
	Sentences []scene.Sentences
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
	// Known is the text of a release's.
	Known func(version string) ([]byte, error)
	// Load is the text of a user's own, and the files that it has in its folder or below.
	Load func(file string) (text []byte, beside []string, err error)
}
