package instanceapi

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
	"nodestorm/sim/history"
)

// call is one request under way.
type call struct {
	s     *Server
	r     *http.Request
	op    operation
	body  []byte
	about cloudfault.Call // what faults are matched with
	// wanted is what a launch asks for, in the words of records.
	wanted map[string]any
	tx     *fakecloud.Tx
}

// maxBody is more than any request needs, in bytes.
const maxBody = 1 << 20

// serve carries out a call, with what faults have in store for it.
func (s *Server) serve(op operation, w http.ResponseWriter, r *http.Request) {
	c := &call{s: s, r: r, op: op}
	if !s.authorized(r) {
		c.fail(w, 0, fakecloud.Errorf("unauthorized", "the token is not that of this cloud"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		c.fail(w, 0, fakecloud.Errorf("invalid_input", "the body cannot be read, or is larger than %d bytes", maxBody))
		return
	}
	c.body = body
	c.identify()
	if hit := s.cloud.Faults().First(cloudfault.Before, c.about); hit != nil {
		if !hit.Effect.(cloudfault.BeforeCall).BeforeCall(&struck{call: c, w: w, hit: hit}) {
			return
		}
	}
	status, reply := 0, any(nil)
	err = s.cloud.Update(func(tx *fakecloud.Tx) (err error) {
		c.tx = tx
		status, reply, err = op.handle(c)
		return err
	})
	if err != nil {
		c.fail(w, 0, err)
		return
	}
	if hit := s.cloud.Faults().First(cloudfault.After, c.about); hit != nil {
		by := &struck{call: c, w: w, hit: hit, reply: reply}
		hit.Effect.(cloudfault.AfterCall).AfterCall(by)
		reply = by.reply
	}
	c.write(w, status, reply, nil)
}

// identify says which instance the call is about, and what it wants.
func (c *call) identify() {
	c.about = cloudfault.Call{Operation: c.op.name, Instance: c.r.PathValue("name")}
	if c.op.name != launchName {
		c.s.cloud.View(func(tx *fakecloud.Tx) {
			if i := tx.Instances.Named(c.about.Instance); i != nil {
				c.about.Group = tx.Group(i.Labels)
			}
		})
		return
	}
	var l launch
	_ = json.Unmarshal(c.body, &l) // launching tells what is wrong with it
	c.about.Instance, c.about.Group = l.Name, l.Tags[c.s.cloud.GroupLabel()]
	c.wanted = map[string]any{"type": l.Type, "location": l.Zone, "capacity": l.CapacityType}
}

// struck is a call that a fault acts on.
type struck struct {
	*call
	w     http.ResponseWriter
	hit   *cloudfault.Hit
	reply any
}

// Refuse implements cloudfault.Caller.
func (c *struck) Refuse(e cloudfault.Refuse) {
	c.hit.Effective()
	if e.Code == "" {
		c.record(e.Status, "")
		http.Error(c.w, cmp.Or(e.Message, http.StatusText(e.Status)), e.Status)
		return
	}
	c.fail(c.w, e.Status, fakecloud.Errorf(e.Code, "%s", cmp.Or(e.Message, strings.ReplaceAll(e.Code, "_", " "))))
}

// RateLimit implements cloudfault.Caller.
func (c *struck) RateLimit(time.Duration) {
	c.hit.Effective()
	c.fail(c.w, 0, fakecloud.Errorf("rate_limit_exceeded", "too many calls"))
}

// Hang implements cloudfault.Caller.
func (c *struck) Hang() { c.Lose(true) }

// Delay implements cloudfault.Caller. The call is carried out, whoever waits for it.
func (c *struck) Delay(by time.Duration) {
	timer := c.s.cloud.Clock().NewTimer(by)
	defer timer.Stop()
	<-timer.C()
	c.hit.Effective()
}

// Lose implements cloudfault.Reply.
func (c *struck) Lose(hang bool) {
	c.hit.Effective()
	c.record(0, "")
	if hang {
		<-c.r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// Alter implements cloudfault.Reply.
func (c *struck) Alter(change func(map[string]any) bool) {
	var body map[string]any
	is, err := json.Marshal(c.reply)
	if err == nil && json.Unmarshal(is, &body) == nil && change(body) {
		c.hit.Effective()
		c.reply = body
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
func (c *call) fail(w http.ResponseWriter, status int, err error) {
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

func (c *call) write(w http.ResponseWriter, status int, reply any, refused *fakecloud.Error) {
	code := ""
	if refused != nil {
		code = refused.Code
	}
	c.record(status, code)
	body, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// record puts the call into the history. Status zero means that no reply was given.
func (c *call) record(status int, code string) {
	e := history.Event{At: c.s.cloud.Clock().Now(), Source: history.Cloud, Verb: c.op.name, Code: status, Actor: actor(c.r)}
	if c.about.Instance != "" {
		e.Object = history.Object{Resource: "instances", Name: c.about.Instance}
	}
	detail := maps.Clone(c.wanted)
	for key, value := range map[string]string{"error": code, "group": c.about.Group} {
		if value != "" {
			if detail == nil {
				detail = map[string]any{}
			}
			detail[key] = value
		}
	}
	e.Detail = detail
	c.s.cloud.Recorder().Record(e)
}

// actor is the product that a client calls itself, cut short: it comes from outside.
func actor(r *http.Request) string {
	product, _, _ := strings.Cut(r.UserAgent(), "/")
	product, _, _ = strings.Cut(product, " ")
	return product[:min(len(product), 64)]
}

// decode reads the body.
func (c *call) decode(into any) error {
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fakecloud.Errorf("invalid_input", "the body is not as it should be: %s", fmt.Sprintf("%.200s", err.Error()))
	}
	return nil
}
