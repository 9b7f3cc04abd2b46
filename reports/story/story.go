package story

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nodestorm/reports/wording"
	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/history/vocabulary"
)

// Flags of an event.
type Flags uint8

const (
	// Noise is what a reader hides first: housekeeping of the control plane,
	// heartbeats, retries, repetitions of a state.
	Noise Flags = 1 << iota
	// Evidence is what the verdict quotes.
	Evidence
	// Decided is something that an autoscaler did to its machines.
	Decided
	// Bad is an error of any kind: a refused call, a failed step, an error line.
	Bad
)

// Event is an event, as numbers. Kind, Object and Detail are indices into the
// story's lists; Object and Detail are 0 where there is none.
type Event struct {
	Virtual, Real time.Duration
	Seq           uint64
	Kind          uint32
	Object        uint32
	Detail        uint32
	facts         uint32
	Flags         Flags
}

// Kind is what many events have in common.
type Kind struct {
	Source, Verb, Actor string
	Resource            string // of the object
	Subresource         string
	Code                int // HTTP status, 0 for none
}

// IsCall reports whether it is of a call to a cloud, answered or not.
func (k Kind) IsCall() bool {
	return history.Source(k.Source) == history.Cloud && (k.Code != 0 || vocabulary.IsCall(k.Verb))
}

// Object is a thing that events are about.
type Object struct {
	Resource, Namespace, Name string
}

// Story is a run, in order.
type Story struct {
	Run     Run
	Events  []Event // by virtual time
	Kinds   []Kind
	Objects []Object // the first is no object
	// Details are the events' details, as JSON; the first is empty.
	Details []string
	Lives   []Life
	Links   []Link
	// Mentions are the objects that an event mentions in addition to its own.
	Mentions  []Mention
	Curves    []Curve
	Decisions []Decision
	// Begin and End are the first and the last virtual time.
	Begin, End time.Duration
	// Absurd counts events whose time is so far off that it is not drawn.
	Absurd int
}

// Mention says that an event mentions an object.
type Mention struct{ Event, Object uint32 }

const (
	// maxDetail bounds a detail, in bytes of JSON: a line of a log may have 1 MB.
	maxDetail = 32 << 10
	// maxName bounds names and verbs, in bytes. Kubernetes' own end at 253.
	maxName = 512
	// horizon bounds the time of an event: a year either way. Beyond, it is damage.
	horizon = 365 * 24 * time.Hour
)

// Builder makes a story of events, in any order.
type Builder struct {
	story   Story
	kinds   map[Kind]uint32
	objects map[Object]uint32
	details map[string]uint32
	texts   map[string]string
	facts   []facts
	meter   *measure.Meter
}

// NewBuilder begins the story of a run.
func NewBuilder(run Run) *Builder {
	b := &Builder{
		story:   Story{Run: run, Objects: []Object{{}}, Details: []string{""}},
		kinds:   map[Kind]uint32{},
		objects: map[Object]uint32{{}: 0},
		details: map[string]uint32{"": 0},
		texts:   map[string]string{},
		facts:   []facts{{}},
		meter:   measure.NewMeter(),
	}
	b.meter.Assume(run.HourlyEUR, "EUR")
	return b
}

// Add takes an event. It keeps nothing of it but copies.
func (b *Builder) Add(r history.Entry) {
	b.meter.Add(r)
	kind := Kind{Source: b.text(string(r.Source)), Verb: b.text(r.Verb), Actor: b.text(r.Actor), Code: r.Code,
		Resource: b.text(r.Object.Resource)}
	kind.Subresource = b.text(r.Detail.Text("subresource"))
	e := Event{Virtual: r.Virtual, Real: r.Real, Seq: r.Seq}
	if e.Virtual > horizon || e.Virtual < -horizon {
		e.Virtual = min(max(e.Virtual, -horizon), horizon)
		b.story.Absurd++
	}
	var known bool
	if e.Kind, known = b.kinds[kind]; !known {
		e.Kind = uint32(len(b.story.Kinds))
		b.kinds[kind] = e.Kind
		b.story.Kinds = append(b.story.Kinds, kind)
	}
	e.Object = b.object(Object{r.Object.Resource, r.Object.Namespace, r.Object.Name})
	e.Detail = b.detail(r.Detail)
	if f := factsOf(r, b.text); !f.isZero() {
		e.facts = uint32(len(b.facts))
		b.facts = append(b.facts, f)
	}
	e.Flags = flagsOf(r)
	b.story.Events = append(b.story.Events, e)
}

func (b *Builder) object(o Object) uint32 {
	if o.Resource == "" && o.Name == "" {
		return 0
	}
	if id, known := b.objects[o]; known {
		return id
	}
	key := Object{strings.Clone(o.Resource), strings.Clone(o.Namespace), strings.Clone(o.Name)}
	id := uint32(len(b.story.Objects))
	b.objects[key] = id
	b.story.Objects = append(b.story.Objects, Object{b.text(o.Resource), b.text(o.Namespace), b.text(o.Name)})
	return id
}

