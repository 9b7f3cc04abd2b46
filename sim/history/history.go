// Package history is the events of a run in order: what the API server, the
// cloud, the nodes, the faults, the target's log and the steps did, on one
// virtual time line. It writes and reads history.ndjson, one JSON object a
// line, and lets a running step wait for an event.
//
// It does not judge (sim/history/checker does) and does not draw (reports does).
package history

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Source says which part of the world observed an event.
type Source string

// The sources a history can hold.
const (
	API     Source = "api"     // a call that kube-apiserver answered, from its audit log
	Cloud   Source = "cloud"   // the fake cloud's own truth
	Node    Source = "node"    // a node, simulated or with a real kubelet, its pods and agents
	Fault   Source = "fault"   // a fault: see FaultVerbs
	Logged  Source = "log"     // a line of a component's log turned into an event
	Step    Source = "step"    // the outcome of one Gherkin step
	Harness Source = "harness" // processes, worlds, time limits
	Clock   Source = "clock"   // rate changes and distress of the clock
)

// Sources lists every source, in the order of the constants.
func Sources() []Source {
	return []Source{API, Cloud, Node, Fault, Logged, Step, Harness, Clock}
}

// Verbs of the harness that say how complete a history is.
const (
	// Ended is recorded once, last, when a run is over. A history without it was
	// cut off: what is not in it may have happened.
	Ended = "ended"
	// Unreadable stands for a part of a source that could not be read.
	Unreadable = "unreadable"
)

// Verbs of the harness about a program of the world that a user or a fault ends and starts: one
// that ends by itself has died.
const (
	Killed  = "killed"
	Stopped = "stopped"
	Started = "started"
	// Installed and Upgraded are releases that take a program's place: detail "version" is the build's, "sha256" its program's.
	Installed = "installed"
	Upgraded  = "upgraded"
	// Corrupted is the verb of a field of a stored object that was changed past the API server.
	Corrupted = "corrupted"
	// Unhealthy is a probe of one that failed; detail "error" says how.
	Unhealthy = "unhealthy"
)

// MayMiss is the verb of the harness by which a scenario says that its faults need not take
// effect: it was drawn, and does not know what it will meet.
const MayMiss = "may-miss"

// People is the actor of what people do to objects of the API server.
const People = "kubectl"

// Programs is the resource of the objects of such events.
const Programs = "programs"

// Verbs of faults, in the order of their lives.
const (
	Armed       = "armed"
	Matched     = "matched"     // an occasion on which it acts
	Effective   = "effective"   // a program could have seen a difference
	Ineffective = "ineffective" // it acted, and made none
	Cleared     = "cleared"
)

// FaultVerbs lists them.
func FaultVerbs() []string { return []string{Armed, Matched, Effective, Ineffective, Cleared} }

// Pace is the verb of the clock's events: how virtual time passed until then, for
// so many "seconds" of it. "factor" is the mean, "lagP99Ms" and "lagMaxMs" are how
// late timers fired, in virtual milliseconds.
const Pace = "pace"

// Rounds is the verb of the harness's events of how long rounds of an autoscaler's main loop took, by its own
// metrics: details "of", how many there were since the event before, and "seconds", of virtual time, that one took on
// average.
const Rounds = "rounds"

// Verbs of the harness about metrics of a program, by which it is the actor: details "value" and "labels". Unmeasured is one
// that is no longer there, with the value that it had.
const (
	Measured   = "measured"
	Unmeasured = "unmeasured"
)

// Metrics is the resource of the objects of such events: their names are those of the metrics.
const Metrics = "metrics"

// Used is the verb of the harness's events of how much of a processor programs of the world have used when it ends, or
// since they were last started: detail "seconds", real ones.
const Used = "used"

// Prices is the verb of the harness's event of what types of machines cost an hour whose cloud is a part of a program, and
// has no events of its own: detail "currency", and by type "onDemand" and "spot".
const Prices = "prices"

// Object names what an event is about. All fields may be empty. Resource is the
// plural in lower case as in the API's paths ("nodes", "nodeclaims").
type Object struct {
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// String is "resource/namespace/name" without the empty parts.
func (o Object) String() string {
	var s string
	for _, part := range []string{o.Resource, o.Namespace, o.Name} {
		if part == "" {
			continue
		}
		if s != "" {
			s += "/"
		}
		s += part
	}
	return s
}

// Event is one thing that happened.
type Event struct {
	// At is the virtual wall time. Zero means now: the recorder stamps it. It is
	// not written: Entry.Virtual holds it as an offset.
	At time.Time `json:"-"`
	// Source is never empty.
	Source Source `json:"source"`
	// Verb is never empty: create, update, patch, delete for API calls; register,
	// ready, notready, taint, untaint, running, terminated for nodes; armed,
	// effective, cleared for faults; passed, failed and so on for steps.
	Verb   string `json:"verb"`
	Object Object `json:"object,omitzero"`
	// Actor is a short user agent or component, for example "karpenter".
	Actor string `json:"actor,omitempty"`
	// Code is the HTTP status. Zero means there is none.
	Code int `json:"code,omitempty"`
	// Detail belongs to the history once recorded: the caller must not change it any more.
	Detail Detail `json:"detail,omitempty"`
}

// Entry is an event in its place in the history.
type Entry struct {
	// Seq numbers the events of a run from 1 in the order of arrival. It is what
	// a finding quotes as evidence.
	Seq uint64 `json:"seq"`
	// Virtual and Real are offsets since the run's start, nanoseconds in JSON.
	// Virtual is when the event happened; it may be negative for what came before
	// the start. Real is when it was recorded: an API call arrives through the
	// pipe of the audit log and so is recorded later than it happened.
	Virtual time.Duration `json:"virtual"`
	Real    time.Duration `json:"real"`
	Event
}

// Recorder takes events. Implementations are safe for concurrent use and never
// wait for a disk, a network or the world.
type Recorder interface {
	Record(Event)
}

// Discard returns a Recorder that forgets everything.
func Discard() Recorder { return discard{} }

type discard struct{}

func (discard) Record(Event) {}

// Short cuts text that others wrote to what an event may hold: 300 bytes.
func Short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Sort orders events by virtual time, those of the same instant by Seq.
func Sort(events []Entry) {
	slices.SortFunc(events, inOrder)
}

func inOrder(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Virtual, b.Virtual), cmp.Compare(a.Seq, b.Seq))
}
