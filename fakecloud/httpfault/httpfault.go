// Package httpfault carries out what faults do to calls over HTTP, as far as that is the same in every wire API. What an error
// or a reply looks like is said by the API.
package httpfault

import (
	"cmp"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud/cloudfault"
)

// Call is a call that a fault acts on: a part of a cloudfault.Caller and a cloudfault.Reply, which embeds it. All fields down to
// Recorded are required, and Refused is unless the API has a Refuse of its own.
type Call struct {
	Hit    *cloudfault.Hit
	Writer http.ResponseWriter
	// Client is the request: a reply that is lost is awaited as long as that lasts.
	Client *http.Request
	Clock  clock.Clock
	// Recorded puts the call into the history, with an error of the API. Status zero means that no reply was given.
	Recorded func(status int, code string)
	// Refused answers with an error of the API, which the fault names by its code, and records that.
	Refused func(cloudfault.Refuse)
	// Reply is what the API answers, Answered that there is nothing more to write.
	Reply    any
	Answered bool
}

// Refuse implements cloudfault.Caller and cloudfault.Reply. A fault that names no error of the API refuses in plain text.
func (c *Call) Refuse(e cloudfault.Refuse) {
	c.Hit.Effective()
	c.Answered = true
	if e.Code != "" {
		c.Refused(e)
		return
	}
	c.Recorded(e.Status, "")
	http.Error(c.Writer, cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
}

// Hang implements cloudfault.Caller.
func (c *Call) Hang() { c.Lose(true) }

// Delay implements cloudfault.Caller. The call is carried out, whether or not its client still waits.
func (c *Call) Delay(by time.Duration) {
	timer := c.Clock.NewTimer(by)
	defer timer.Stop()
	<-timer.C()
	c.Hit.Effective()
}

// Lose implements cloudfault.Reply: the connection ends without a reply, at once or when the client gives up.
func (c *Call) Lose(hang bool) {
	c.Hit.Effective()
	c.Recorded(0, "")
	if hang {
		<-c.Client.Context().Done()
	}
	panic(http.ErrAbortHandler)
}
