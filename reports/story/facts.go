package story

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// facts are what lives and links need of a record's detail. Texts are empty
// where the record does not tell.
type facts struct {
	ready              string // of a node: "True", "False", "Unknown"
	taints             string // of a node: its taints, joined
	tainted            bool   // taints is known
	phase              string // of a claim: the furthest condition that is true
	providerID, node   string
	id                 string // of a cloud's machine
	reason, state      string
	pods, claim, group string // of a log line: what it tells of
	hourlyEUR          float64
	changes            bool    // something of the object's state is in it
	from, size         float64 // of a group: how many machines it had and shall have
	sized              bool    // size is known
	failed             bool    // of an installer's step
	pace               *pace   // of the clock
	round              float64 // how many seconds one of a program's main loop took
}

// pace is how virtual time passed for a span.
type pace struct {
	span          time.Duration
	factor, lagMs float64
}

// paceOf is nil where a record does not tell.
func paceOf(d map[string]any) *pace {
	seconds, spanned := numeric(d["seconds"])
	factor, paced := numeric(d["factor"])
	lag, late := numeric(d["lagMaxMs"])
	const most = float64(1 << 30) // a history may say anything
	in := func(f float64) bool { return f >= 0 && f < most }
	if !spanned || !paced || !late || !in(seconds) || !in(factor) || !in(lag) {
		return nil
	}
	return &pace{time.Duration(seconds * float64(time.Second)), factor, lag}
}

func (f facts) none() bool { return f == facts{} }

// maxHourlyEUR is more than any machine costs: a history may say anything, and the
// sum of what machines cost stays a number.
const maxHourlyEUR = 1e6

// phases of a NodeClaim, the furthest first: their conditions.
var phases = []string{"Initialized", "Registered", "Launched"}

func factsOf(r history.Record, keep func(string) string) facts {
	var f facts
	d := r.Detail
	if len(d) == 0 {
		return f
	}
	switch r.Source {
	case history.API:
		f.providerID = keep(text(d, "providerID"))
		f.node = keep(first(text(d, "node"), text(d, "nodeName")))
		f.reason = keep(text(d, "reason"))
		if _, ok := d["taints"]; ok {
			f.tainted = true
			f.taints = keep(strings.Join(texts(d["taints"]), ", "))
		}
		if ready := text(d, "ready"); ready != "" {
			f.ready, _, _ = strings.Cut(ready, ":")
			f.ready = keep(f.ready)
			f.tainted = true // a node without the detail "taints" has none
		}
		if conditions, ok := d["conditions"].(map[string]any); ok {
			for _, name := range phases {
				if status, _ := conditions[name].(string); status == "True" {
					f.phase = name
					break
				}
			}
		}
		f.changes = d["added"] != nil || d["removed"] != nil
		f.size, f.sized = numeric(d["replicas"])
	case history.Node:
		f.providerID, f.node, f.reason = keep(text(d, "providerID")), keep(text(d, "node")), keep(text(d, "reason"))
	case history.Cloud:
		if id, told := numeric(d["id"]); told {
			f.id = keep(strconv.FormatFloat(id, 'f', -1, 64))
		}
		if price, told := numeric(d["hourlyEUR"]); told && price > 0 && price < maxHourlyEUR {
			f.hourlyEUR = price
		}
		f.group, f.reason = keep(text(d, "group")), keep(text(d, "error"))
		f.size, f.sized = numeric(d["to"])
	case history.Logged:
		f.pods, f.claim, f.node = keep(text(d, "Pods")), keep(name(d["NodeClaim"])), keep(name(d["Node"]))
		f.size, f.sized = numeric(d["to"])
		f.from, _ = numeric(d["from"])
	case history.Fault:
		f.state = keep(first(text(d, "fault"), text(d, "effect")))
	case history.Step:
		f.state = keep(text(d, "text"))
	case history.Harness:
		f.failed, _ = d["failed"].(bool)
		if seconds, told := numeric(d["seconds"]); told && seconds > 0 && seconds < horizon.Seconds() {
			f.round = seconds
		}
	case history.Clock:
		f.pace = paceOf(d)
	}
	return f
}

