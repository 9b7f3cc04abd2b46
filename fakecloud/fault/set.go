package fault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/sim/history"
)

// Set is the faults of one cloud. All methods are safe for concurrent use.
type Set struct {
	clk      clock.PassiveClock
	recorder history.Recorder

	mu     sync.Mutex
	random *rand.Rand
	armed  []*armed
}

type armed struct {
	Fault
	from           time.Time // when it becomes active
	matched, acted int       // calls that fit; calls that it acts on
	effects        int       // those of the latter that have seen a difference
	effective      time.Time // zero: not yet
	cleared        bool
}

// NewSet returns a Set without faults. Seed decides Probability.
func NewSet(clk clock.PassiveClock, seed uint64, recorder history.Recorder) *Set {
	return &Set{clk: clk, recorder: recorder, random: rand.New(rand.NewPCG(seed, seed))}
}

// Inject arms a fault.
func (s *Set) Inject(f Fault) error {
	if err := f.Check(nil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.armed {
		if a.Name == f.Name {
			return fmt.Errorf("fault %q is there already: want names unique in a cloud", f.Name)
		}
	}
	now := s.clk.Now()
	a := &armed{Fault: f, from: now.Add(f.At)}
	s.armed = append(s.armed, a)
	s.record(a, now, "armed", Call{})
	return nil
}

// Clear ends a fault early.
func (s *Set) Clear(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.armed {
		if a.Name == name {
			s.clear(a, s.clk.Now())
			return nil
		}
	}
	return fmt.Errorf("there is no fault %q", name)
}

// Unmet returns the names of the faults that have made no difference so far, in the order of
// Inject: a run that ends with one has not shown what it set out to show.
func (s *Set) Unmet() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, a := range s.armed {
		if a.effective.IsZero() {
			names = append(names, a.Name)
		}
	}
	return names
}

// Hit is a fault that is active at a point, and may act on a call there.
type Hit struct {
	Effect Effect
	// From is when the fault became active.
	From time.Time

	set       *Set
	armed     *armed
	call      Call
	effective bool
}

// Active returns the active faults at the point, in the order of Inject. It counts nothing.
func (s *Set) Active(point Point) []*Hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hits []*Hit
	for _, a := range s.armed {
		if a.Effect.Point() == point && s.active(a, s.clk.Now()) {
			hits = append(hits, &Hit{Effect: a.Effect, From: a.from, set: s, armed: a})
		}
	}
	return hits
}

// First returns the first fault that acts at the point on a call, taken. Nil means none. A call about
// several instances is given once for each; it counts as one.
func (s *Set) First(point Point, calls ...Call) *Hit {
	for _, h := range s.Active(point) {
		if k := slices.IndexFunc(calls, h.Fits); k >= 0 && h.Take(calls[k]) {
			return h
		}
	}
	return nil
}

// Name is the fault's.
func (h *Hit) Name() string { return h.armed.Name }

// Fits reports whether the fault's Match fits the call.
func (h *Hit) Fits(call Call) bool { return h.armed.Match.fits(call) }

// Take counts a call that fits, and reports whether the fault acts on it: not one of those
// to skip, within the limit, and drawn.
func (h *Hit) Take(call Call) bool {
	s, a := h.set, h.armed
	s.mu.Lock()
	defer s.mu.Unlock()
	a.matched++
	if a.matched <= a.Skip || (a.Limit > 0 && a.acted >= a.Limit) {
		return false
	}
	if a.Probability > 0 && s.random.Float64() >= a.Probability {
		return false
	}
	a.acted++
	h.call = call
	s.record(a, s.clk.Now(), "matched", call)
	return true
}

// Effective notes that the fault has made a difference.
func (h *Hit) Effective() { h.EffectiveAt(h.set.clk.Now()) }

// EffectiveAt is Effective at a time that may have passed already.
func (h *Hit) EffectiveAt(at time.Time) {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	a := h.armed
	if a.effective.IsZero() {
		a.effective = at
		h.set.record(a, at, "effective", h.call)
	}
	if !h.effective {
		h.effective = true
		a.effects++
	}
	if a.Limit > 0 && a.effects >= a.Limit {
		h.set.clear(a, at)
	}
}

// Next returns the next time at which a fault at the point begins or ends; zero means never.
func (s *Set) Next(point Point) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clk.Now()
	var next time.Time
	for _, a := range s.armed {
		if a.cleared || a.Effect.Point() != point {
			continue
		}
		for _, at := range []time.Time{a.from, a.from.Add(a.For)} {
			if at.After(now) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// active reports whether the fault acts now, and clears it when its time is over.
func (s *Set) active(a *armed, now time.Time) bool {
	if !a.cleared && a.For > 0 && !now.Before(a.from.Add(a.For)) {
		s.clear(a, a.from.Add(a.For))
	}
	return !a.cleared && !now.Before(a.from)
}

func (s *Set) clear(a *armed, at time.Time) {
	if !a.cleared {
		a.cleared = true
		s.record(a, at, "cleared", Call{})
	}
}

func (s *Set) record(a *armed, at time.Time, verb string, call Call) {
	detail := map[string]any{"fault": a.Name, "effect": a.Effect.String()}
	for key, value := range map[string]string{"operation": call.Operation, "group": call.Group} {
		if value != "" {
			detail[key] = value
		}
	}
	object := history.Object{}
	if call.Instance != "" {
		object = history.Object{Resource: "instances", Name: call.Instance}
	}
	s.recorder.Record(history.Event{At: at, Source: history.Fault, Verb: verb, Object: object, Actor: "fakecloud", Detail: detail})
}
