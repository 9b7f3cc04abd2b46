package api

import (
	"cmp"
	"net/http"
	"time"

	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/httpfault"
)

// struck is a call that a fault acts on.
type struck struct {
	httpfault.Call
	of *Call
}

func (c *Call) struckBy(hit *cloudfault.Hit, w http.ResponseWriter) *struck {
	return &struck{of: c, Call: httpfault.Call{
		Hit: hit, Writer: w, Client: c.Request, Clock: c.Cloud.Clock(), Recorded: c.record,
		Refused: func(e cloudfault.Refuse) {
			c.fail(w, &wire.Error{Status: e.Status, Code: e.Code, Message: cmp.Or(e.Message, Message(e.Code))})
		},
	}}
}

// throttled are the errors of a spent rate limit, by protocol; of others it is that of JSON.
var throttled = map[wire.Protocol]string{wire.EC2Query: "RequestLimitExceeded", wire.AWSQuery: "Throttling"}

// RateLimit implements cloudfault.Caller. AWS does not say when the limit is full again.
func (c *struck) RateLimit(time.Duration) {
	c.Hit.Effective()
	code := cmp.Or(throttled[c.of.Service.Protocol], "ThrottlingException")
	c.of.fail(c.Writer, wire.Errorf(code, "%s", Message(code)))
}

// Alter implements cloudfault.Reply.
func (c *struck) Alter(change func(map[string]any) bool) {
	body, is := wire.Tree(c.of.Service.Protocol, c.Reply).(map[string]any)
	if is && change(body) {
		c.Hit.Effective()
		c.Reply = body
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
