package api

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/history"
)

// Call is one request under way.
type Call struct {
	*Handler
	Service *Service
	Request *http.Request
	// Match is what faults in listings are matched with.
	Match cloudfault.Call
	// Tx is that in which the call is carried out, Began when that was begun.
	Tx    *fakecloud.Tx
	Began time.Time

	byHost bool // it was sent to a host of AWS's
	op     *Operation
	id     string
	body   []byte
	about  Subject
	notes  map[string]any
}

// maxBody is more than any request needs, in bytes: messages may have 1 MiB, user data 16 KiB.
const maxBody = 2 << 20

// unknownAction is the operation of a request for one that its service does not have, or that is not served.
var unknownAction = Operation{Name: "unknown"}

// ServeHTTP implements http.Handler. Of a call without a valid signature nothing is recorded but that it came: anybody on the
// machine can make it, in any program's name. One that was signed too long ago is a program's whose clock is off.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	signature, reason := wire.ReadSignature(r)
	c := &Call{Handler: h, Request: r, op: &unknownAction, id: h.requestID(), notes: map[string]any{}}
	c.Service, c.byHost = h.find(r, signature)
	now := h.Cloud.Clock().Now()
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil { // of which no signature can be checked
		h.others.Came()
		c.answerError(w, wire.Errorf("RequestEntityTooLarge", "the request cannot be read, or is larger than %d bytes", maxBody))
		return
	}
	h.travel()
	if reason == 0 {
		reason = c.checkSignature(signature, body)
	}
	if reason != 0 && reason != wire.Expired && reason != wire.Early {
		h.others.Came()
		c.answerError(w, reason.Refusal(c.Service.Protocol))
		return
	}
	c.body = body
	in, err := c.read()
	if reason != 0 {
		err = reason.Refusal(c.Service.Protocol)
	}
	if err != nil {
		c.fail(w, err)
		return
	}
	c.carryOut(w, in)
}

// travel is the time that requests and answers are under way.
func (h *Handler) travel() {
	if h.Latency <= 0 {
		return
	}
	timer := h.Cloud.Clock().NewTimer(h.Latency)
	defer timer.Stop()
	<-timer.C()
}

func (c *Call) checkSignature(s wire.Signature, body []byte) wire.Reason {
	secret, known := c.Keys[s.Key]
	if !known {
		return wire.UnknownKey
	}
	reason := s.Check(c.Request, body, secret, c.Cloud.Clock().Now())
	// Where clients have the endpoint from a setting, SDKs sign for their own region even if the service has one for all.
	if reason == 0 && (s.Service != c.Service.Name || c.byHost && s.Region != c.Service.Region) {
		return wire.Misdirected
	}
	return reason
}

// read finds the operation and reads its request.
func (c *Call) read() (in any, err error) {
	switch p := c.Service.Protocol; {
	case p.IsForm():
		return c.readForm()
	case p == wire.RESTJSON:
		return c.readPath()
	}
	target, name, _ := strings.Cut(c.Request.Header.Get("X-Amz-Target"), ".")
	op := c.Service.named(name)
	if target != c.Service.Target || op == nil || c.Request.Method != http.MethodPost {
		return nil, c.notServed("UnknownOperationException", "%s.%s", target, name)
	}
	c.op = op
	in = op.request()
	return in, wire.DecodeJSON(c.body, in)
}

func (c *Call) readForm() (any, error) {
	text := c.body
	if c.Request.Method == http.MethodGet {
		text = []byte(c.Request.URL.RawQuery)
	}
	form, err := wire.ParseForm(text)
	if err != nil {
		return nil, err
	}
	op := c.Service.named(form.Action)
	switch {
	case form.Action == "":
		return nil, wire.Errorf("MissingAction", "The request must contain the parameter Action")
	case op == nil:
		return nil, c.notServed("InvalidAction", "%s", form.Action)
	case form.Version != c.Service.Version:
		return nil, wire.Errorf("InvalidAction", "The action %s is not valid for version %.40q of this web service: want %s", form.Action,
			form.Version, c.Service.Version)
	}
	c.op = op
	in := op.request()
	return in, wire.DecodeForm(form, c.Service.Protocol, in)
}

func (c *Call) readPath() (any, error) {
	op := c.Service.routed(c.Request)
	if op == nil {
		return nil, c.notServed("UnknownOperationException", "%s %s", c.Request.Method, c.Request.URL.Path)
	}
	c.op = op
	in := op.request()
	if err := wire.DecodeJSON(c.body, in); err != nil {
		return nil, err
	}
	values, _ := wire.MatchPath(op.Path, c.Request.URL.EscapedPath()) // it is routed by it
	return in, wire.SetPath(in, values)
}

// notServed refuses an operation that is not there, or that nothing here knows: what needs it has not been tried.
func (c *Call) notServed(code, format string, args ...any) error {
	called := fmt.Sprintf(format, args...)
	c.ReportUnserved(fmt.Sprintf("the cloud does not serve %s %.80q", c.Service.Name, called))
	return wire.Errorf(code, "The action %.80s is not valid for this web service.", called)
}

// ReportUnserved records that the cloud does not know what a program asks of it, so that nothing is concluded from the run.
func (c *Call) ReportUnserved(why string) {
	c.Cloud.Recorder().Record(history.Event{
		At: c.Cloud.Clock().Now(), Source: history.Harness, Verb: history.Unreadable, Actor: "fakecloud", Detail: map[string]any{"error": why},
	})
}

// Note has the event of the call say more.
func (c *Call) Note(key string, value any) { c.notes[key] = value }

// Concern has the event of the call be about instances that only its answer names.
func (c *Call) Concern(names ...string) { c.about.Instances = names }

