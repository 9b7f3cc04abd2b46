package apifault

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// armed is a rule at work. Its fields are guarded by the proxy's mutex.
type armed struct {
	fault.Life
	rule fault.Fault
	does fault.Effect

	turn     int           // at which it became active; zero: not yet
	underWay int           // calls that it took and has not finished with
	over     chan struct{} // closed when it is cleared
	timer    clock.Timer   // of At and For
	past     frozenList    // StaleList: what it serves
}

// RuleState is what became of a rule. Times are zero as long as they have not come.
type RuleState struct {
	Name, Effect              string
	Armed, Effective, Cleared time.Time
	Matched                   int // calls that it took
}

// Rules returns every rule that was ever armed, in that order.
func (p *Proxy) Rules() []RuleState {
	p.mu.Lock()
	defer p.mu.Unlock()
	states := make([]RuleState, 0, len(p.rules.All()))
	for _, a := range p.rules.All() {
		states = append(states, RuleState{a.Name(), a.Effect(), a.Armed(), a.EffectiveSince(), a.Cleared(), a.Taken()})
	}
	return states
}

// Unmet returns the rules that have made no difference so far: a run that ends
// with one has not shown what it set out to show.
func (p *Proxy) Unmet() []RuleState {
	// mutant: an API fault that made no difference is not reported
	return slices.DeleteFunc(p.Rules(), func(s RuleState) bool { return !s.Effective.IsZero() })
}

// Inject implements fault.Injector. It arms one more rule, behind those that are there, and returns when it is active,
// if it is to be at once. If the API server does not return its newest resource version within 10s, it is armed, and a StaleList
// makes no difference.
func (p *Proxy) Inject(rule fault.Fault) error {
	a, err := p.inject(rule)
	if err != nil {
		return err
	}
	if _, asks := a.does.(asking); asks && a.When == nil && a.At == 0 {
		<-a.past.known
		if a.past.err != nil {
			return fmt.Errorf("rule %q: %w", a.Name(), a.past.err)
		}
	}
	return nil
}

func (p *Proxy) inject(rule fault.Fault) (*armed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := Rules.Check(rule); err != nil {
		return nil, err
	}
	if err := p.rules.Free(rule.Name); err != nil {
		return nil, err
	}
	var all []fault.Fault
	for _, a := range p.rules.All() {
		if a.Cleared().IsZero() {
			all = append(all, a.rule)
		}
	}
	if err := checkTogether(append(all, rule)); err != nil {
		return nil, err
	}
	if _, asks := rule.Effect.(ownIdentity); asks && p.writer == nil {
		return nil, fmt.Errorf("rule %q: %s needs an identity of its own (Config.Writer)", rule.Name, Rules.Called(rule.Effect))
	}
	a := &armed{rule: rule, does: rule.Effect, over: make(chan struct{}), past: frozenList{known: make(chan struct{})}}
	p.arm(a)
	return a, nil
}

func (p *Proxy) arm(a *armed) {
	waiting := fault.AwaitIn(p.cfg.History)
	recorder := fault.Recorder{History: p.cfg.History, Seed: p.cfg.Seed}
	now := p.cfg.Clock.Now()
	a.Life = recorder.Arm(a.rule.Name, Rules.Called(a.does), a.rule.Plan, now, a.eventDetails(Actor, nil))
	p.rules.Add(a)
	if a.When == nil {
		p.activateIn(a, a.Begins().Sub(now))
		return
	}
	p.calls.Go(func() {
		at, err := waiting.Event(p.ctx, a.rule.Plan)
		if err != nil {
			return // the proxy or the history has ended
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		a.Start(at)
		p.activateIn(a, a.Begins().Sub(p.cfg.Clock.Now()))
	})
}

// activateIn activates the rule after d, at once if that is over.
func (p *Proxy) activateIn(a *armed, d time.Duration) {
	switch {
	case !a.Cleared().IsZero():
	case d <= 0:
		p.activate(a)
	default:
		a.timer = p.cfg.Clock.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if a.Cleared().IsZero() {
				p.activate(a)
			}
		})
	}
}

func (p *Proxy) activate(a *armed) {
	p.turn++
	a.turn = p.turn
	if a.For > 0 {
		a.timer = p.cfg.Clock.AfterFunc(time.Duration(a.For), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.clear(a)
		})
	}
	if e, asks := a.does.(asking); asks {
		p.calls.Go(func() { e.ask(p, a) })
	}
	for s := range p.streams {
		if a.watches() && s.free() && p.takes(a, s.call.info, s.call.agent) {
			s.begin(a)
		}
	}
}

// claim finds the rule that takes a call, nil for none. turn says which rules
// have been asked: those that had become active.
func (p *Proxy) claim(info *request.RequestInfo, agent string) (rule *armed, turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rules.All() {
		if p.takes(a, info, agent) {
			return a, p.turn
		}
	}
	return nil, p.turn
}

// takes counts a call that the rule is about, and reports whether it takes it.
func (p *Proxy) takes(a *armed, info *request.RequestInfo, agent string) bool {
	if a.turn == 0 || !a.Cleared().IsZero() || !a.match().matches(info, agent) || !a.Fire() {
		return false
	}
	a.underWay++
	a.Matched(p.cfg.Clock.Now(), a.eventDetails(product(agent), map[string]any{"call": describe(info)}))
	return true
}

// tookEffect notes that a call went otherwise than it would have. facts may be nil.
func (p *Proxy) tookEffect(c *call, a *armed, facts map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	detail := map[string]any{"call": describe(c.info)}
	for key, value := range facts {
		detail[key] = value
	}
	a.Effective(p.cfg.Clock.Now(), a.eventDetails(product(c.agent), detail))
}

// ineffective notes why a call that a rule took went as it would have anyway.
func (p *Proxy) ineffective(c *call, a *armed, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.Ineffective(p.cfg.Clock.Now(), a.eventDetails(product(c.agent), map[string]any{"call": describe(c.info), "reason": why}))
}

// finished clears a rule whose last call is over.
func (p *Proxy) finished(a *armed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.underWay--; a.underWay == 0 && a.Spent() {
		p.clear(a)
	}
}

// Clear ends a rule: what it holds back goes on. A rule that is over already is
// left as it is.
func (p *Proxy) Clear(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, err := p.rules.Named(name)
	if err == nil {
		p.clear(a)
	}
	return err
}

func (p *Proxy) clearAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rules.All() {
		p.clear(a)
	}
}

func (p *Proxy) clear(a *armed) {
	if !a.Clear(p.cfg.Clock.Now(), a.eventDetails(Actor, nil)) {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	close(a.over)
}

func (a *armed) match() *Match {
	m := matchOf(a.rule)
	return &m
}

// eventDetails is what events of the rule say. The object is the same in all of them: a
// verdict knows a fault by its name and its object.
func (a *armed) eventDetails(actor string, detail map[string]any) fault.EventDetails {
	m := a.match()
	object := history.Object{Resource: m.Resource, Namespace: m.Namespace, Name: m.Name}
	return fault.EventDetails{Actor: actor, Object: object, Detail: detail}
}

// describe is a call in a few words: "update machinedeployments/scale default/web".
func describe(info *request.RequestInfo) string {
	text := info.Verb + " " + info.Resource
	if info.Subresource != "" {
		text += "/" + info.Subresource
	}
	switch {
	case info.Name != "" && info.Namespace != "" && info.Resource != "namespaces":
		text += " " + info.Namespace + "/" + info.Name
	case info.Name != "":
		text += " " + info.Name
	case info.Namespace != "":
		text += " in " + info.Namespace
	}
	return text
}
