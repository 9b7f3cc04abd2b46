// Package live has what a kind of clouds is to nodestorm: what features say of it, what can fail, how it starts in a world
// and how it is served alone. Kinds are in packages of their own, and package all has all of them.
package live

import (
	"context"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
)

var registered []*Kind

// Register adds a kind of clouds, which it returns. A package calls it where it declares its own.
func Register(k *Kind) *Kind {
	registered = append(registered, k)
	return k
}

// Registered are those of all packages that are imported, in the order of their paths.
func Registered() []*Kind { return registered }

// Kind is a kind of clouds. Of what it lacks, features and faults cannot speak.
type Kind struct {
	// Facts are what is known of it without a world.
	*cloud.Facts
	// Sentences are those about it that act, and Thens those that observe.
	Sentences scene.Sentences
	Thens     []then.Sentence
	// Start has a scenario have such a cloud without a sentence that says so, where builds are for it.
	Start func(context.Context, *scene.Scene) error
	// Calls are the names of its calls, as the history has them (nil: all Operations), and Operations those of its calls and
	// actions, as faults match them. Call is the one that words such as "create servers" mean, with the words of all calls for
	// those that mean none, and Examples are some in a sentence.
	Calls      func() []string
	Operations func() []string
	Call       func(words string) (operation string, known []string)
	Examples   string
	// Catalogue is what can be had, where features can add to it.
	Catalogue func() *fakecloud.Catalogue
	// Variables are those of Cluster Autoscaler that say which labels and taints groups have.
	Variables []string
	// CheckManifest makes sure that a build finds in a user's manifest what it needs to know of the cloud. Known says which
	// variables the build asks for, given those that the scenario sets.
	CheckManifest func(c *manifest.Container, known func(variable string) (bool, error), given []string) error
	// Alone is how it is served without a world.
	Alone *Standalone
}