// carryOut does what was read, with what faults have in store for it.
func (c *Call) carryOut(w http.ResponseWriter, in any) {
	if c.op.about != nil {
		c.Cloud.View(func(tx *fakecloud.Tx) { c.Tx = tx; c.about = c.op.about(c, in) })
	}
	calls := c.matches()
	c.Match = calls[0]
	if hit := c.Cloud.Faults().First(cloudfault.Before, calls...); hit != nil {
		if !hit.Effect.(cloudfault.BeforeCall).BeforeCall(c.struckBy(hit, w)) {
			return
		}
	}
	out, err := c.do(in)
	if err != nil {
		c.fail(w, err)
		return
	}
	if hit := c.Cloud.Faults().First(cloudfault.After, calls...); hit != nil {
		by := c.struckBy(hit, w)
		by.Reply = out
		hit.Effect.(cloudfault.AfterCall).AfterCall(by)
		if by.Answered {
			return
		}
		out = by.Reply
	}
	c.answer(w, out)
}

// matches are what faults are matched with: one at least.
func (c *Call) matches() []cloudfault.Call {
	calls := c.about.Matches
	if len(calls) == 0 {
		c.Cloud.View(func(tx *fakecloud.Tx) {
			for _, name := range c.about.Instances {
				call := cloudfault.Call{Instance: name}
				if i := tx.Instances.Named(name); i != nil {
					call.Group = tx.Group(i.Labels)
				}
				calls = append(calls, call)
			}
		})
	}
	if len(calls) == 0 {
		calls = []cloudfault.Call{{}}
	}
	for k := range calls {
		calls[k].Operation = c.op.Name
	}
	return calls
}

// do carries the call out, again and again while it waits for its answer and its client for it.
func (c *Call) do(in any) (out any, err error) {
	c.Began = c.Cloud.Clock().Now()
	for {
		err = c.Cloud.Update(func(tx *fakecloud.Tx) (err error) {
			c.Tx = tx
			out, err = c.op.handle(c, in)
			return err
		})
		wait := &Wait{}
		if !errors.As(err, &wait) {
			return out, err
		}
		timer := c.Cloud.Clock().NewTimer(wait.Until.Sub(c.Cloud.Clock().Now()))
		select {
		case <-timer.C():
		case <-wait.Woken:
		case <-c.Request.Context().Done():
			timer.Stop()
			c.record(0, "")
			panic(http.ErrAbortHandler)
		}
		timer.Stop()
	}
}

func (c *Call) fail(w http.ResponseWriter, err error) {
	refused := &wire.Error{}
	if !errors.As(err, &refused) {
		refused = wire.Errorf("InternalError", "%v", err)
	}
	if refused.Code == wire.UnknownParameter {
		c.ReportUnserved(fmt.Sprintf("the cloud does not know a parameter of %s: %.120s", c.op.Name, refused.Message))
	}
	_, code, is := strings.Cut(refused.Code, "#") // of its shape's name
	if !is {
		code = refused.Code
	}
	c.record(refused.StatusOf(), code)
	c.answerError(w, refused)
}

func (c *Call) answerError(w http.ResponseWriter, e *wire.Error) {
	body, headers := wire.WriteError(c.Service.Protocol, c.Service.Namespace, c.id, e)
	for key, value := range headers {
		w.Header().Set(key, value)
	}
	c.write(w, e.StatusOf(), body)
}

// bodies are those of answers that were written, whose room is used again: a listing has megabytes.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

func (c *Call) answer(w http.ResponseWriter, out any) {
	room := bodies.Get().(*[]byte)
	defer bodies.Put(room)
	body, err := wire.Answer{
		Protocol: c.Service.Protocol, Action: c.op.Name, Namespace: c.Service.Namespace, RequestID: c.id, Of: out,
	}.Write((*room)[:0])
	*room = body
	if err != nil {
		c.fail(w, err)
		return
	}
	c.record(http.StatusOK, "")
	c.write(w, http.StatusOK, body)
}

func (c *Call) write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", c.Service.ContentType())
	w.Header().Set("X-Amzn-Requestid", c.id)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// event puts the call into the history. Status zero means that no answer was given.
func (c *Call) record(status int, code string) {
	e := history.Event{At: c.Cloud.Clock().Now(), Source: history.Cloud, Verb: c.op.Name, Code: status, Actor: actor(c.Request)}
	detail := map[string]any{}
	maps.Copy(detail, c.about.Wants)
	maps.Copy(detail, c.notes)
	switch names := c.about.Instances; {
	case len(names) == 1:
		e.Object = history.Object{Resource: "instances", Name: names[0]}
	case len(names) > 1:
		detail["instances"] = names
	}
	if code == wire.DryRun {
		detail["dryRun"] = true
	}
	for key, value := range map[string]string{"error": code, "group": c.Match.Group} {
		if value != "" {
			detail[key] = value
		}
	}
	if len(detail) > 0 {
		e.Detail = detail
	}
	c.Cloud.Recorder().Record(e)
}

// actors are programs by what is in the user agents of the SDKs that they use.
var actors = map[string]string{
	"karpenter.sh": "karpenter", "cluster-autoscaler": "cluster-autoscaler", " kubernetes/": "cloud-controller-manager",
}

// actor is the program that a client calls itself, or else its product, cut short: it comes from outside.
func actor(r *http.Request) string {
	agent := r.UserAgent()
	for words, name := range actors {
		if strings.Contains(agent, words) {
			return name
		}
	}
	product, _, _ := strings.Cut(agent, "/")
	product, _, _ = strings.Cut(product, " ")
	return product[:min(len(product), 64)]
}

// Digest is that of the call's body.
func (c *Call) Digest() [sha256.Size]byte { return sha256.Sum256(c.body) }

// Operation is the name of the call's.
func (c *Call) Operation() string { return c.op.Name }
