// Package checker tests statements over a history: pure functions from events
// to findings, so that a stored run can be judged again. It reads nothing else,
// neither logs nor a live world.
//
// There are two evaluators. A sequence names events for its later elements to be about,
// so its first may turn out to be the wrong one: it is searched, and found again, in all
// that is there. All else needs each event once, and is judged as they arrive, in memory
// that does not grow with the run but with what the statement is about.
package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// Result is what a history says about a statement.
type Result string

// The results.
const (
	Valid   Result = "valid"   // the history shows that the statement holds
	Invalid Result = "invalid" // the history shows that it does not
	Unknown Result = "unknown" // the history does not show either
)

// Finding is the answer to one statement. It is not an error: a harness that
// broke gives Unknown.
type Finding struct {
	Result    Result `json:"result"`
	Statement string `json:"statement"`
	// Evidence are the Seq of the events that show the result, in the order of
	// time. A statement that something never happened has none.
	Evidence []uint64 `json:"evidence,omitempty"`
	// Reason says in one line why the result is not Valid.
	Reason string `json:"reason,omitempty"`
	// GaveUp says that the result is Unknown because the search became too long, not
	// for what the history lacks.
	GaveUp bool `json:"gaveUp,omitempty"`
	// Unexcused says that it is Unknown though the Evidence breaks the statement: a source that
	// could say otherwise has no event.
	Unexcused bool `json:"unexcused,omitempty"`
	// Hollow says that it is Unknown because it would hold of nothing: no event shows that there is what is not to be.
	Hollow bool `json:"hollow,omitempty"`
}

// String is the statement, the result and the reason.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s", f.Result, f.Statement)
	if f.Reason != "" {
		text += " (" + f.Reason + ")"
	}
	return text
}

// completeness says what a history may lack.
type completeness struct {
	end     time.Duration           // of what is known
	cutOff  bool                    // no event that the run ended
	damaged uint64                  // Seq of an event that says something is unreadable
	sources map[history.Source]bool // that have an event
}

func completenessOf(events []history.Entry) completeness {
	c := NewCompleteness()
	for _, r := range events {
		c.Add(r)
	}
	return c.completeness
}

// Completeness says what a history may lack, once it was given all events, in whatever order.
type Completeness struct{ completeness }

// NewCompleteness is that of a history without events.
func NewCompleteness() Completeness {
	// mutant: a history without an end is whole
	return Completeness{completeness{cutOff: true, sources: map[history.Source]bool{}}}
}

// Add takes in one more event.
func (c *Completeness) Add(r history.Entry) {
	c.sources[r.Source] = true
	c.end = max(c.end, r.Virtual)
	if r.Source != history.Harness {
		return
	}
	switch r.Verb {
	case history.Ended:
		c.cutOff = false
	case history.Unreadable:
		c.damaged = r.Seq
	}
}

// Incomplete says what the history lacks, so that nothing can be concluded from what is not
// in it: its end, or a part that could not be read. Empty means that it is complete.
func (c Completeness) Incomplete() string { return c.incompleteReason() }

// incompleteReason says why nothing can be concluded from the absence of an event, or "".
func (c completeness) incompleteReason() string {
	switch {
	case c.damaged != 0:
		return fmt.Sprintf("a part of the history could not be read, see event %d", c.damaged)
	case c.cutOff:
		return fmt.Sprintf("the history was cut off at %s", c.end)
	}
	return ""
}

// silent says that the history has no event from the pattern's source, or "".
func (c completeness) silent(p *Pattern) string {
	if p.Source.op != "" || slices.ContainsFunc(p.Source.values, func(source string) bool { return c.sources[history.Source(source)] }) {
		return ""
	}
	return fmt.Sprintf("the history has no event from the source %s", strings.Join(p.Source.values, " or "))
}
