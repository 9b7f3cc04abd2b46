package cloudfault

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// Set is the faults of one cloud. All methods are safe for concurrent use.
type Set struct {
	clk      clock.PassiveClock
	recorder fault.Recorder

	mu    sync.Mutex
	armed fault.Set[*armed]
}

type armed struct {
	fault.Life
	match   Match
	does    fault.Effect
	effects int             // calls that it acted on and that have seen a difference
	felt    map[string]bool // instances in whose life it has made one, which an event reports
}

// NewSet returns a Set without faults. Seed decides Probability.
func NewSet(clk clock.PassiveClock, seed uint64, recorder history.Recorder) *Set {
	return &Set{clk: clk, recorder: fault.Recorder{History: recorder, Seed: seed}}
}

// Inject arms a fault. One with a When waits for Start.
func (s *Set) Inject(f fault.Fault) error {
	if err := Faults.Check(f); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.armed.Free(f.Name); err != nil {
		return err
	}
	a := &armed{does: f.Effect, felt: map[string]bool{}}
	a.match, _ = f.Match.(Match)
	a.Life = s.recorder.Arm(f.Name, Faults.Called(f.Effect), f.Plan, s.clk.Now(), describe(Call{}))
	s.armed.Add(a)
	return nil
}

// Start has a fault's At count from a time.
func (s *Set) Start(name string, from time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.armed.Named(name)
	if err == nil {
		a.Start(from)
	}
	return err
}

// Clear ends a fault early.
func (s *Set) Clear(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.armed.Named(name)
	if err == nil {
		a.Clear(s.clk.Now(), describe(Call{}))
	}
	return err
}

// Unmet returns the names of the faults that have made no difference so far, in the order of
// Inject: a run that ends with one has not shown what it set out to show.
func (s *Set) Unmet() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.armed.Unmet()
}

// Hit is a fault that is active at a point, and may act on a call there.
type Hit struct {
	Effect fault.Effect
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
	for _, a := range s.armed.All() {
		if pointOf(a.does) == point && a.atWork(s.clk.Now()) {
			hits = append(hits, &Hit{Effect: a.does, From: a.Begins(), set: s, armed: a})
		}
	}
	return hits
}

// First returns the first fault that acts at the point on a call, taken. Nil means none. A call about
// several instances is given once for each; it counts as one.
func (s *Set) First(point Point, calls ...Call) *Hit {
	for _, h := range s.Active(point) {
		if k := slices.IndexFunc(calls, h.Fits); k >= 0 && h.Fire(calls[k]) {
			return h
		}
	}
	return nil
}

// Name is the fault's.
func (h *Hit) Name() string { return h.armed.Name() }

// Fits reports whether the fault's Match fits the call.
func (h *Hit) Fits(call Call) bool { return h.armed.match.fits(call) }

// Fire counts a call that fits, and reports whether the fault acts on it: not one of those
// to skip, within the limit, and drawn.
func (h *Hit) Fire(call Call) bool {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	if !h.armed.Fire() {
		return false
	}
	h.call = call
	h.armed.Matched(h.set.clk.Now(), describe(call))
	return true
}

// Effective notes that the fault has made a difference.
func (h *Hit) Effective() { h.EffectiveAt(h.set.clk.Now()) }

// EffectiveAt is Effective at a time that may have passed already.
func (h *Hit) EffectiveAt(at time.Time) {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	a := h.armed
	ofCall := slices.Contains([]Point{Before, After, Listing}, pointOf(a.does))
	if a.EffectiveSince().IsZero() || !ofCall && !a.felt[h.call.Instance] { // further calls have events of their own
		a.felt[h.call.Instance] = true
		a.Effective(at, describe(h.call))
	}
	if !h.effective {
		h.effective = true
		a.effects++
	}
	if a.Limit > 0 && a.effects >= a.Limit {
		a.Clear(at, describe(Call{}))
	}
}

// Next returns the next time at which a fault at the point begins or ends; zero means never.
func (s *Set) Next(point Point) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clk.Now()
	var next time.Time
	for _, a := range s.armed.All() {
		if !a.Cleared().IsZero() || pointOf(a.does) != point {
			continue
		}
		for _, at := range []time.Time{a.Begins(), a.Ends()} {
			if at.After(now) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// atWork reports whether the fault acts now, and clears it when its time is over.
func (a *armed) atWork(now time.Time) bool {
	if a.Expired(now) {
		a.Clear(a.Ends(), describe(Call{}))
	}
	return a.Active(now)
}

// describe returns what events say of a fault that acts on a call.
func describe(call Call) fault.EventDetails {
	detail := map[string]any{}
	for key, value := range map[string]string{"operation": call.Operation, "group": call.Group} {
		if value != "" {
			detail[key] = value
		}
	}
	object := history.Object{}
	if call.Instance != "" {
		object = history.Object{Resource: "instances", Name: call.Instance}
	}
	return fault.EventDetails{Actor: "fakecloud", Object: object, Detail: detail}
}
