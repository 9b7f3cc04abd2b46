package rest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/httpfault"
)

// faultyCall is a call that a fault acts on, before it or on its reply.
type faultyCall struct {
	httpfault.Call
	of    *Call
	came  time.Time
	reply *reply
}

func (c *Call) struckBy(hit *cloudfault.Hit, w http.ResponseWriter) *faultyCall {
	return &faultyCall{of: c, Call: httpfault.Call{Hit: hit, Writer: w, Client: c.Request, Clock: c.h.Cloud.Clock(),
		Recorded: func(status int, _ string) { c.record(status) }}}
}

// Refuse implements cloudfault.Caller and cloudfault.Reply.
func (c *faultyCall) Refuse(e cloudfault.Refuse) {
	c.Hit.Effective()
	c.Answered = true
	if e.Code == "" {
		http.Error(c.Writer, cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
		return
	}
	c.of.failWith(c.Writer, e.Status, fakecloud.Errorf(e.Code, "%s", messageOf(e.Code, e.Message)))
}

// RateLimit implements cloudfault.Caller.
func (c *faultyCall) RateLimit(reset time.Duration) {
	c.Hit.Effective()
	spent(c.Writer.Header(), c.came.Add(reset))
	c.of.fail(c.Writer, fakecloud.Errorf("rate_limit_exceeded", "limit of 3600 requests per hour reached"))
}

// Delay implements cloudfault.Caller. A client may not wait for so long: then it is over.
func (c *faultyCall) Delay(by time.Duration) {
	timer := c.Clock.NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.Client.Context().Done():
	}
	c.Hit.Effective()
}

// Alter implements cloudfault.Reply.
func (c *faultyCall) Alter(change func(map[string]any) bool) {
	text, err := json.Marshal(c.reply.body)
	if err != nil {
		return // write reports it
	}
	body := map[string]any{}
	if json.Unmarshal(text, &body) == nil && change(body) {
		c.reply.body = body
		c.Hit.Effective()
	}
}
