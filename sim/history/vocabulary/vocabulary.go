// Package vocabulary is what the events of a history say: the details of each source and
// of what form they are, and what people call the things that events are about. Who
// writes an event, who looks for one and who shows one have their words from here. It is
// no list of all events that there can be: a program's log says what it likes.
package vocabulary

import (
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// Form is that of a detail, as it is read from a stored history.
type Form string

// The forms.
const (
	Text    Form = "text"
	Number  Form = "number"
	Truth   Form = "truth"
	List    Form = "list"
	Mapping Form = "mapping"
	// Condition is the text of a condition: its status, and after it the reason if that says more, as in "True" or
	// "Unknown: NodeStatusUnknown".
	Condition Form = "condition"
	// Mark is a truth that is there where it is true, and else missing.
	Mark Form = "mark"
)

// details are those of each source.
var details = map[history.Source]map[string]Form{
	history.API: {
		"about": Text, "added": List, "agent": Text, "applied": Mark, "capacity": Text, "cluster": Text, "conditions": Mapping,
		"cpu": Number, "deleting": Mark, "error": Text, "extended": List, "gracePeriodSeconds": Number, "initialized": Mark,
		"instanceType": Text,
		"issued":       Mark, "memory": Number, "message": Text,
		"node": Text, "nodeName": Text, "nodePool": Text, "owner": Text, "panic": Mark, "providerID": Text, "ready": Condition,
		"reason": Text, "registered": Mark, "removed": List, "replica": Text, "replicas": Number, "samples": Number, "signer": Text,
		"startupTaints": List,
		"subresource":   Text, "taints": List, "type": Text, "unschedulable": Mark, "user": Text,
		"zone": Text,
	},
	history.Node: {
		"adopted": Truth, "again": Truth, "args": Text, "code": Number, "container": Text, "delay": Text, "error": Text,
		"exitCode": Number, "ip": Text, "machineGone": Truth, "message": Text, "node": Text, "program": Text,
		"providerID": Text, "reason": Text, "taint": Text,
	},
	// hourlyEUR is of runs of before prices had a currency.
	history.Cloud: {"asked": Number, "billedSeconds": Number, "capacity": Text, "currency": Text, "dryRun": Mark, "error": Text,
		"from": Number, "group": Text, "hourly": Number, "hourlyEUR": Number, "id": Number, "instances": List, "location": Text,
		"messages": List, "reservation": Text, "template": Text, "to": Number, "type": Text},
	history.Fault: {"fault": Text, "effect": Text, "call": Text, "group": Text, "operation": Text, "deployment": Text,
		"reason": Text, "code": Number, "resourceVersion": Text},
	history.Step:  {"error": Text, "kind": Text, "quoted": Text, "text": Text},
	history.Clock: {"factor": Number, "lagMaxMs": Number, "lagP99Ms": Number, "seconds": Number},
	history.Logged: {
		"NodeClaim": Mapping, "Node": Mapping, "NodePool": Mapping, "Pod": Mapping, "Pods": Text, "at": Text, "capacity-type": Text,
		"controller": Text, "decision": Text, "delta": Number, "disrupted-node-count": Number, "error": Text, "from": Number,
		"idle": Mark, "instance-type": Text, "instance-types": Text, "level": Text, "message": Text, "pod-count": Number, "reason": Text,
		"replacement-node-count": Number, "replica": Text, "requests": Mapping, "taints": List, "to": Number, "zone": Text,
	},
	history.Harness: {
		"becomes": Text, "currency": Text, "error": Text, "failed": Truth, "field": Text, "labels": Mapping, "method": Text, "of": Number,
		"onDemand": Mapping, "port": Text, "was": Text,
		"refused": Truth, "seconds": Number, "sha256": Text, "source": Text, "spot": Mapping, "step": Number, "value": Number,
		"version": Text,
	},
}

// fractions are the numbers that can have a part after the point, and signed those that can be below zero.
var (
	fractions = []string{"factor", "hourly", "hourlyEUR", "lagMaxMs", "lagP99Ms", "seconds", "value"}
	signed    = []string{"delta", "gracePeriodSeconds", "value"}
)

// IsWhole reports whether a detail that is a number is one without a part after the point, and Signed whether it can be below
// zero.
func IsWhole(detail string) bool { return !slices.Contains(fractions, detail) }

// Signed is described with IsWhole.
func Signed(detail string) bool { return slices.Contains(signed, detail) }

// FormOf is the form of a source's detail, empty if it has none of that name.
func FormOf(source history.Source, key string) Form { return details[source][key] }

// Details are the names of a source's details.
func Details(source history.Source) []string { return slices.Sorted(maps.Keys(details[source])) }

// Open reports whether details of a source are of other forms as well: a program's log has what the program likes.
func Open(source history.Source) bool { return source == history.Logged }

// Meant is the resource that a word stands for which is none itself, such as "Node" or
// "nodeclaim": empty if it is none of those that people have a word for.
func Meant(word string) string {
	for _, r := range resources {
		if r.Word == "" || r.Page || word == r.Name {
			continue
		}
		if strings.EqualFold(word, r.Name) || strings.EqualFold(word+"s", r.Name) || strings.EqualFold(word, r.Word) {
			return r.Name
		}
	}
	return ""
}

// Plural is the resource of the kind of Kubernetes' own that a word is, in letters of any
// size; empty if it is none.
func Plural(word string) string {
	if resource := kinded()[strings.ToLower(word)]; resource != word {
		return resource
	}
	return ""
}

// Subresources are the parts of objects that calls name: all of Kubernetes' own, among
// them those that custom resources have.
func Subresources() []string {
	return []string{"approval", "attach", "binding", "ephemeralcontainers", "eviction", "exec", "finalize", "log", "portforward",
		"proxy", "resize", "scale", "status", "token"}
}