// name is that of an object as logr writes it, {"name": …, "namespace": …}, or a
// plain text.
func name(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case map[string]any:
		if namespace := text(value, "namespace"); namespace != "" {
			return namespace + "/" + text(value, "name")
		}
		return text(value, "name")
	}
	return ""
}

func text(detail map[string]any, key string) string {
	s, _ := detail[key].(string)
	return s
}

// texts are the items of a list of texts, live or read.
func texts(value any) []string {
	switch list := value.(type) {
	case []string:
		return list
	case []any:
		var items []string
		for _, item := range list {
			if s, ok := item.(string); ok {
				items = append(items, s)
			}
		}
		return items
	}
	return nil
}

// numeric is a number, live or read.
func numeric(value any) (float64, bool) {
	switch n := value.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func first(candidates ...string) string {
	for _, s := range candidates {
		if s != "" {
			return s
		}
	}
	return ""
}

// housekeeping are the resources that the control plane and the installation of
// a chart keep to themselves.
var housekeeping = map[string]bool{
	"serviceaccounts": true, "configmaps": true, "secrets": true, "roles": true, "rolebindings": true,
	"clusterroles": true, "clusterrolebindings": true, "servicecidrs": true, "ipaddresses": true,
	"customresourcedefinitions": true, "namespaces": true, "leases": true, "events": true,
	"endpoints": true, "endpointslices": true, "controllerrevisions": true, "flowschemas": true,
	"prioritylevelconfigurations": true, "priorityclasses": true, "csinodes": true, "apiservices": true,
	"mutatingadmissionpolicies": true, "mutatingadmissionpolicybindings": true,
	"validatingadmissionpolicies": true, "validatingadmissionpolicybindings": true,
	"mutatingwebhookconfigurations": true, "validatingwebhookconfigurations": true,
	"tokenreviews": true, "subjectaccessreviews": true, "certificatesigningrequests/status": true,
}

// stateful are the details that make a patch worth showing.
var stateful = []string{"added", "removed", "conditions", "node", "reason", "message", "error", "replicas", "nodeName", "registered"}

func flagsOf(r history.Record) Flags {
	var f Flags
	level := strings.ToUpper(text(r.Detail, "level"))
	switch {
	case r.Code >= 400, r.Source == history.Step && r.Verb != "passed", level == "ERROR" || level == "FATAL" || r.Source == history.Logged && r.Verb == "error",
		r.Source == history.Harness && !slices.Contains([]string{history.Ended, history.Killed, history.Stopped, history.Started, history.Rounds}, r.Verb):
		f |= Bad
	}
	switch r.Source {
	case history.API:
		conflict := r.Code == 409 && r.Verb != "create"
		told := slices.ContainsFunc(stateful, func(key string) bool { return r.Detail[key] != nil })
		repeats := (r.Verb == "patch" || r.Verb == "update") && !told
		if conflict || housekeeping[r.Object.Resource] || repeats {
			f = f&^Bad | Noise
		}
	case history.Logged:
		message := strings.ToLower(text(r.Detail, "message"))
		if strings.HasPrefix(message, "starting ") || strings.HasPrefix(message, "serving ") || strings.HasPrefix(message, "caches populated") ||
			strings.Contains(message, "leader lease") || strings.Contains(message, "acquired lease") || strings.Contains(message, "vcs.revision") {
			f |= Noise
		}
		if r.Verb == "loop" { // Cluster Autoscaler's, every ten seconds
			f |= Noise
		}
	case history.Fault:
		if r.Verb == "matched" { // every call that a fault acts on is there itself
			f |= Noise
		}
	case history.Cloud:
		if strings.HasPrefix(r.Verb, "GET ") && r.Code < 400 {
			f |= Noise
		}
	case history.Clock:
		f |= Noise
	case history.Harness:
		if r.Verb == history.Rounds { // they are a curve
			f |= Noise
		}
	}
	return f
}

// sorted are a map's keys in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
