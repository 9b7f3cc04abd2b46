// Package scenarios is the catalogue: one record per documented failure, as YAML
// in a folder per system, and the types that check them. A Gherkin scenario in
// features has the story that a record belongs to.
package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"nodestorm/sim/history/checker"
)

// Record is one documented failure, or the cure of one.
type Record struct {
	// ID is the name of the record and the tag of its scenario: words of small letters and digits with dashes between them, 80
	// characters at most. In the built-in catalogue it begins with the system. Required.
	ID string `json:"id"`
	// Title says in a few words what the software does wrong. Required.
	Title string `json:"title"`
	// System is the cloud or the part of a cluster that the failure is about. In the built-in catalogue it is the folder of
	// the record and of its feature, too. Required.
	System string `json:"system"`
	// Autoscaler is the program that fails: targets are builds of it. Required.
	Autoscaler string `json:"autoscaler"`
	// Cloud is the provider that a build has to serve, of records whose system leaves that open: Karpenter's, where only one
	// of them shows the failure (kwok comes with Karpenter), and Cluster Autoscaler's in the system bootstrap.
	Cloud string `json:"cloud,omitempty"`
	// Race says that the failure is a data race: it is verified on builds with Go's race detector, which alone show it.
	Race bool `json:"race,omitempty"`
	// Issue is where the failure is documented, as owner/repository#number. The built-in catalogue demands it.
	Issue string `json:"issue"`
	// Fix is the change that ended the failure, as owner/repository#number. Without it, no fix is known.
	Fix string `json:"fix,omitempty"`
	// Kubernetes is the range of releases of Kubernetes on which the failure can be seen. Without it, all can show it.
	Kubernetes Range `json:"kubernetes,omitempty"`
	// Affected is the range of releases that show the failure. With "none" the record is a control case, which no release
	// shows. The built-in catalogue demands it.
	Affected Range `json:"affected"`
	// Fixed is the range of releases that do not show the failure any more. The built-in catalogue demands it.
	Fixed Range `json:"fixed"`
	// Releases are the versions to verify on, if not those that are chosen by the ranges and by releases.yaml of the catalogue.
	Releases []string `json:"releases,omitempty"`
	// Targets are the builds to verify on, with the verdict that is expected of each. Without targets and without affected and
	// fixed, a record expects nothing.
	Targets []Target `json:"targets"`
	// Feature is the path of the feature: below the folder of the record, and in the built-in catalogue below features/. Required.
	Feature string `json:"feature"`
	// Summary says what users see. The built-in catalogue demands it.
	Summary string `json:"summary"`
	// Mechanism says why it happens, as far as the sources show it. The built-in catalogue demands it.
	Mechanism string `json:"mechanism"`
	// Notes say what to know of a replay, for example where it differs from the issue.
	Notes string `json:"notes,omitempty"`
	// Trigger is what made the failure possible: a fault took effect, a taint was there, a rollout began. It has to be in
	// the history on affected and on fixed releases: a run without it proves nothing. Required.
	Trigger checker.Statement `json:"trigger"`
	// Work is what a target must have done for its health to mean anything. What it logs is no work. If the right thing is to
	// leave all as it is, work can be the event that it writes to the cluster (resource: events), or what it did before (since:
	// start). Required.
	Work Work `json:"work"`
	// Symptom is what the failure looks like in the history of a run. A sequence has to end with something that happened.
	// Required.
	Symptom checker.Statement `json:"symptom"`
	// Elsewhere is what the failure looks like in runs of other scenarios, such as those of a search, which have other names,
	// other demand and more faults. It counts only in a run that broke what Breaks names. Without it, it is the
	// symptom, with any names.
	Elsewhere *checker.Statement `json:"elsewhere,omitempty"`
	// Invariants must hold from the start of a run to its end, on affected and fixed releases. A broken one makes a run
	// failed, unless Breaks names its statement and the symptom has what breaks it.
	Invariants []checker.Statement `json:"invariants,omitempty"`
	// Breaks are the invariants that the failure breaks: statements of Invariants, and names
	// of those of every run.
	Breaks []string `json:"breaks,omitempty"`
	// Known are the invariants of every run that another documented failure breaks in this scenario, also where the run is
	// healthy.
	Known []Known `json:"known,omitempty"`
	// Kin are the IDs of other records whose failing runs show this symptom as well, since it is the same failure. In any
	// other run the symptom must not be found. Twins need not be named.
	Kin []string `json:"kin,omitempty"`

	twins []string // kin that no record names, see Written

	// line is where the scenario of a feature begins that has no record; zero for others.
	line int
	// otherRows are the lines of those of its outline that it is not.
	otherRows []int
	bare      bool
}

