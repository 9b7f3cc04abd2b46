package apifault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodestorm/sim/time/lapse"
)

// Act is what a rule does to a call: exactly one of its fields is set.
type Act struct {
	Delay       *Delay       `json:"delay,omitempty"`
	Answer      *Answer      `json:"answer,omitempty"`
	Drop        *Drop        `json:"drop,omitempty"`
	Hold        *Hold        `json:"hold,omitempty"`
	Lose        *Lose        `json:"lose,omitempty"`
	OtherWriter *OtherWriter `json:"otherWriter,omitempty"`
	StaleList   *StaleList   `json:"staleList,omitempty"`
	Freeze      *Freeze      `json:"freeze,omitempty"`
	Cut         *Cut         `json:"cut,omitempty"`
	Expire      *Expire      `json:"expire,omitempty"`
}

// Delay passes a call on later: the API server sees it By later.
type Delay struct {
	By lapse.Duration `json:"by"`
}

// Answer answers in the API server's place, which never sees the call.
type Answer struct {
	// Code is the HTTP status, 400 to 599. The reason and the message are the API
	// server's own for that code.
	Code int `json:"code"`
	// RetryAfter asks the client to wait so long, in whole seconds; with code 429
	// and 5xx only. Zero asks for nothing.
	RetryAfter lapse.Duration `json:"retryAfter,omitzero"`
	// Message replaces the API server's.
	Message string `json:"message,omitempty"`
	// After is how long it takes, as when an admission webhook times out. Zero: no time.
	After lapse.Duration `json:"after,omitzero"`
}

// Drop resets the client's connection; the API server never sees the call. Other
// calls and watches on the same connection go with it, as in real life.
type Drop struct{}

// Hold lets the API server act and keeps its reply back.
type Hold struct {
	// For is how long. Zero: until the rule is cleared.
	For lapse.Duration `json:"for,omitzero"`
}

// Lose lets the API server act and throws its reply away: the client's connection
// is reset, as Drop does, and it cannot know whether the call was done.
type Lose struct{}

// OtherWriter changes the call's object behind the client's back, so that the API
// server itself answers 409 to whoever writes with the resource version from
// before. A get is replied to after that change has been made, and so is old news;
// before a write it is made first. It is a JSON merge patch by Config.Writer.
type OtherWriter struct {
	// Patch is what it changes, besides the annotation Annotation. Empty: nothing.
	Patch map[string]any `json:"patch,omitempty"`
	// Settle is how long the call waits after that, for those who watch the object to
	// see the change before the client goes on. Zero: not at all.
	Settle lapse.Duration `json:"settle,omitzero"`
}

// Annotation is what the other writer sets, to a new value each time.
const Annotation = "apifault.nodestorm/other-writer"

// StaleList answers lists with what was there when the rule became active: the API
// server is asked for that resource version. Its etcd forgets it after 5 to 10
// minutes and then answers 410. Clients that list by watching (sendInitialEvents)
// send no list.
type StaleList struct{}

// Freeze lets a watch go silent: the connection stays, events stay away, and all
// of them arrive when it is over. Watches that are open when the rule becomes
// active are taken like those that begin later.
type Freeze struct {
	// For is how long. Zero: until the rule is cleared.
	For lapse.Duration `json:"for,omitzero"`
}

// Cut breaks a watch off.
type Cut struct {
	// After is how long the watch still runs; it counts from the later of the
	// watch's beginning and the rule's.
	After lapse.Duration `json:"after,omitzero"`
}

// Expire ends a watch as the API server does when the resource version is too old:
// with an error event of status 410, reason Expired.
type Expire struct {
	After lapse.Duration `json:"after,omitzero"` // as Cut's
}

// action is one of the types above.
type action interface {
	fmt.Stringer
	// check says what is wrong with it for calls that m matches.
	check(m *Match) error
}

func (*Delay) String() string       { return "delay" }
func (a *Answer) String() string    { return fmt.Sprintf("answer %d", a.Code) }
func (*Drop) String() string        { return "drop" }
func (*Hold) String() string        { return "hold" }
func (*Lose) String() string        { return "lose" }
func (*OtherWriter) String() string { return "other writer" }
func (*StaleList) String() string   { return "stale list" }
func (*Freeze) String() string      { return "freeze" }
func (*Cut) String() string         { return "cut" }
func (*Expire) String() string      { return "expire" }

// one returns the action, an error unless there is exactly one.
func (a *Act) one() (action, error) {
	var found []action
	for _, each := range []struct {
		action
		given bool
	}{
		{a.Delay, a.Delay != nil}, {a.Answer, a.Answer != nil}, {a.Drop, a.Drop != nil}, {a.Hold, a.Hold != nil},
		{a.Lose, a.Lose != nil}, {a.OtherWriter, a.OtherWriter != nil}, {a.StaleList, a.StaleList != nil},
		{a.Freeze, a.Freeze != nil}, {a.Cut, a.Cut != nil}, {a.Expire, a.Expire != nil},
	} {
		if each.given {
			found = append(found, each.action)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("act has %d of delay, answer, drop, hold, lose, otherWriter, staleList, freeze, cut, expire: want one", len(found))
	}
	return found[0], nil
}

func (a *Delay) check(*Match) error {
	return lapse.Positive("delay.by", a.By)
}

func (a *Answer) check(*Match) error {
	switch {
	case a.Code < 400 || a.Code > 599:
		return fmt.Errorf("answer.code is %d: want an error, 400 to 599", a.Code)
	case a.RetryAfter < 0 || a.RetryAfter%1e9 != 0:
		return fmt.Errorf("answer.retryAfter is %v: want whole seconds, zero or more", a.RetryAfter)
	case a.RetryAfter > 0 && a.Code != 429 && a.Code < 500:
		return fmt.Errorf("answer.retryAfter goes with code 429 or 5xx, not with %d", a.Code)
	}
	return lapse.NotNegative("answer.after", a.After)
}

func (*Drop) check(*Match) error { return nil }

func (a *Hold) check(*Match) error { return lapse.NotNegative("hold.for", a.For) }

func (*Lose) check(*Match) error { return nil }

func (a *OtherWriter) check(m *Match) error {
	return errors.Join(m.onlyVerbs("otherWriter", "get", "update", "patch", "delete"), lapse.NotNegative("otherWriter.settle", a.Settle))
}

func (*StaleList) check(m *Match) error { return m.onlyVerbs("staleList", "list") }

func (a *Freeze) check(m *Match) error {
	return errors.Join(m.onlyVerbs("freeze", "watch"), lapse.NotNegative("freeze.for", a.For))
}

func (a *Cut) check(m *Match) error {
	return errors.Join(m.onlyVerbs("cut", "watch"), lapse.NotNegative("cut.after", a.After))
}

func (a *Expire) check(m *Match) error {
	return errors.Join(m.onlyVerbs("expire", "watch"), lapse.NotNegative("expire.after", a.After))
}

// onlyVerbs makes sure that the rule is about these verbs only.
func (m *Match) onlyVerbs(act string, verbs ...string) error {
	if len(m.Verbs) == 0 {
		return fmt.Errorf("%s is for %s: want match.verbs to say so", act, strings.Join(verbs, ", "))
	}
	for _, verb := range m.Verbs {
		if !slices.Contains(verbs, verb) {
			return fmt.Errorf("%s is for %s, not for %s", act, strings.Join(verbs, ", "), verb)
		}
	}
	return nil
}
