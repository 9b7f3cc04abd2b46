package scenarios

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"nodestorm/sim/history/invariants"
)

// subject is what is so of the builds of a program, whatever the cloud, and of those for
// one cloud.
type subject struct {
	name  string
	facts []invariants.Fact
	on    []onCloud
}

type onCloud struct {
	provider string
	facts    []invariants.Fact
}

// subjects are the programs under test that judges know something of.
var subjects = []subject{
	{"cluster-autoscaler", []invariants.Fact{invariants.Runs, invariants.LaunchesForGroups}, []onCloud{
		{"hetzner", []invariants.Fact{invariants.LimitsDeclared, invariants.CallsCreate, invariants.CountsServers}},
		{"clusterapi", []invariants.Fact{invariants.LimitsDeclared, invariants.ScalesObjects}},
	}},
	{karpenter, []invariants.Fact{invariants.Runs, invariants.MakesClaims}, nil},
	{karpenterAWS, []invariants.Fact{invariants.Runs, invariants.MakesClaims}, nil},
	{"cluster-api", []invariants.Fact{invariants.Runs}, nil},
	{awsCCM, []invariants.Fact{invariants.Runs}, nil},
	{"kubespray", []invariants.Fact{invariants.Runs}, nil},
}

// leavesPaused is the first release of Cluster Autoscaler that does not scale paused groups.
// Of what is no release that is not known, and expected.
var leavesPaused = semver.MustParse("1.36.0")

// FactsOf are what judges have to know of a build of a program for a cloud. Runs carry them;
// older ones, which do not, have those of today.
func FactsOf(program, provider, version string) []invariants.Fact {
	at := slices.IndexFunc(subjects, func(s subject) bool { return s.name == program })
	if at < 0 {
		return nil
	}
	facts := slices.Clone(subjects[at].facts)
	for _, c := range subjects[at].on {
		if c.provider == provider {
			facts = append(facts, c.facts...)
		}
	}
	if slices.Contains(facts, invariants.ScalesObjects) {
		if is, err := semver.NewVersion(version); err != nil || !is.LessThan(leavesPaused) {
			facts = append(facts, invariants.LeavesPaused)
		}
	}
	return facts
}

// SubjectsOf are the programs that an invariant is about, as PROGRAM, or PROGRAM/PROVIDER of
// builds for one cloud.
func SubjectsOf(i invariants.Invariant) (names []string) {
	for _, s := range subjects {
		if i.AppliesTo(invariants.Subject{Facts: s.facts}) {
			names = append(names, s.name)
			continue
		}
		for _, c := range s.on {
			if i.AppliesTo(invariants.Subject{Facts: c.facts}) {
				names = append(names, s.name+"/"+c.provider)
			}
		}
	}
	return names
}
