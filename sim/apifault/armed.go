package apifault

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	"nodestorm/sim/history"
)

// armed is a rule at work. Its fields are guarded by the proxy's mutex; times are
// zero as long as they have not come.
type armed struct {
	Rule
	action

	armedAt, effectiveAt, clearedAt time.Time
	activeAt                        time.Time
	turn                            int           // at which it became active
	seen                            int           // matching calls since it is active
	taken                           int           // calls that it has not finished with
	over                            chan struct{} // closed when it is cleared
	timer                           clock.Timer   // of At and For
	past                            past          // StaleList: what it serves
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
	states := make([]RuleState, 0, len(p.rules))
	for _, a := range p.rules {
		states = append(states, RuleState{a.Name, a.action.String(), a.armedAt, a.effectiveAt, a.clearedAt, max(0, a.seen-a.Skip)})
	}
	return states
}

// Unmet returns the rules that have made no difference so far: a run that ends
// with one has not shown what it set out to show.
func (p *Proxy) Unmet() []RuleState {
	return slices.DeleteFunc(p.Rules(), func(s RuleState) bool { return !s.Effective.IsZero() })
}

// Inject arms more rules, behind those that are there, and returns when those that
// are active at once are. An error of Check arms none. If the API server does not tell
// what is new now, within 10s, they are armed, and a StaleList makes no difference.
func (p *Proxy) Inject(rules ...Rule) error {
	armed, err := p.inject(rules)
	for _, a := range armed {
		if a.Act.StaleList != nil && a.When == nil && a.At.Duration == 0 {
			<-a.past.known
			if err == nil && a.past.err != nil {
				err = fmt.Errorf("rule %q: %w", a.Name, a.past.err)
			}
		}
	}
	return err
}

func (p *Proxy) inject(rules []Rule) (injected []*armed, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Rule
	for _, a := range p.rules {
		if a.clearedAt.IsZero() {
			all = append(all, a.Rule)
		}
	}
	if err := Check(append(all, rules...)); err != nil {
		return nil, err
	}
	for _, rule := range rules {
		a := &armed{Rule: rule, over: make(chan struct{}), past: past{known: make(chan struct{})}}
		a.action, _ = rule.Act.one() // Check has looked
		if p.writer == nil && (rule.Act.OtherWriter != nil || rule.Act.StaleList != nil) {
			return nil, fmt.Errorf("rule %q: %s needs an identity of its own (Config.Writer)", rule.Name, a.action)
		}
		injected = append(injected, a)
	}
	for _, a := range injected {
		p.arm(a)
	}
	return injected, nil
}

func (p *Proxy) arm(a *armed) {
	a.armedAt = p.cfg.Clock.Now()
	p.rules = append(p.rules, a)
	var newest uint64
	if before := p.cfg.History.Since(0); len(before) > 0 {
		newest = before[len(before)-1].Seq
	}
	p.record(a, "armed", Actor, nil)
	if a.When == nil {
		p.activateIn(a, a.At.Duration)
		return
	}
	p.calls.Go(func() {
		event, err := p.cfg.History.WaitAfter(p.ctx, newest, func(r history.Record) bool { return a.When.Matches(r) })
		if err != nil {
			return // the proxy or the history has ended
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		at := p.cfg.History.Start().Add(event.Virtual + a.At.Duration)
		p.activateIn(a, at.Sub(p.cfg.Clock.Now()))
	})
}

// activateIn activates the rule after d, at once if that is over.
func (p *Proxy) activateIn(a *armed, d time.Duration) {
	switch {
	case !a.clearedAt.IsZero():
	case d <= 0:
		p.activate(a)
	default:
		a.timer = p.cfg.Clock.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if a.clearedAt.IsZero() {
				p.activate(a)
			}
		})
	}
}

func (p *Proxy) activate(a *armed) {
	a.activeAt = p.cfg.Clock.Now()
	p.turn++
	a.turn = p.turn
	if a.For.Duration > 0 {
		a.timer = p.cfg.Clock.AfterFunc(a.For.Duration, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.clear(a)
		})
	}
	if a.Act.StaleList != nil {
		p.calls.Go(func() { p.noteVersion(a) })
	}
	for s := range p.streams {
		if a.watches() && s.free() && p.takes(a, s.call.info, s.call.agent) {
			s.begin(a)
		}
	}
}

// claim finds the rule that takes a call, nil for none. turn tells which rules
// have been asked: those that had become active.
func (p *Proxy) claim(info *request.RequestInfo, agent string) (rule *armed, turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rules {
		if p.takes(a, info, agent) {
			return a, p.turn
		}
	}
	return nil, p.turn
}

// takes counts a call that the rule is about, and reports whether it takes it.
func (p *Proxy) takes(a *armed, info *request.RequestInfo, agent string) bool {
	if a.activeAt.IsZero() || !a.clearedAt.IsZero() || a.Limit > 0 && a.seen == a.Skip+a.Limit || !a.Match.matches(info, agent) {
		return false
	}
	a.seen++
	if a.seen <= a.Skip {
		return false
	}
	a.taken++
	p.record(a, "matched", product(agent), map[string]any{"call": describe(info)})
	return true
}

// tookEffect notes that a call went otherwise than it would have. facts may be nil.
func (p *Proxy) tookEffect(c *call, a *armed, facts map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.effectiveAt.IsZero() {
		a.effectiveAt = p.cfg.Clock.Now()
	}
	detail := map[string]any{"call": describe(c.info)}
	for key, value := range facts {
		detail[key] = value
	}
	p.record(a, "effective", product(c.agent), detail)
}

// ineffective notes why a call that a rule took went as it would have anyway.
func (p *Proxy) ineffective(c *call, a *armed, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record(a, "ineffective", product(c.agent), map[string]any{"call": describe(c.info), "reason": why})
}

// finished clears a rule whose last call is over.
func (p *Proxy) finished(a *armed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.taken--; a.taken == 0 && a.Limit > 0 && a.seen == a.Skip+a.Limit {
		p.clear(a)
	}
}

// Clear ends a rule: what it holds back goes on. A rule that is over already is
// left as it is.
func (p *Proxy) Clear(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rules {
		if a.Name == name {
			p.clear(a)
			return nil
		}
	}
	return fmt.Errorf("no rule %q", name)
}

func (p *Proxy) clearAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.rules {
		p.clear(a)
	}
}

func (p *Proxy) clear(a *armed) {
	if !a.clearedAt.IsZero() {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.clearedAt = p.cfg.Clock.Now()
	close(a.over)
	p.record(a, "cleared", Actor, nil)
}

// record writes a step of the rule's life. The object is the same in all of them:
// a verdict knows a fault by its name and its object.
func (p *Proxy) record(a *armed, verb, actor string, detail map[string]any) {
	if detail == nil {
		detail = map[string]any{}
	}
	detail["fault"], detail["effect"] = a.Name, a.action.String()
	p.cfg.History.Record(history.Event{
		At: p.cfg.Clock.Now(), Source: history.Fault, Verb: verb, Actor: actor, Detail: detail,
		Object: history.Object{Resource: a.Match.Resource, Namespace: a.Match.Namespace, Name: a.Match.Name},
	})
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
