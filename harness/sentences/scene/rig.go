package scene

import (
	"context"
	"fmt"
	"io/fs"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/sim/fault"
	"nodestorm/sim/history/checker"
)

// Rig is what a scenario runs on.
type Rig struct {
	// World is how to start the scenario's world; the steps add what the
	// scenario says about its cluster.
	World world.Config
	// Machines makes what the instances of the scenario's cloud are; nil: simulated.
	Machines func(context.Context, *world.World) (Machines, error)
	// Target is the build under test.
	Target builds.Target
	// Manifest is how the user runs it; nil means as its documentation has it.
	Manifest *manifest.Container
	// Order is a file with the user's own order of the installer under test; empty
	// means that of its release.
	Order string
	// With are builds of parts of the world to take in place of nodestorm's own.
	With []builds.Target
	// Beside is the folder of the feature, with the files that its steps name.
	Beside fs.FS
	// Symptom is what the world goes on for after a Then has failed.
	Symptom checker.Statement
	// Invariants are judged from the world's start to its end.
	Invariants []checker.Statement
	// Started is called with the world as soon as it is ready.
	Started func(*world.World)
	// Step is called with each step as it begins.
	Step func(text string)
	// Failed is called with what went wrong outside the history: why there is no world,
	// or what could not be ended or written with it.
	Failed func(what string, err error)
	// Ended is called when the scenario is over and before its world stops, with
	// what the target was started with.
	Ended func(settings []string)
}

// Machines are those of a cloud's instances that are none of ours, and to which the faults of
// simulated nodes can be done.
type Machines interface {
	machines.Containers
	// Has reports whether a Node is that of one of them.
	Has(node string) bool
	fault.Injector
}

// Settings are what steps ask for before it starts.
type Settings struct {
	Types    []fakecloud.ServerType // that the cloud has beside its own
	Env      []manifest.Variable    // of the target
	Flags    []string               // of the target, as on a command line
	Unlisted []string               // likewise, which it may not know
	Replicas int                    // how many processes of the target there are; 0: one
}

// ReadBeside reads a file in the folder of a feature.
func ReadBeside(files fs.FS, name string) ([]byte, error) {
	if files == nil {
		return nil, fmt.Errorf("the file %q: the feature is in no folder", name)
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("the file %q beside the feature: %w", name, err)
	}
	return text, nil
}
