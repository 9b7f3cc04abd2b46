package scene

import (
	"context"
	"io/fs"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/sentences/words"
)

// Role is what a sentence can be said as.
type Role int

// The roles. A sentence that is Either is a Given and a When.
const (
	Given Role = 1 << iota
	When
	Then
	Either = Given | When
)

func (r Role) String() string {
	switch r {
	case Given:
		return "Given"
	case When:
		return "When"
	}
	return "Then"
}

// Sentence is a row of the table: what a step can say, and what it does.
type Sentence struct {
	Role Role
	// Words are how it is said, see package words. One that ends with a colon quotes a text, or has a table below it.
	Words string
	Table bool
	// Unchecked sentences have numbers and durations of which Act says itself what is wrong with them.
	Unchecked bool
	// Begins is for those that bring the cluster. All others need one.
	Begins bool
	// Needs are what else has to be there before it acts.
	Needs []Need
	// Wants says what has to be known of a step before its world is there. Optional.
	Wants func(words.Args) (Wants, error)
	// Check finds what is wrong with the arguments, as far as that is known without a world. Optional.
	Check func(*Feature, words.Args) error
	// Act does what the sentence says.
	Act func(context.Context, *Scene, words.Args) error
}

// Sentences are a group of sentences that the same worlds have.
type Sentences struct {
	// Worlds are where they have a meaning, Records what they leave in the history.
	Worlds, Records string
	Rows            []Sentence
}

// Need is something that has to be there before a sentence acts.
type Need struct {
	There func(*Scene) bool
	// Missing says how to get it.
	Missing Missing
}

// Missing is that something is not there which a sentence needs.
type Missing string

func (m Missing) Error() string { return string(m) }

var (
	remedy = regexp.MustCompile(`: say ("[^"]+"(?:, "[^"]+")*(?: or "[^"]+")?)`)
	given  = regexp.MustCompile(`"([^"]+)"`)
)

// Givens are the steps that bring what is missing, any of them: those that it says.
func (m Missing) Givens() (all []string) {
	if says := remedy.FindStringSubmatch(string(m)); says != nil {
		for _, of := range given.FindAllStringSubmatch(says[1], -1) {
			all = append(all, of[1])
		}
	}
	return all
}

// Meet finds a need that is not met.
func (s *Scene) Meet(needs ...Need) error {
	for _, n := range needs {
		if !n.There(s) {
			return n.Missing
		}
	}
	return nil
}

// What sentences of several kinds need.
var (
	Cluster = Need{func(s *Scene) bool { return s.World != nil }, `there is no cluster yet: say "a cluster" before`}
	Kubelet = Need{func(s *Scene) bool { return s.Kubelets != nil },
		`no kubelet can join: say "a cluster that kubelets can join" in place of "a cluster"`}
	NoCloud  = Need{func(s *Scene) bool { return s.Cloud == nil }, "the scenario has a cloud already"}
	AnyCloud = CloudIs[Cloud](`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups", ` +
		`"an AWS region" or "Cluster API v1.9.5" before`)
	// CloudToBreak is one whose calls can fail.
	CloudToBreak = CloudIs[Cloud](`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups", ` +
		`"a cloud of instances" or "an AWS region" before`)
	TargetRuns = Need{func(s *Scene) bool { return s.World != nil && runs(s) }, `the target does not run yet: say "Karpenter" or ` +
		`"Cluster Autoscaler" in a Given before, or which program is meant: the program "kube-scheduler"`}
)

func runs(s *Scene) bool {
	return len(s.World.Replicas(s.Rig.Target.Program())) > 0
}

// CloudIs is the need for a cloud of a kind.
func CloudIs[T any](missing Missing) Need {
	return Need{func(s *Scene) bool { _, is := s.Cloud.(T); return is }, missing}
}

// CloudOf is the scenario's cloud, which is of that kind where the sentence needs it, see CloudIs.
func CloudOf[T any](s *Scene) T { return s.Cloud.(T) }

// ProgramIs is the need for a program of a kind.
func ProgramIs[T any](missing Missing) Need {
	return Need{func(s *Scene) bool { _, is := find[T](s); return is }, missing}
}

// ProgramOf is the scenario's program of that kind, which is there where the sentence needs it, see ProgramIs.
func ProgramOf[T any](s *Scene) T {
	p, _ := find[T](s)
	return p
}

func find[T any](s *Scene) (found T, is bool) {
	for _, p := range s.Programs {
		if found, is = p.(T); is {
			return found, true
		}
	}
	return found, false
}

// EachProgram are the scenario's programs of a kind.
func EachProgram[T any](s *Scene) (all []T) {
	for _, p := range s.Programs {
		if of, is := p.(T); is {
			all = append(all, of)
		}
	}
	return all
}

// Wants are what has to be known of a step before its world is there.
type Wants struct {
	System          string       // the cloud that a build of Cluster Autoscaler has to serve
	Releases, Parts []builds.Ref // that the store has to have: releases that a step names, and parts of ours
	Versions        []string     // of the target, that the store has to have beside the build under test
	Before          int          // the store has to have the release that is so many before the target; 0: none
	Change          *Change      // of the release that runs as the target: Versions' first, or Before, or the build under test
	Plane           *Plane       // of the release of Kubernetes that the control plane is of
	Kubelets        string       // the release of Kubernetes that simulated kubelets are of from then on
	Flags, Unlisted []string     // that the target is given, and those that it may not know
	Env             []string     // the names of the variables that it is given
	Gates           []string     // the feature gates that it is given, by a variable or a flag
	Nodes           int          // simulated nodes that a step asks for, and machines that groups begin with
	Replicas        int          // processes of the target at once; 0: the step does not say
	Marked          bool         // some group has labels or taints
	Breaks          []string     // the programs whose ways to the API server it breaks, as rules name them
}

// Feature is what is known of a scenario as its steps are checked, one after the other.
type Feature struct {
	Beside fs.FS
	// Runs are the programs that bring kinds of their own.
	Runs map[string]bool
	// Target is the program that runs as the target, empty before it does.
	Target  string
	Awaited bool
	// Grouped says that it has node groups.
	Grouped bool
	// Launches says that its cloud launches machines that are as "machines that register …" says.
	Launches bool
	// Older says that another release runs first in place of the build under test, Upgraded that one took the target's place.
	Older, Upgraded bool
	// OlderPlane is the release of Kubernetes that the control plane is of until it is upgraded; empty: the run's own.
	OlderPlane string
	// Owed are asked when all steps have been checked: each finds out whether the step that added it says something that
	// nothing in the scenario makes true.
	Owed []func(*Feature) error
	// Defined are the kinds that objects of the scenario define.
	Defined map[schema.GroupKind]bool
}
