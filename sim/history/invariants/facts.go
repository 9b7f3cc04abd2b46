package invariants

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fact is what judges have to know of a program under test and of its cloud, and what no
// event says. A run carries its facts.
type Fact string

// The facts.
const (
	// Runs is of a program that is a process of the world: the history has its end, its
	// panics and its races.
	Runs Fact = "runs"
	// LaunchesForGroups is of an autoscaler of groups, the log of which names the group that it
	// plans to raise, and the pods that it does so for.
	LaunchesForGroups Fact = "buys for groups" // as stored runs have it
	// MakesClaims is of an autoscaler that makes NodeClaims for batches of pods, which its log
	// names.
	MakesClaims Fact = "makes NodeClaims"
	// LimitsDeclared is of groups of which the settings of the program, or steps of the
	// scenario, say the minimum and the maximum.
	LimitsDeclared Fact = "limits are declared"
	// ScalesObjects is of groups that are objects of the API server: the program writes their
	// scale, and a controller chooses the machine that goes.
	ScalesObjects Fact = "scales objects"
	// LeavesPaused is of a program that does not scale groups that are paused.
	LeavesPaused Fact = "leaves paused groups alone"
	// CallsCreate is of a cloud of which one call creates one server: where none was
	// created, the call has failed.
	CallsCreate Fact = "each call creates a server"
	// CountsServers is of a program that takes the size of a group from the cloud's list of
	// servers.
	CountsServers Fact = "counts the servers in the cloud's list"
)

// Subject is the program that a run is about.
type Subject struct {
	// Actor is its name in the history.
	Actor string
	// Facts are what is so of it and of its cloud.
	Facts []Fact
	// Settings are the arguments and variables it was started with, as --name=value.
	Settings []string
}

// hasFact reports whether the fact is so.
func (s Subject) hasFact(fact Fact) bool { return slices.Contains(s.Facts, fact) }

// setting is the value of a setting, or "".
func (s Subject) setting(name string) string {
	for _, setting := range s.Settings {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// lasts is the duration that a setting has, or the default.
func (s Subject) lasts(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(s.setting(name)); err == nil {
		return d
	}
	return otherwise
}

// share is the number that a setting has, or the default.
func (s Subject) share(name string, otherwise float64) float64 {
	if n, err := strconv.ParseFloat(s.setting(name), 64); err == nil {
		return n
	}
	return otherwise
}
