// Package propose makes a symptom out of events that were chosen in a stored run: a sequence of patterns with as much of the
// events as distinguishes the run from others, and no more. It holds each proposal against the run itself, other runs of its
// scenario and runs of other scenarios, by the same checker that judges records. It knows no files but those of runs, and
// writes none.
package propose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Run is a stored run, with its history in memory.
type Run struct {
	// Name is the run as the user calls it.
	Name       string
	ID, Target string
	Verdict    verdict.Verdict
	events     []history.Entry // in the order of time
	searchable checker.Prepared
}

// Load reads the run in dir, which the user calls name. A run without a history, or one that was changed since it ended, is an
// error.
func Load(ctx context.Context, dir, name string) (*Run, error) {
	of, err := run.Load(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: name, ID: of.ID, Target: of.Target.Ref.String(), Verdict: of.Verdict}
	doubts, err := of.Read(ctx, dir, nil, func(event history.Entry) {
		r.events = append(r.events, event)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has no %s, so it has no events to choose from; name a run that came to its end", name, run.HistoryFile)
	case err != nil:
		return nil, fmt.Errorf("reading a run: %w", err)
	case len(doubts) > 0:
		return nil, fmt.Errorf("%s proves nothing: %s; play it again", name, doubts[0])
	case len(r.events) == 0:
		return nil, fmt.Errorf("%s has a %s without events; name a run that came to its end", name, run.HistoryFile)
	}
	history.Sort(r.events)
	r.searchable = checker.Prepare(r.events)
	return r, nil
}

// Find judges a statement by the run's history.
func (r *Run) Find(s checker.Statement) checker.Finding { return r.searchable.Find(s) }

// Want is what ought to be so of a symptom in a run.
type Want string

// What ought to be so.
const (
	Holds  Want = "yes"    // the run shows the failure
	Absent Want = "no"     // it does not, or is of another scenario
	Either Want = "either" // nothing is known: the run failed in another way, or shows the same failure in another scenario
)

// Held says whether a symptom holds on a run.
type Held struct {
	Run     string          `json:"run"`
	ID      string          `json:"scenario"`
	Target  string          `json:"target"`
	Verdict verdict.Verdict `json:"verdict"`
	// Want is what ought to be so, Holds what is: "yes", "no", "unknown" or why the search gave up.
	Want  Want   `json:"want"`
	Holds string `json:"holds"`
	// Lines are the numbers of the events that it holds at.
	Lines []uint64 `json:"lines,omitempty"`
	// Reason says why it is unknown.
	Reason string `json:"reason,omitempty"`
}

// Wrong reports whether it is not as it ought to be. Where it is unknown for want of a longer history, nothing is wrong.
func (h Held) Wrong() bool {
	switch h.Want {
	case Holds:
		return h.Holds != string(Holds)
	case Absent:
		return h.Holds == string(Holds) || h.Holds == gaveUp
	}
	return false
}

const (
	unknown = "unknown"
	gaveUp  = "too many events could match"
)

// Proposal is a symptom, and where it holds.
type Proposal struct {
	Symptom checker.Statement `json:"-"`
	// Runs are the run of the chosen lines first, then the others in the order in which they came.
	Runs []Held `json:"runs"`
	// Wrong says in a sentence each where it is not as it ought to be, and the way out.
	Wrong []string `json:"wrong,omitempty"`
	// Unfixed says that no run is among them that a build without the failure has made; empty if one is.
	Unfixed string `json:"unfixed,omitempty"`

	elements []*element
}

// Draft is a symptom that is being made.
type Draft struct {
	own      *Run
	chosen   []uint64 // Seq of the chosen events
	kin      []string
	names    names
	elements []*element
	others   []*otherRun
}

// otherRun is a run that the draft is held against.
type otherRun struct {
	*Run
	want Want
	near bool // it has a sequence that is like the chosen one but for the details; else its history is not kept
}

// New begins a symptom with the events of a run that lines name by their numbers. Kin are the scenarios whose failing runs may
// show it, too; hidden, which may be nil, reports whether a text is not to be shown.
func New(own *Run, lines []uint64, kin []string, hidden func(text string) bool) (*Draft, error) {
	events, err := choose(own, lines)
	if err != nil {
		return nil, err
	}
	d := &Draft{own: own, chosen: lines, kin: kin, names: namesOf(own.events)}
	d.names.hidden = hidden
	d.elements = elementsOf(events, &d.names)
	return d, nil
}

// CompareWith has the draft held against another run, too. Of one that is nothing like the chosen events no history is kept.
func (d *Draft) CompareWith(r *Run) {
	o := &otherRun{Run: r, want: d.want(r)}
	found := r.searchable.Find(d.statement(core))
	o.near = found.Result == checker.Valid || found.GaveUp
	if !o.near {
		r.events, r.searchable = nil, checker.Prepared{}
	}
	d.others = append(d.others, o)
}

// want is what ought to be so of the symptom in another run.
func (d *Draft) want(r *Run) Want {
	switch {
	case r.Verdict == verdict.Healthy:
		return Absent
	case r.ID == d.own.ID && r.Verdict == d.own.Verdict:
		return Holds
	case r.ID == d.own.ID, slices.Contains(d.kin, r.ID):
		return Either
	}
	return Absent
}

// Propose makes the symptom: it has no detail without which it would hold on the same runs. The error is one of nodestorm.
func (d *Draft) Propose() (*Proposal, error) {
	d.fill()
	d.setSpans()
	d.narrow()
	d.minimise()
	p := &Proposal{Symptom: d.statement(everything), elements: d.elements}
	p.Symptom.Statement = d.sentence()
	if err := p.Symptom.CheckSymptom(); err != nil {
		return nil, fmt.Errorf("the symptom is wrong, which is a fault of nodestorm: %w", err)
	}
	p.Runs = append(p.Runs, d.holdsOn(&otherRun{Run: d.own, want: Holds, near: true}, p.Symptom))
	for _, o := range d.others {
		p.Runs = append(p.Runs, d.holdsOn(o, p.Symptom))
	}
	p.Wrong = d.wrong(p.Runs)
	fixed := func(h Held) bool { return h.ID == d.own.ID && h.Verdict == verdict.Healthy }
	if !slices.ContainsFunc(p.Runs, fixed) {
		p.Unfixed = fmt.Sprintf("no run of %s is among them on a build that does not have the failure: play one, and name its folder "+
			"with --against", d.own.ID)
	}
	return p, nil
}

func (d *Draft) holdsOn(o *otherRun, s checker.Statement) Held {
	h := Held{Run: o.Name, ID: o.ID, Target: o.Target, Verdict: o.Verdict, Want: o.want, Holds: string(Absent)}
	if !o.near {
		return h
	}
	switch found := o.searchable.Find(s); {
	case found.Result == checker.Valid:
		h.Holds, h.Lines = string(Holds), found.Evidence
	case found.GaveUp:
		h.Holds, h.Reason = gaveUp, found.Reason
	case found.Result == checker.Unknown:
		h.Holds, h.Reason = unknown, found.Reason
	}
	return h
}

// wrong says where it is not as it ought to be.
func (d *Draft) wrong(runs []Held) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if own := runs[0]; own.Holds == string(Holds) && !slices.Equal(own.Lines, d.chosen) {
		say("in %s it holds at the lines %s already, and not at %s: choose a line more that only these have", own.Run, listed(own.Lines),
			listed(d.chosen))
	}
	for _, h := range runs {
		switch {
		case !h.Wrong():
		case h.Holds == string(Holds):
			say("it holds in %s (%s) as well, at the lines %s: choose a line more that this run does not have", h.Run, h.Verdict, listed(h.Lines))
		case h.Holds == string(Absent):
			say("it does not hold in %s, which is %s as well: choose events that both have", h.Run, h.Verdict)
		default:
			say("whether it holds in %s is not known: %s", h.Run, h.Reason)
		}
	}
	return wrong
}
