// Package vocabulary is what the records of a history say: the details of each source and
// of what form they are, and what people call the things that records are about. Who
// writes a record, who looks for one and who shows one have their words from here. It is
// no list of all records that there can be: a program's log says what it likes.
package vocabulary

import (
	"fmt"
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
)

// details are those of each source.
var details = map[history.Source]map[string]Form{
	history.API: {
		"about": Text, "added": List, "agent": Text, "applied": Truth, "cluster": Text, "conditions": Mapping, "cpu": Number,
		"deleting": Truth, "error": Text, "gracePeriodSeconds": Number, "initialized": Truth, "issued": Truth, "message": Text,
		"node": Text, "nodeName": Text, "nodePool": Text, "owner": Text, "panic": Truth, "providerID": Text, "ready": Text,
		"reason": Text, "registered": Truth, "removed": List, "replicas": Number, "signer": Text, "startupTaints": List,
		"subresource": Text, "taints": List, "type": Text, "unschedulable": Truth, "user": Text,
	},
	history.Node: {
		"adopted": Truth, "again": Truth, "args": Text, "code": Number, "container": Text, "delay": Text, "error": Text,
		"exitCode": Number, "ip": Text, "machineGone": Truth, "message": Text, "node": Text, "program": Text,
		"providerID": Text, "reason": Text, "taint": Text,
	},
	history.Cloud: {"capacity": Text, "error": Text, "from": Number, "group": Text, "hourlyEUR": Number, "id": Number,
		"instances": List, "location": Text, "to": Number, "type": Text},
	history.Fault: {"fault": Text, "effect": Text, "call": Text, "group": Text, "operation": Text, "deployment": Text,
		"reason": Text, "code": Number, "resourceVersion": Text},
	history.Step:  {"error": Text, "kind": Text, "quoted": Text, "text": Text},
	history.Clock: {"factor": Number, "lagMaxMs": Number, "lagP99Ms": Number, "seconds": Number},
	history.Logged: {
		"NodeClaim": Mapping, "Node": Mapping, "NodePool": Mapping, "Pods": Text, "at": Text, "controller": Text, "delta": Number, "error": Text,
		"from": Number, "idle": Truth, "level": Text, "message": Text, "to": Number,
	},
	history.Harness: {
		"error": Text, "failed": Truth, "method": Text, "of": Number, "port": Text, "refused": Truth, "seconds": Number,
		"sha256": Text, "source": Text, "step": Number, "version": Text,
	},
}

// open are the sources that others, or faults of all kinds, add details of their own to.
var open = []history.Source{history.Logged, history.Fault, history.Harness}

// FormOf is the form of a source's detail, empty if it has none of that name.
func FormOf(source history.Source, key string) Form { return details[source][key] }

// Details are the names of a source's details.
func Details(source history.Source) []string { return slices.Sorted(maps.Keys(details[source])) }

// Open tells whether records of a source may have other details as well.
func Open(source history.Source) bool { return slices.Contains(open, source) }

// Check tells what is wrong with the details of a record that was read.
func Check(r history.Record) error {
	if _, known := details[r.Source]; !known {
		return fmt.Errorf("source %q is in no vocabulary", r.Source)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Detail)) {
		want, known := details[r.Source][key]
		if !known && !Open(r.Source) {
			return fmt.Errorf("%s %s %s: the detail %q is not in the vocabulary", r.Source, r.Verb, r.Object, key)
		}
		if got := formOf(r.Detail[key]); known && !slices.Contains([]Form{want, ""}, got) && !Open(r.Source) {
			return fmt.Errorf("%s %s %s: the detail %q is a %s, and a %s in the vocabulary", r.Source, r.Verb, r.Object, key, got, want)
		}
	}
	return nil
}

// formOf is empty for null: a list without items, as Go writes it.
func formOf(value any) Form {
	switch value.(type) {
	case nil:
		return ""
	case string:
		return Text
	case bool:
		return Truth
	case []any, []string:
		return List
	case map[string]any:
		return Mapping
	}
	return Number
}

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
