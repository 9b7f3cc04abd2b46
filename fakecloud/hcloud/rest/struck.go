package rest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
)

// struck is a call that a fault acts on, before it or on its reply.
type struck struct {
	*Call
	w     http.ResponseWriter
	hit   *cloudfault.Hit
	came  time.Time
	reply *reply
	// answered is that there is nothing more to write.
	answered bool
}

// Refuse implements cloudfault.Caller and cloudfault.Reply.
func (c *struck) Refuse(e cloudfault.Refuse) {
	c.hit.Effective()
	c.answered = true
	if e.Code == "" {
		http.Error(c.w, cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
		return
	}
	c.failWith(c.w, e.Status, fakecloud.Errorf(e.Code, "%s", messageOf(e.Code, e.Message)))
}

// RateLimit implements cloudfault.Caller.
func (c *struck) RateLimit(reset time.Duration) {
	c.hit.Effective()
	spent(c.w.Header(), c.came.Add(reset))
	c.fail(c.w, fakecloud.Errorf("rate_limit_exceeded", "limit of 3600 requests per hour reached"))
}

// Hang implements cloudfault.Caller.
func (c *struck) Hang() { c.Lose(true) }

// Delay implements cloudfault.Caller. A client may not wait for so long.
func (c *struck) Delay(by time.Duration) {
	timer := c.h.Cloud.Clock().NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-c.Request.Context().Done():
	}
	c.hit.Effective()
}

// Lose implements cloudfault.Reply.
func (c *struck) Lose(hang bool) {
	c.hit.Effective()
	c.record(0)
	if hang {
		<-c.Request.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// Alter implements cloudfault.Reply.
func (c *struck) Alter(change func(map[string]any) bool) {
	text, err := json.Marshal(c.reply.body)
	if err != nil {
		return // write reports it
	}
	body := map[string]any{}
	if json.Unmarshal(text, &body) == nil && change(body) {
		c.reply.body = body
		c.hit.Effective()
	}
}
