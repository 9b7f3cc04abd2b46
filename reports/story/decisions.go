package story

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Decision is something that an autoscaler did to its machines, or a step of an installer. Names that are
// made up at random are replaced by their order of appearance, so that two runs
// can be held against each other.
type Decision struct {
	At    time.Duration `json:"at"` // virtual, since the run's start
	What  string        `json:"what"`
	Event uint32        `json:"-"` // its index in the story
}

type namer struct {
	decisions []Decision
	count     map[string]int
	number    map[uint32]int
	done      map[string]bool
}

func newNamer() *namer {
	return &namer{count: map[string]int{}, number: map[uint32]int{}, done: map[string]bool{}}
}

// decide takes an event that may be a decision.
func (w *walk) decide(i uint32, kind Kind, f facts) {
	e := &w.s.Events[i]
	verb, ours := "", false
	switch history.Source(kind.Source) {
	case history.API:
		verb, ours = kind.Verb, kind.Subresource == "" && kind.Code < 300 && strings.HasPrefix(kind.Actor, w.autoscaler(kind))
	case history.Cloud:
		method, _, _ := strings.Cut(kind.Verb, " ")
		verb, ours = map[string]string{"POST": "create", "DELETE": "delete"}[method], kind.Code != 0
	}
	if scales(kind) && strings.HasPrefix(kind.Actor, w.autoscaler(kind)) {
		o := w.s.Objects[e.Object]
		what := "scale " + strings.TrimSpace(vocabulary.Kind(o.Resource)+" "+o.Name)
		if f.sized {
			what += fmt.Sprintf(" to %.0f", f.size)
		}
		w.decided(i, what, kind.Code)
		return
	}
	if resized(kind) {
		w.decided(i, fmt.Sprintf("scale %s %s to %.0f", vocabulary.Kind(kind.Resource), w.s.Objects[e.Object].Name, f.size), kind.Code)
		return
	}
	of := vocabulary.ResourceNamed(kind.Resource)
	what := of.Word
	if !ours || !of.Decided || e.Object == 0 || verb != "create" && verb != "delete" {
		return
	}
	n := w.namer
	if n.number[e.Object] == 0 {
		n.count[what]++
		n.number[e.Object] = n.count[what]
	}
	w.decided(i, fmt.Sprintf("%s %s %d", verb, what, n.number[e.Object]), kind.Code)
}

// installer is who takes an installer's steps, see harness/program/installer.
const installer = "order"

// install takes an event that may be a step of an installer's.
func (w *walk) install(i uint32, kind Kind, f facts) {
	if kind.Actor != installer {
		return
	}
	step := strings.TrimSpace(kind.Verb + " " + strings.TrimSpace(vocabulary.Kind(kind.Resource)+" "+w.s.Objects[w.s.Events[i].Object].Name))
	if f.failed {
		step += ", in vain"
	}
	w.decided(i, step, kind.Code)
}

// scales reports whether a call changes how many machines a group shall have.
func scales(kind Kind) bool {
	return history.Source(kind.Source) == history.API && vocabulary.ResourceNamed(kind.Resource).Sized && kind.Subresource == "scale" &&
		(kind.Verb == "update" || kind.Verb == "patch")
}

// resized reports whether the target size of a group that the cloud keeps has changed.
func resized(kind Kind) bool {
	return history.Source(kind.Source) == history.Cloud && kind.Resource == vocabulary.NodeGroups && kind.Verb == "target"
}

// decided notes a decision, once: it may be tried again and again.
func (w *walk) decided(i uint32, decision string, code int) {
	e, n := &w.s.Events[i], w.namer
	e.Flags = e.Flags&^Noise | Decided
	if code >= 300 {
		decision += fmt.Sprintf(", refused with %d", code)
		e.Flags |= Bad
	}
	if n.done[decision] {
		return
	}
	n.done[decision] = true
	n.decisions = append(n.decisions, Decision{e.Virtual, decision, i})
}

// autoscaler is whose API calls are decisions. Of Nodes, which others create as
// well, only the autoscaler's are; where the run does not name one, only
// those of claims are.
func (w *walk) autoscaler(kind Kind) string {
	if name := w.s.Run.Autoscaler; name != "" {
		return name
	}
	if kind.Resource == vocabulary.NodeClaims {
		return ""
	}
	return "\x00"
}

// Course is what was decided in a run.
type Course struct {
	Decisions []Decision
	End       time.Duration // of the run, virtual, since its start
}

// Course is that of the story.
func (s *Story) Course() Course { return Course{s.Decisions, s.End} }

// FirstDifference is the index at which two runs decide differently, or -1. When
// something was decided may differ, for at 1x the machine's own speed shows; what and
// in which order may not. A run ends with its scenario: of what the other then decided later
// after their last common decision than this one went on, nothing is known.
func FirstDifference(a, b Course) int {
	for i := range max(len(a.Decisions), len(b.Decisions)) {
		switch {
		case i < len(a.Decisions) && i < len(b.Decisions):
			if a.Decisions[i].What != b.Decisions[i].What {
				return i
			}
		// mutant: what one side does after the other has ended is a difference
		case i >= len(a.Decisions) && b.sincePrevious(i) > a.rest(), i >= len(b.Decisions) && a.sincePrevious(i) > b.rest():
			return -1
		default:
			return i
		}
	}
	return -1
}

// sincePrevious is how long after the decision before it the i-th came; of the first it is no time.
func (c Course) sincePrevious(i int) time.Duration {
	if i == 0 {
		return 0
	}
	return c.Decisions[i].At - c.Decisions[i-1].At
}

// rest is how long the run went on after its last decision.
func (c Course) rest() time.Duration {
	if len(c.Decisions) == 0 {
		return 0
	}
	return c.End - c.Decisions[len(c.Decisions)-1].At
}