func (b *Builder) detail(detail map[string]any) uint32 {
	if len(detail) == 0 {
		return 0
	}
	encoded, err := json.Marshal(detail)
	if err == nil && len(encoded) > maxDetail {
		encoded, err = json.Marshal(shorten(detail, maxDetail/(4*len(detail)+4)))
	}
	if err != nil {
		encoded, _ = json.Marshal(map[string]string{"unwritable": err.Error()})
	}
	if len(encoded) > maxDetail { // thousands of keys
		encoded, _ = json.Marshal(map[string]string{"cut": string(encoded[:1024])})
	}
	if id, known := b.details[string(encoded)]; known {
		return id
	}
	id := uint32(len(b.story.Details))
	s := string(encoded)
	b.details[s] = id
	b.story.Details = append(b.story.Details, s)
	return id
}

// shorten cuts every text in a value to so many bytes.
func shorten(value any, most int) any {
	switch value := value.(type) {
	case string:
		return cut(value, max(most, 16))
	case []any:
		items := make([]any, 0, min(len(value), 100))
		for _, item := range value[:min(len(value), 100)] {
			items = append(items, shorten(item, most/8))
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, field := range value {
			fields[cut(key, 256)] = shorten(field, most)
		}
		return fields
	}
	return value
}

// cut shortens text to at most so many bytes, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (cut)"
}

// text is a name made harmless, and kept once.
func (b *Builder) text(s string) string {
	if kept, known := b.texts[s]; known {
		return kept
	}
	key := strings.Clone(s)
	b.texts[key] = wording.Clean(cut(key, maxName))
	return b.texts[key]
}

// Story ends the building. The builder must not be used any more.
func (b *Builder) Story() *Story {
	s := &b.story
	slices.SortFunc(s.Events, func(a, b Event) int {
		switch {
		case a.Virtual != b.Virtual && a.Virtual < b.Virtual, a.Virtual == b.Virtual && a.Seq < b.Seq:
			return -1
		case a.Virtual == b.Virtual && a.Seq == b.Seq:
			return 0
		}
		return 1
	})
	if n := len(s.Events); n > 0 {
		s.Begin, s.End = s.Events[0].Virtual, s.Events[n-1].Virtual
		if s.Absurd > 0 { // what is sane shall be seen
			s.Begin, s.End = s.sane()
		}
	}
	evidence := make(map[uint64]bool, len(s.Run.Evidence))
	for _, seq := range s.Run.Evidence {
		evidence[seq] = true
	}
	for i := range s.Events {
		if evidence[s.Events[i].Seq] {
			s.Events[i].Flags = s.Events[i].Flags&^Noise | Evidence
		}
	}
	b.live()
	s.Curves = slices.Concat(s.Curves, b.measured(), b.rounds(), b.pace())
	s.Run.Measures = b.meter.ValuesAt(b.meter.Last())
	b.kinds, b.objects, b.details, b.texts, b.facts = nil, nil, nil, nil, nil
	return s
}

// sane are the first and last times within the horizon.
func (s *Story) sane() (begin, end time.Duration) {
	first := true
	for _, e := range s.Events {
		if e.Virtual <= -horizon || e.Virtual >= horizon {
			continue
		}
		if first {
			begin, first = e.Virtual, false
		}
		end = e.Virtual
	}
	return begin, end
}

// Origin is when the scenario's first When begins, from which two runs of it can
// be compared; without a step, the run's begin.
func (s *Story) Origin() time.Duration {
	before := s.Begin // a step is recorded when it ends
	for i := range s.Events {
		switch s.stepKind(i) {
		case "":
		case "Action":
			return before
		default:
			before = s.Events[i].Virtual
		}
	}
	return s.Begin
}

// Focus is the time worth looking at first: from a little before the first When
// to a little after the last that the verdict quotes, or else the last step.
func (s *Story) Focus() (from, to time.Duration) {
	from, to = s.Origin(), s.End
	last := time.Duration(0)
	for i, e := range s.Events {
		if e.Flags&Evidence != 0 || s.stepKind(i) == "Outcome" && s.Kinds[e.Kind].Verb != "skipped" {
			last = e.Virtual
		}
	}
	if last > from {
		to = last
	}
	margin := max((to-from)/25, time.Second)
	return max(from-margin, s.Begin), to + margin
}

// stepKind is Context, Action or Outcome of an event that is a step.
func (s *Story) stepKind(i int) string {
	e := s.Events[i]
	if s.Kinds[e.Kind].Source != string(history.Step) {
		return ""
	}
	var detail struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal([]byte(s.Details[e.Detail]), &detail) // no detail, no kind
	return detail.Kind
}

// maxEvents bounds how many events a story keeps, some 850 bytes each: the file may be a
// stranger's. A variable for tests only.
var maxEvents = 5_000_000

// From is the story of a run from its events, which scan gives away; what it returns
// are problems.
func From(about Run, scan func(func(history.Entry)) []string) *Story {
	b := NewBuilder(about)
	ended, n := false, 0
	problems := scan(func(r history.Entry) {
		ended = ended || r.Source == history.Harness && r.Verb == history.Ended
		// mutant: a page takes a history of any length
		if n++; n <= maxEvents {
			b.Add(r)
		}
	})
	s := b.Story()
	s.Run.Problems = append(s.Run.Problems, problems...)
	if left := n - maxEvents; left > 0 {
		s.Run.Problems = append(s.Run.Problems,
			fmt.Sprintf("the history has more than %d events, and no page has room for them: the last %d to "+
				"come are left out; nodestorm recheck reads all", maxEvents, left))
	}
	if !ended && !about.Live {
		s.Run.Problems = append(s.Run.Problems, "the history has no end: the run was cut off, and what is not in it may have happened")
	}
	return s
}
