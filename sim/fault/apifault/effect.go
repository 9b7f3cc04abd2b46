package apifault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nodestorm/sim/fault"
)

// What an effect does, it says by having some of these methods.
type (
	// beforehand acts before the API server sees a call, and reports whether it is to see it at all.
	beforehand interface {
		before(c *call, w http.ResponseWriter) (goesOn bool)
	}
	// afterwards acts between the API server's reply and the client.
	afterwards interface {
		after(c *call, by *armed, resp *http.Response)
	}
	// losing is one of those after which the client gets no reply.
	losing interface{ loses() }
	// onWatch acts on the stream of a watch, which is locked. It returns at once, and calls finished when it has
	// done with it.
	onWatch interface{ watch(s *stream, a *armed) }
	// asking asks the API server something when the rule becomes active, and closes past.known.
	asking interface{ ask(p *Proxy, a *armed) }
	// ownIdentity makes calls of its own.
	ownIdentity interface{ asksItself() }
)

// onlyVerbs makes sure that a rule is about these verbs only.
func onlyVerbs(rule fault.Fault, act string, verbs ...string) error {
	about := matchOf(rule).Verbs
	if len(about) == 0 {
		return fmt.Errorf("%s is for %s: want match.verbs to say so", act, strings.Join(verbs, ", "))
	}
	for _, verb := range about {
		if !slices.Contains(verbs, verb) {
			return fmt.Errorf("%s is for %s, not for %s", act, strings.Join(verbs, ", "), verb)
		}
	}
	return nil
}
