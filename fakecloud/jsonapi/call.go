package jsonapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/httpfault"
	"nodestorm/sim/history"
)

// Call is one request under way.
type Call struct {
	Cloud   *fakecloud.Cloud
	Request *http.Request
	Body    []byte
	// Match is what faults are matched with.
	Match cloudfault.Call
	// Tx is that in which the call is carried out.
	Tx *fakecloud.Tx

	op    Operation
	wants map[string]any
}

// maxBody is more than any request needs, in bytes.
const maxBody = 1 << 20

// serve carries out a call, with what faults have in store for it. Of one without the token nothing is recorded but that it came:
// anybody on the machine can make it, in any program's name.
func (cfg Config) serve(op Operation, others *history.Strangers, w http.ResponseWriter, r *http.Request) {
	c := &Call{Cloud: cfg.Cloud, Request: r, op: op}
	if !cfg.authorized(r) {
		others.Came()
		answer(w, http.StatusUnauthorized, map[string]string{"code": "unauthorized", "message": "the token is not that of this cloud"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		c.fail(w, 0, fakecloud.Errorf("invalid_input", "the body cannot be read, or is larger than %d bytes", maxBody))
		return
	}
	c.Body = body
	c.identify()
	if hit := c.Cloud.Faults().First(cloudfault.Before, c.Match); hit != nil {
		if !hit.Effect.(cloudfault.BeforeCall).BeforeCall(c.struckBy(hit, w)) {
			return
		}
	}
	status, reply := 0, any(nil)
	err = c.Cloud.Update(func(tx *fakecloud.Tx) (err error) {
		c.Tx = tx
		status, reply, err = op.Handle(c)
		return err
	})
	if err != nil {
		c.fail(w, 0, err)
		return
	}
	if hit := c.Cloud.Faults().First(cloudfault.After, c.Match); hit != nil {
		by := c.struckBy(hit, w)
		by.Reply = reply
		hit.Effect.(cloudfault.AfterCall).AfterCall(by)
		if by.Answered {
			return
		}
		reply = by.Reply
	}
	c.write(w, status, reply, nil)
}

// identify says which instance the call is about, and what it wants.
func (c *Call) identify() {
	of := Subject{Instance: c.Request.PathValue("name")}
	if c.op.Subject != nil {
		of = c.op.Subject(c)
	} else {
		c.Cloud.View(func(tx *fakecloud.Tx) {
			if i := tx.Instances.Named(of.Instance); i != nil {
				of.Group = tx.Group(i.Labels)
			}
		})
	}
	c.Match = cloudfault.Call{Operation: c.op.Name, Instance: of.Instance, Group: of.Group}
	c.wants = of.Wants
}

// faultyCall is a call that a fault acts on.
type faultyCall struct {
	httpfault.Call
	of *Call
}

func (c *Call) struckBy(hit *cloudfault.Hit, w http.ResponseWriter) *faultyCall {
	return &faultyCall{of: c, Call: httpfault.Call{
		Hit: hit, Writer: w, Client: c.Request, Clock: c.Cloud.Clock(), Recorded: c.record,
		Refused: func(e cloudfault.Refuse) {
			c.fail(w, e.Status, fakecloud.Errorf(e.Code, "%s", cmp.Or(e.Message, strings.ReplaceAll(e.Code, "_", " "))))
		},
	}}
}

// RateLimit implements cloudfault.Caller.
func (c *faultyCall) RateLimit(time.Duration) {
	c.Hit.Effective()
	c.of.fail(c.Writer, 0, fakecloud.Errorf("rate_limit_exceeded", "too many calls"))
}

// Alter implements cloudfault.Reply.
func (c *faultyCall) Alter(change func(map[string]any) bool) {
	var body map[string]any
	is, err := json.Marshal(c.Reply)
	if err == nil && json.Unmarshal(is, &body) == nil && change(body) {
		c.Hit.Effective()
		c.Reply = body
	}
}

// statuses are those of errors; others have 500.
var statuses = map[string]int{
	"invalid_input": http.StatusBadRequest, "unauthorized": http.StatusUnauthorized, "resource_limit_exceeded": http.StatusForbidden,
	"not_found": http.StatusNotFound, "uniqueness_error": http.StatusConflict, "conflict": http.StatusConflict,
	"not_ready":            http.StatusConflict,
	"resource_unavailable": http.StatusPreconditionFailed, "rate_limit_exceeded": http.StatusTooManyRequests,
	"unavailable": http.StatusServiceUnavailable,
}

// fail answers with an error; status zero means the one of its code.
func (c *Call) fail(w http.ResponseWriter, status int, err error) {
	refused := &fakecloud.Error{}
	if !errors.As(err, &refused) {
		refused = fakecloud.Errorf("server_error", "%v", err)
	}
	if status == 0 {
		status = http.StatusInternalServerError
		if known, ok := statuses[refused.Code]; ok {
			status = known
		}
	}
	c.write(w, status, map[string]string{"code": refused.Code, "message": refused.Message}, refused)
}

func (c *Call) write(w http.ResponseWriter, status int, reply any, refused *fakecloud.Error) {
	code := ""
	if refused != nil {
		code = refused.Code
	}
	c.record(status, code)
	answer(w, status, reply)
}

func answer(w http.ResponseWriter, status int, reply any) {
	body, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// event puts the call into the history. Status zero means that no reply was given.
func (c *Call) record(status int, code string) {
	e := history.Event{At: c.Cloud.Clock().Now(), Source: history.Cloud, Verb: c.op.Name, Code: status, Actor: actor(c.Request)}
	if c.Match.Instance != "" {
		e.Object = history.Object{Resource: "instances", Name: c.Match.Instance}
	}
	detail := maps.Clone(c.wants)
	for key, value := range map[string]string{"error": code, "group": c.Match.Group} {
		if value != "" {
			if detail == nil {
				detail = map[string]any{}
			}
			detail[key] = value
		}
	}
	e.Detail = detail
	c.Cloud.Recorder().Record(e)
}

// actor is the product that a client calls itself, cut short: it comes from outside.
func actor(r *http.Request) string {
	product, _, _ := strings.Cut(r.UserAgent(), "/")
	product, _, _ = strings.Cut(product, " ")
	return product[:min(len(product), 64)]
}

// Decode reads the body.
func (c *Call) Decode(into any) error {
	d := json.NewDecoder(bytes.NewReader(c.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fakecloud.Errorf("invalid_input", "the body is not as it should be: %s", fmt.Sprintf("%.200s", err.Error()))
	}
	return nil
}
