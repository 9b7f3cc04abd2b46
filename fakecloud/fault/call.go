package fault

import (
	"fmt"
	"strings"

	"nodestorm/sim/time/lapse"
)

// Refuse means that the call is not carried out and gets an error.
type Refuse struct {
	// Code is the error code in the words of the wire API, for Hetzner for example
	// resource_unavailable, resource_limit_exceeded, placement_error or server_error. Empty means a
	// reply that is no JSON, as proxies in front of an API give it; Status is required then.
	Code string `json:"code"`
	// Message empty means the usual text of Code.
	Message string `json:"message"`
	// Status is the HTTP status, 400 to 599. Zero means the one that belongs to Code.
	Status int `json:"status"`
}

// RateLimit means that the call gets 429 with code rate_limit_exceeded, and headers that
// say that nothing is left.
type RateLimit struct {
	// Reset is when, from the call, the headers promise the full limit again. Zero means an hour.
	Reset lapse.Duration `json:"reset"`
}

// Hang means that the call is not carried out and gets no reply, until the client
// gives up.
type Hang struct{}

// LoseReply means that the call succeeds and its reply does not arrive. Go's HTTP client tries a
// GET again by itself then, so it is of use with calls that change something.
type LoseReply struct {
	// Hang keeps the connection until the client gives up. False closes it at once.
	Hang bool `json:"hang"`
}

// Delay means that the call is carried out later.
type Delay struct {
	// By is how much later. Required.
	By lapse.Duration `json:"by"`
}

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

func (Refuse) String() string     { return "refuse" }
func (RateLimit) String() string  { return "rateLimit" }
func (Hang) String() string       { return "hang" }
func (LoseReply) String() string  { return "loseReply" }
func (Delay) String() string      { return "delay" }
func (AlterReply) String() string { return "alterReply" }

// Point implements Effect.
func (Refuse) Point() Point { return Before }

// Point implements Effect.
func (RateLimit) Point() Point { return Before }

// Point implements Effect.
func (Hang) Point() Point { return Before }

// Point implements Effect.
func (LoseReply) Point() Point { return After }

// Point implements Effect.
func (Delay) Point() Point { return Before }

// Point implements Effect.
func (AlterReply) Point() Point { return After }

func (e Refuse) check(Fault) error {
	switch {
	case e.Code == "" && e.Status == 0:
		return fmt.Errorf("refuse wants a code, or a status for a reply that is no JSON")
	case e.Status != 0 && (e.Status < 400 || e.Status > 599):
		return fmt.Errorf("field refuse.status is %d: want 400 to 599", e.Status)
	}
	return nil
}

func (e RateLimit) check(Fault) error { return lapse.NotNegative("rateLimit.reset", e.Reset) }
func (Hang) check(Fault) error        { return nil }
func (LoseReply) check(Fault) error   { return nil }
func (e Delay) check(Fault) error     { return lapse.Positive("delay.by", e.By) }

func (e AlterReply) check(Fault) error {
	if len(e.Omit) == 0 && len(e.Set) == 0 {
		return fmt.Errorf("alterReply changes nothing: want fields to omit, or to set")
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
