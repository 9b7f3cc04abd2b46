package cloudfault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// Refuse means that the call is not carried out and gets an error.
type Refuse struct {
	// Code is the error code in the words of the wire API, for Hetzner for example
	// resource_unavailable, resource_limit_exceeded, placement_error or server_error. Without it the
	// reply is no JSON, as proxies in front of an API give it, and Status is needed.
	Code string `json:"code"`
	// Message is the error's text. Without it, it is the usual one of Code.
	Message string `json:"message"`
	// Status is the HTTP status, 400 to 599. Zero means the one that belongs to Code.
	Status int `json:"status"`
}

var _ = calls.Add("refuse", Refuse{},
	fault.Say(`is refused with "NAME"`, "code"), fault.Say("is answered with STATUS and no JSON", "status"))

// Check implements fault.Checker.
func (e Refuse) Check(fault.Fault) error {
	switch {
	case e.Code == "" && e.Status == 0:
		return errors.New("refuse wants a code, or a status for a reply that is no JSON")
	case e.Status != 0 && (e.Status < 400 || e.Status > 599):
		return fmt.Errorf("field refuse.status is %d: want 400 to 599", e.Status)
	}
	return nil
}

// BeforeCall implements BeforeCall.
func (e Refuse) BeforeCall(c Caller) (goesOn bool) {
	c.Refuse(e)
	return false
}

// RateLimit means that the call gets 429 with code rate_limit_exceeded, and headers that
// say that nothing is left.
type RateLimit struct {
	// Reset is when, from the call, the headers promise the full limit again. Zero means an hour.
	Reset strict.Duration `json:"reset"`
}

var _ = calls.Add("rateLimit", RateLimit{}, fault.Say("is rate limited, and the limit resets DURATION later", "reset"))

// BeforeCall implements BeforeCall.
func (e RateLimit) BeforeCall(c Caller) (goesOn bool) {
	reset := time.Duration(e.Reset)
	if reset == 0 {
		reset = time.Hour
	}
	c.RateLimit(reset)
	return false
}

// Hang means that the call is not carried out and gets no reply, until the client
// gives up.
type Hang struct{}

var _ = calls.Add("hang", Hang{}, fault.Say("is not answered"))

// BeforeCall implements BeforeCall.
func (Hang) BeforeCall(c Caller) (goesOn bool) {
	c.Hang()
	return false
}

// Delay means that the call is carried out later.
type Delay struct {
	// By is how much later. Required.
	By strict.Duration `json:"by" want:"positive"`
}

var _ = calls.Add("delay", Delay{}, fault.Say("is delayed by DURATION", "by"))

// BeforeCall implements BeforeCall.
func (e Delay) BeforeCall(c Caller) (goesOn bool) {
	c.Delay(time.Duration(e.By))
	return true
}

// LoseReply means that the call succeeds and its reply does not arrive. Go's HTTP client tries a
// GET again by itself then, so it is of use with calls that change something.
type LoseReply struct {
	// Hang keeps the connection until the client gives up. False closes it at once.
	Hang bool `json:"hang"`
}

var _ = calls.Add("loseReply", LoseReply{},
	fault.Say("is carried out, but its response is lost"), fault.Words{Text: "is carried out, but not answered", Sets: "hang: true"})

// AfterCall implements AfterCall.
func (e LoseReply) AfterCall(r Reply) { r.Lose(e.Hang) }

// RefuseReply means that the call is carried out, and its reply is an error, as if it had not been.
type RefuseReply struct {
	// Code is the error code in the words of the wire API. Required.
	Code string `json:"code"`
	// Message is the error's text. Without it, it is the usual one of Code.
	Message string `json:"message"`
	// Status is the HTTP status, 400 to 599. Zero means the one that belongs to Code.
	Status int `json:"status"`
}

var _ = calls.Add("refuseReply", RefuseReply{}, fault.Say(`is done, and answered with "NAME"`, "code"))

// Check implements fault.Checker.
func (e RefuseReply) Check(f fault.Fault) error {
	if e.Code == "" {
		return errors.New("field refuseReply.code is empty: want a code of the cloud's API")
	}
	return Refuse(e).Check(f)
}

// AfterCall implements AfterCall.
func (e RefuseReply) AfterCall(r Reply) { r.Refuse(Refuse(e)) }

// AlterReply means that the call is carried out, and its reply says something else. Fields are called as
// in the wire API.
type AlterReply struct {
	// Omit are fields that the reply does not have, by their paths: "instances.status" is that of each
	// of the instances.
	Omit []string `json:"omit"`
	// Set are fields that have other values, by their paths as well: numbers, texts, true or false. A field of
	// the reply itself may be one that it did not have.
	Set map[string]any `json:"set"`
}

var _ = calls.Add("alterReply", AlterReply{},
	fault.Say(`is answered without the fields "FIELDS"`, "omit"), fault.Say(`is answered with the field "FIELD=VALUE"`, "set"))

// Check implements fault.Checker.
func (e AlterReply) Check(fault.Fault) error {
	if len(e.Omit) == 0 && len(e.Set) == 0 {
		return errors.New("alterReply changes nothing: want fields to omit, or to set")
	}
	for field, value := range e.Set {
		switch value.(type) {
		case string, bool, int, int64, float64:
		default:
			return fmt.Errorf("field alterReply.set.%s: want a number, a text, true or false", field)
		}
	}
	return nil
}

// AfterCall implements AfterCall.
func (e AlterReply) AfterCall(r Reply) { r.Alter(e.Apply) }

// Apply changes a reply, as JSON has it, and reports whether that has made a difference.
func (e AlterReply) Apply(reply map[string]any) (changed bool) {
	for _, path := range e.Omit {
		changed = omit(reply, strings.Split(path, ".")) || changed
	}
	for path, value := range e.Set {
		changed = holders(reply, strings.Split(path, "."), func(in map[string]any, field string) bool {
			in[field] = value
			return true
		}) || changed
	}
	return changed
}

// omit takes the field at a path out of a value.
func omit(from any, path []string) (found bool) {
	return holders(from, path, func(in map[string]any, field string) bool {
		_, found := in[field]
		delete(in, field)
		return found
	})
}

// holders calls do with what may have the field at a path: one thing, or each where there is a list of
// them. It reports whether any call did something.
func holders(of any, path []string, do func(in map[string]any, field string) bool) (done bool) {
	switch of := of.(type) {
	case []any:
		for _, item := range of {
			done = holders(item, path, do) || done
		}
	case map[string]any:
		if len(path) > 1 {
			return holders(of[path[0]], path[1:], do)
		}
		done = do(of, path[0])
	}
	return done
}
