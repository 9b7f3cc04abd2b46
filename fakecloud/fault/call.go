package fault

import (
	"fmt"
	"time"
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
	Reset Duration `json:"reset"`
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

func (Refuse) String() string    { return "refuse" }
func (RateLimit) String() string { return "rateLimit" }
func (Hang) String() string      { return "hang" }
func (LoseReply) String() string { return "loseReply" }

// Point implements Effect.
func (Refuse) Point() Point { return Before }

// Point implements Effect.
func (RateLimit) Point() Point { return Before }

// Point implements Effect.
func (Hang) Point() Point { return Before }

// Point implements Effect.
func (LoseReply) Point() Point { return After }

func (e Refuse) check(Fault) error {
	switch {
	case e.Code == "" && e.Status == 0:
		return fmt.Errorf("refuse wants a code, or a status for a reply that is no JSON")
	case e.Status != 0 && (e.Status < 400 || e.Status > 599):
		return fmt.Errorf("field refuse.status is %d: want 400 to 599", e.Status)
	}
	return nil
}

func (e RateLimit) check(Fault) error { return notNegative("rateLimit.reset", e.Reset) }
func (Hang) check(Fault) error        { return nil }
func (LoseReply) check(Fault) error   { return nil }

func notNegative(field string, d Duration) error {
	if d < 0 {
		return fmt.Errorf("field %s is %v: want zero or more", field, time.Duration(d))
	}
	return nil
}

func positive(field string, d Duration) error {
	if d <= 0 {
		return fmt.Errorf("field %s is %v: want more than zero", field, time.Duration(d))
	}
	return nil
}
