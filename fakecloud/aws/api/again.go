package api

import (
	"crypto/sha256"

	"nodestorm/fakecloud/aws/wire"
)

// Answers has the answers to calls with client tokens, which SDKs give their calls, so that one that is made again because its answer
// was lost does nothing twice ("Ensuring idempotency in Amazon EC2 API requests").
type Answers struct{ now, before map[string]remembered }

// remembered is an answer, and the digest of its request.
type remembered struct {
	in  [sha256.Size]byte
	out any
}

// mostRemembered is how many answers are kept at least: a client makes a call again within minutes.
const mostRemembered = 5000

// Again answers a call whose token was seen before as it was then, and else does it.
func Again[Out any](a *Answers, c *Call, token string, do func() (*Out, error)) (*Out, error) {
	key := c.Operation() + " " + token
	was, seen := a.now[key]
	if !seen {
		was, seen = a.before[key]
	}
	switch {
	case token != "" && seen && was.in != c.Digest():
		return nil, wire.Errorf("IdempotentParameterMismatch", "The request has the client token of another one, and other parameters")
	// mutant: a launch that is asked for again is another one
	case token != "" && seen:
		return was.out.(*Out), nil
	}
	out, err := do()
	if err == nil && token != "" {
		if len(a.now) >= mostRemembered || a.now == nil {
			a.now, a.before = map[string]remembered{}, a.now
		}
		a.now[key] = remembered{c.Digest(), out}
	}
	return out, err
}
