package api

import (
	"cmp"
	"net/http"
	"time"

	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
)

// struck is a call that a fault acts on.
type struck struct {
	*Call
	w        http.ResponseWriter
	hit      *cloudfault.Hit
	reply    any
	answered bool
}

// Refuse implements cloudfault.Caller and cloudfault.Reply.
func (c *struck) Refuse(e cloudfault.Refuse) {
	c.hit.Effective()
	c.answered = true
	if e.Code == "" {
		c.record(e.Status, "")
		http.Error(c.w, cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
		return
	}
	c.fail(c.w, &wire.Error{Status: e.Status, Code: e.Code, Message: cmp.Or(e.Message, Message(e.Code))})
}

// throttled are the errors of a spent rate limit, by protocol; of others it is that of JSON.
var throttled = map[wire.Protocol]string{wire.EC2Query: "RequestLimitExceeded", wire.AWSQuery: "Throttling"}

// RateLimit implements cloudfault.Caller. AWS does not say when the limit is full again.
func (c *struck) RateLimit(time.Duration) {
	c.hit.Effective()
	code := cmp.Or(throttled[c.Service.Protocol], "ThrottlingException")
	c.fail(c.w, wire.Errorf(code, "%s", Message(code)))
}

// Hang implements cloudfault.Caller.
func (c *struck) Hang() { c.Lose(true) }

// Delay implements cloudfault.Caller. A client may not wait for so long; the call is carried out all the same.
func (c *struck) Delay(by time.Duration) {
	timer := c.Cloud.Clock().NewTimer(by)
	defer timer.Stop()
	<-timer.C()
	c.hit.Effective()
}

// Lose implements cloudfault.Reply.
func (c *struck) Lose(hang bool) {
	c.hit.Effective()
	c.record(0, "")
	if hang {
		<-c.Request.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// Alter implements cloudfault.Reply.
func (c *struck) Alter(change func(map[string]any) bool) {
	body, is := wire.Tree(c.Service.Protocol, c.reply).(map[string]any)
	if is && change(body) {
		c.hit.Effective()
		c.reply = body
	}
}

// messages are texts of errors that only faults give, as AWS has them.
var messages = map[string]string{
	"RequestLimitExceeded":         "Request limit exceeded.",
	"Throttling":                   "Rate exceeded",
	"ThrottlingException":          "Rate exceeded",
	"InternalError":                "An internal error has occurred",
	"Unavailable":                  "The service is unavailable. Please try again shortly.",
	"InsufficientInstanceCapacity": "We currently do not have sufficient capacity for what you requested.",
	"UnauthorizedOperation":        "You are not authorized to perform this operation.",
	"MaxFleetCountExceeded":        "You've reached your quota for maximum Fleet Requests for this account.",
	"VcpuLimitExceeded":            "You have requested more vCPU capacity than your current vCPU limit allows.",
	"MaxSpotInstanceCountExceeded": "Max spot instance count exceeded",
	"InsufficientFreeAddressesInSubnet": "There are not enough free addresses in the subnet to satisfy the requested number of " +
		"instances.",
}

// Message is the text of an error of that code that only faults give.
func Message(code string) string { return cmp.Or(messages[code], code) }
