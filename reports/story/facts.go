package story

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// facts are what lives and links need of an event's detail. Texts are empty
// where the event does not say.
type facts struct {
	ready              string // of a node: "True", "False", "Unknown"
	taints             string // of a node: its taints, joined
	tainted            bool   // taints is known
	phase              string // of a claim: the furthest condition that is true
	providerID, node   string
	id                 string // of a cloud's machine
	reason, state      string
	pods, claim, group string  // of a log line: what it mentions
	changes            bool    // something of the object's state is in it
	from, size         float64 // of a group: how many machines it had and shall have
	sized              bool    // size is known
	failed             bool    // of an installer's step
	pace               *pace   // of the clock
	round              float64 // how many seconds one of a program's main loop took
	place              string  // of a cloud's machine: its type, where it is, which capacity
	instances          string  // of a call: those that its answer names, parted by blanks
	messages           string  // of a call: what happened to instances, "VERB NAME" each, in lines
	daemon             bool    // of a pod: a Node has it as long as it is there
	cordoned           bool    // of a Node: pods are kept off it
}

// pace is how virtual time passed for a span.
type pace struct {
	span          time.Duration
	factor, lagMs float64
}

// paceOf is nil where an event does not say.
func paceOf(d history.Detail) *pace {
	seconds, spanned := d.Number("seconds")
	factor, paced := d.Number("factor")
	lag, late := d.Number("lagMaxMs")
	const most = float64(1 << 30) // a history may say anything
	in := func(f float64) bool { return f >= 0 && f < most }
	if !spanned || !paced || !late || !in(seconds) || !in(factor) || !in(lag) {
		return nil
	}
	return &pace{time.Duration(seconds * float64(time.Second)), factor, lag}
}

func (f facts) isZero() bool { return f == facts{} }

// phases of a NodeClaim, the furthest first: their conditions.
var phases = []string{"Initialized", "Registered", "Launched"}

func factsOf(r history.Entry, keep func(string) string) facts {
	var f facts
	d := r.Detail
	if len(d) == 0 {
		return f
	}
	switch r.Source {
	case history.API:
		f.providerID = keep(d.Text("providerID"))
		f.node = keep(first(d.Text("node"), d.Text("nodeName")))
		f.reason = keep(d.Text("reason"))
		if _, ok := d["taints"]; ok {
			f.tainted = true
			f.taints = keep(strings.Join(d.Texts("taints"), ", "))
		}
		if ready := d.Text("ready"); ready != "" {
			f.ready, _, _ = strings.Cut(ready, ":")
			f.ready = keep(f.ready)
			f.tainted = true // a node without the detail "taints" has none
		}
		conditions := d.Mapping("conditions")
		for _, name := range phases {
			if conditions.Text(name) == "True" {
				f.phase = name
				break
			}
		}
		f.changes = d["added"] != nil || d["removed"] != nil
		f.size, f.sized = d.Number("replicas")
		f.daemon = strings.HasPrefix(d.Text("owner"), "DaemonSet/") || strings.HasPrefix(d.Text("owner"), "Node/")
		f.cordoned = d.Truth("unschedulable") || slices.ContainsFunc(d.Texts("added"), keepsOff)
	case history.Node:
		f.providerID, f.node, f.reason = keep(d.Text("providerID")), keep(d.Text("node")), keep(d.Text("reason"))
	case history.Cloud:
		if id, given := d.Number("id"); given {
			f.id = keep(strconv.FormatFloat(id, 'f', -1, 64))
		}
		f.group, f.reason = keep(d.Text("group")), keep(d.Text("error"))
		f.size, f.sized = d.Number("to")
		f.place = keep(strings.Join(placed(d.Text), ", "))
		f.instances, f.messages = keep(strings.Join(d.Texts("instances"), " ")), strings.Join(d.Texts("messages"), "\n")
	case history.Logged:
		f.pods, f.claim, f.node = keep(d.Text("Pods")), keep(name(d, "NodeClaim")), keep(name(d, "Node"))
		f.size, f.sized = d.Number("to")
		f.from, _ = d.Number("from")
	case history.Fault:
		f.state = keep(first(d.Text("fault"), d.Text("effect")))
	case history.Step:
		f.state = keep(d.Text("text"))
	case history.Harness:
		f.failed = d.Truth("failed")
		if seconds, given := d.Number("seconds"); r.Verb == history.Rounds && given && seconds > 0 && seconds < horizon.Seconds() {
			f.round = seconds
		}
	case history.Clock:
		f.pace = paceOf(d)
	}
	return f
}

// keepsOff reports whether a taint keeps new pods off its Node.
func keepsOff(taint string) bool { return strings.HasSuffix(taint, ":NoSchedule") }

// name is that of an object as logr writes it, {"name": …, "namespace": …}, or a
// plain text.
func name(d history.Detail, key string) string {
	if object := d.Mapping(key); object != nil {
		name := object.Text("name")
		if namespace := object.Text("namespace"); namespace != "" {
			return namespace + "/" + name
		}
		return name
	}
	return d.Text(key)
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

func flagsOf(r history.Entry) Flags {
	var f Flags
	level := strings.ToUpper(r.Detail.Text("level"))
	asked, _ := r.Detail.Number("asked")
	tried := r.Source == history.Cloud && r.Detail.Truth("dryRun")
	switch {
	case tried:
		f |= Noise
	case r.Code >= 400, r.Source == history.Cloud && r.Detail.Text("error") != "" || float64(len(r.Detail.Texts("instances"))) < asked,
		r.Source == history.Step && r.Verb != "passed", level == "ERROR" || level == "FATAL" ||
			r.Source == history.Logged && r.Verb == "error",
		r.Source == history.Harness &&
			!slices.Contains([]string{history.Ended, history.Killed, history.Stopped, history.Started, history.Rounds, history.Prices,
				history.Used, history.Uninvited, history.Measured, history.Unmeasured}, r.Verb):
		f |= Bad
	}
	switch r.Source {
	case history.API:
		conflict := r.Code == 409 && r.Verb != "create"
		news := slices.ContainsFunc(stateful, func(key string) bool { return r.Detail[key] != nil })
		repeats := (r.Verb == "patch" || r.Verb == "update") && !news
		if conflict || housekeeping[r.Object.Resource] || repeats {
			f = f&^Bad | Noise
		}
	case history.Logged:
		message := strings.ToLower(r.Detail.Text("message"))
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
		if vocabulary.OnlyLooks(r.Verb) && r.Code != 0 && r.Code < 400 && f&Bad == 0 && r.Detail["messages"] == nil {
			f |= Noise
		}
	case history.Clock:
		f |= Noise
	case history.Harness:
		// Curves and measures have them, and metrics are values.
		if slices.Contains([]string{history.Rounds, history.Prices, history.Used, history.Measured, history.Unmeasured}, r.Verb) {
			f |= Noise
		}
	}
	return f
}

// sorted are a map's keys in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
