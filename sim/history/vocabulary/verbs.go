package vocabulary

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"nodestorm/sim/history"
)

// said are the verbs of each source, with the resources of what their events are about: "" is of an event about nothing.
// What calls to the API server are about has a list of its own, and calls to clouds come by AddCalls.
var said = map[history.Source]map[string][]string{
	history.API: {"create": nil, "update": nil, "patch": nil, "delete": nil, "deletecollection": nil},
	history.Cloud: {
		"created": {Instances, Reservations}, "ended": {Reservations}, "reserved": {Instances},
		"starting": {Instances}, "running": {Instances}, "stopping": {Instances}, "off": {Instances},
		"rebuilding": {Instances}, "interrupted": {Instances}, "impaired": {Instances},
		"maintenance": {Instances}, "deleting": {Instances}, "failed": {Instances, NodeGroups},
		"deleted": {Instances, NodeGroups}, "target": {NodeGroups},
		"unknown": {""}, // a call that its API does not have
	},
	history.Node: {
		"register": {Nodes}, "ready": {Nodes}, "notready": {Nodes}, "shutdown": {Nodes}, "deleted": {Nodes}, "taint": {Nodes},
		"untaint": {Nodes},
		"running": {Pods}, "waiting": {Pods}, "terminated": {Pods}, "started": {Pods}, "exited": {Pods},
		"boot": {Instances, Machines}, "halt": {Instances, Machines}, "nojoin": {Instances},
		"start": {Machines}, "stop": {Machines}, "exit": {Machines},
	},
	history.Fault: each(history.FaultVerbs(), nil),
	history.Logged: {
		"log": {""}, "loop": {""}, "error": {""}, "race": {""}, "plan": {NodeGroups}, "target": {NodeGroups}, "kept": {NodeGroups},
	},
	history.Step: each([]string{"passed", "failed", "undefined", "pending", "skipped", "ambiguous", "interrupted", "undecided"},
		[]string{""}),
	history.Harness: {
		history.Ended: {""}, history.Unreadable: {""}, history.Died: {""}, history.MayMiss: {""}, history.Rounds: {""},
		history.Prices: {""}, history.Used: {""}, history.Measured: {history.Metrics}, history.Unmeasured: {history.Metrics},
		"broken": {""}, "part": {""}, "refused": {"hosts"}, history.Uninvited: {history.Listeners},
		history.Killed: {history.Programs}, history.Stopped: {history.Programs}, history.Started: {history.Programs},
		history.Corrupted: nil,
		history.Unhealthy: {history.Programs}, history.Installed: {history.Programs}, history.Upgraded: {history.Programs},
		"apply": {"manifests"}, "label": {Nodes}, "taint": {Nodes}, "rollout": {"deployments", "daemonsets", "statefulsets"},
		"asked kubelets": {"daemonsets"}, "logs": {Pods}, "metrics": {Nodes},
	},
	history.Clock: {history.Pace: {""}},
}

func each(verbs, about []string) map[string][]string {
	m := map[string][]string{}
	for _, verb := range verbs {
		m[verb] = about
	}
	return m
}

var calls struct {
	sync.Mutex
	added []func() []string
	known map[string][]string // with what they are about
}

// AddCalls has events be of the calls of a cloud, by the names that its history has: "GET /servers" or "LaunchInstance".
// Who knows no cloud takes any verb of their events for one.
func AddCalls(names func() []string) {
	calls.Lock()
	defer calls.Unlock()
	calls.added, calls.known = append(calls.added, names), nil
}

// callsKnown are all that were added; nil if none were.
func callsKnown() map[string][]string {
	calls.Lock()
	defer calls.Unlock()
	if calls.known == nil && len(calls.added) > 0 {
		calls.known = map[string][]string{}
		for _, names := range calls.added {
			for _, name := range names() {
				calls.known[name] = aboutCall(name)
			}
		}
	}
	return calls.known
}

// aboutCall is what a call is about: the first part of its path, where it has one, and else what the cloud keeps.
func aboutCall(name string) []string {
	_, path, is := strings.Cut(name, " /")
	if !is {
		return []string{"", Instances, NodeGroups}
	}
	resource, _, _ := strings.Cut(path, "/")
	return []string{resource}
}

// IsCall reports whether an event of a cloud with that verb is of a call. The others are of what became of what it keeps. A call
// that was never answered has no code.
func IsCall(verb string) bool {
	_, became := said[history.Cloud][verb]
	return !became
}

// looks are how the names of calls begin that change nothing in a cloud.
var looks = []string{"GET ", "Describe", "Get", "List", "Receive"}

// OnlyLooks reports whether a call of a cloud, by its name, changes nothing there.
func OnlyLooks(verb string) bool {
	return slices.ContainsFunc(looks, func(begin string) bool { return strings.HasPrefix(verb, begin) })
}

// Verbs are what events of a source say; nil if that is not known.
func Verbs(source history.Source) []string {
	verbs := slices.Sorted(maps.Keys(said[source]))
	if source != history.Cloud {
		return verbs
	}
	known := callsKnown()
	if known == nil {
		return nil
	}
	return append(verbs, slices.Sorted(maps.Keys(known))...)
}

// ResourcesOf are the resources of what events of the source and verb are about, "" among them if that may be nothing; nil
// if it may be anything. Without a verb they are those of all verbs.
func ResourcesOf(source history.Source, verb string) (resources []string) {
	if about, is := said[source][verb]; is {
		return about
	}
	if source == history.Cloud && callsKnown() != nil {
		if about, is := callsKnown()[verb]; is {
			return about
		}
	}
	if verb != "" {
		return nil
	}
	for _, verb := range Verbs(source) {
		about := ResourcesOf(source, verb)
		if about == nil {
			return nil
		}
		resources = append(resources, about...)
	}
	slices.Sort(resources)
	return slices.Compact(resources)
}

// HasCode reports whether events of a source can have a status.
func HasCode(source history.Source) bool {
	return slices.Contains([]history.Source{history.API, history.Cloud, history.Harness}, source)
}

// HasNamespace reports whether what events of a source are about can be in a namespace.
func HasNamespace(source history.Source) bool {
	return slices.Contains([]history.Source{history.API, history.Node, history.Fault, history.Harness}, source)
}
