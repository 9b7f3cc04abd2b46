package apifault

import (
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// Freeze lets a watch go silent: the connection stays, events stay away, and all
// of them arrive when it is over. Watches that are open when the rule becomes
// active are taken like those that begin later.
type Freeze struct {
	// For is how long. Zero: until the rule is cleared.
	For strict.Duration `json:"for,omitzero"`
}

var _ = watches.Add("freeze", Freeze{}, fault.Say("delivers nothing for DURATION", "for")).
	Draws(drawnWatch, "delivers nothing for 1m")

// Check implements fault.Checker.
func (Freeze) Check(f fault.Fault) error { return onlyVerbs(f, "freeze", "watch") }

func (act Freeze) watch(s *stream, a *armed) {
	thawed := make(chan struct{})
	s.thawed = thawed
	p := s.call.proxy
	p.calls.Go(func() {
		s.wait(time.Duration(act.For), a)
		s.mu.Lock()
		s.rule, s.thawed = nil, nil
		s.mu.Unlock()
		close(thawed)
		p.finished(a)
	})
}

// Cut breaks a watch off.
type Cut struct {
	// After is how long the watch still runs; it counts from the later of the
	// watch's beginning and the rule's.
	After strict.Duration `json:"after,omitzero"`
}

var _ = watches.Add("cut", Cut{}, fault.Say("is cut off after DURATION", "after")).
	Draws(drawnWatch, "is cut off after 10s")

// Check implements fault.Checker.
func (Cut) Check(f fault.Fault) error { return onlyVerbs(f, "cut", "watch") }

func (act Cut) watch(s *stream, a *armed) {
	p := s.call.proxy
	p.calls.Go(func() {
		if s.wait(time.Duration(act.After)+1, a) {
			p.tookEffect(s.call, a, nil)
			s.stop(func() { s.broken = true })
		}
		p.finished(a)
	})
}

// Expire ends a watch as the API server does when the resource version is too old:
// with an error event of status 410, reason Expired.
type Expire struct {
	// After is how long the watch still runs; it counts from the later of the
	// watch's beginning and the rule's.
	After strict.Duration `json:"after,omitzero"`
}

var _ = watches.Add("expire", Expire{}, fault.Say("expires after DURATION", "after")).
	Draws(drawnWatch, "expires after 20s")

// Check implements fault.Checker.
func (Expire) Check(f fault.Fault) error { return onlyVerbs(f, "expire", "watch") }

func (act Expire) watch(s *stream, a *armed) {
	p := s.call.proxy
	p.calls.Go(func() {
		switch {
		case !s.wait(time.Duration(act.After)+1, a):
		case s.encoding == nil:
			p.ineffective(s.call, a, "the proxy cannot write the watch's encoding")
		default:
			p.tookEffect(s.call, a, nil)
			s.stop(func() { s.expired = true })
		}
		p.finished(a)
	})
}