// Unrecorded stands for the record of a scenario that has none: nothing is expected of
// it anywhere, and nothing documented is looked for in its runs.
func Unrecorded(id, autoscaler string) Record {
	return Record{ID: id, Autoscaler: autoscaler, bare: true}
}

// SetLine has the record stand for the scenario that begins at a line of its feature. The others
// are lines of the rows of its outline that it is not.
func (r *Record) SetLine(line int, others []int) { r.line, r.otherRows = line, others }

// Bare reports whether the scenario has no record, and this only stands for one.
func (r *Record) Bare() bool { return r.bare }

// Scenario is how godog finds the scenario below a root of features: by a path, and by
// tags if they are not empty.
func (r *Record) Scenario() (path, tags string) {
	if r.line > 0 {
		return r.Feature + ":" + strconv.Itoa(r.line), ""
	}
	return r.Feature, "@" + r.ID
}

// Target is a release and what is expected of it.
type Target struct {
	// Name is the autoscaler and the version, as autoscaler@version. Required.
	Name string `json:"name"`
	// Expected is the verdict that the record promises. Required.
	Expected Expectation `json:"expected"`
}

// Expectation is a verdict that a record promises.
type Expectation string

// The expectations.
const (
	Reproduced Expectation = "reproduced"
	Healthy    Expectation = "healthy"
)

// Autoscalers are the names of targets that records may have. Kubespray is none: it
// installs clusters, in an order that can be wrong. Neither is Cluster API, whose machines
// an autoscaler asks for, nor the cloud controller manager of AWS, which autoscalers rely on.
var Autoscalers = []string{"cluster-autoscaler", "karpenter", "karpenter-aws", "cluster-api", "aws-ccm", "vpa-recommender", "kubespray"}

// Range is a set of releases: constraints such as ">=v1.0.0, <v1.7.0", of which
// "||" joins several, or "none".
type Range string

// None is the range without any release.
const None Range = "none"

// Has reports whether the range has the release.
func (r Range) Has(version string) (bool, error) {
	v, err := semver.NewVersion(version)
	if err != nil {
		return false, fmt.Errorf("%q is no version (want for example v1.6.4)", version)
	}
	if r == None {
		return false, nil
	}
	constraints, err := r.constraints()
	if err != nil {
		return false, err
	}
	return constraints.Check(v), nil
}

// parsed are the ranges met so far: a catalogue asks the few that it has about every release.
var parsed sync.Map // of Range to *semver.Constraints

func (r Range) constraints() (*semver.Constraints, error) {
	if known, is := parsed.Load(r); is {
		return known.(*semver.Constraints), nil
	}
	constraints, err := semver.NewConstraint(string(r))
	if err != nil {
		return nil, fmt.Errorf(`%q is no range of releases (want "none" or for example ">=v1.0.0, <v1.7.0")`, r)
	}
	parsed.Store(r, constraints)
	return constraints, nil
}

// bound is a release from which on a range has releases.
var bound = regexp.MustCompile(`>=\s*(v?[0-9.]+)`)

// Began is the release with which the range began that has a version, if that release is before it and after another version:
// of those that the range names the last that is not after it. It is empty if there is none such.
func (r Range) Began(after, version string) (began string) {
	before, err := semver.NewVersion(after)
	if has, wrong := r.Has(version); err != nil || wrong != nil || !has {
		return ""
	}
	of := semver.MustParse(version)
	for _, m := range bound.FindAllStringSubmatch(string(r), -1) {
		v, err := semver.NewVersion(m[1])
		if err != nil || !v.GreaterThan(before) || v.GreaterThan(of) {
			continue
		}
		before, began = v, m[1]
	}
	// mutant: what came with a release itself came before
	if before.Equal(of) {
		return ""
	}
	return began
}

// Control reports whether no release shows the failure: the record is of a story like one
// that fails, in which all goes well.
func (r *Record) Control() bool {
	shows := func(t Target) bool { return t.Expected == Reproduced }
	return !r.bare && (r.Affected == None || r.Affected == "") && !slices.ContainsFunc(r.Targets, shows)
}

// Version is the part of the target's name after the @.
func (t Target) Version() string {
	_, version, _ := strings.Cut(t.Name, "@")
	return version
}

// Expected is what the record promises for a target: what Targets says, or what
// the ranges say of other releases of the autoscaler. It is empty for a version
// that is in no range, such as a branch.
func (r *Record) Expected(target string) Expectation {
	for _, t := range r.Targets {
		if t.Name == target {
			return t.Expected
		}
	}
	name, version, _ := strings.Cut(target, "@")
	if name != r.Autoscaler {
		return ""
	}
	if affected, err := r.Affected.Has(version); err == nil && affected {
		return Reproduced
	}
	if fixed, err := r.Fixed.Has(version); err == nil && fixed {
		return Healthy
	}
	return ""
}
