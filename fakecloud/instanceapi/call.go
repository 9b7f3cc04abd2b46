package instanceapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
	"nodestorm/sim/history"
)

// call is one request under way.
type call struct {
	s     *Server
	r     *http.Request
	op    operation
	body  []byte
	about fault.Call // what faults are matched with
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
	if hit := s.cloud.Faults().First(fault.Before, c.about); hit != nil && c.before(w, hit) {
		return
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
	if hit := s.cloud.Faults().First(fault.After, c.about); hit != nil {
		reply = c.after(hit, reply)
	}
	c.write(w, status, reply, nil)
}

// identify says which instance the call is about, and what it wants.
func (c *call) identify() {
	c.about = fault.Call{Operation: c.op.name, Instance: c.r.PathValue("name")}
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

// before carries out a fault before the call, and reports whether that was all.
func (c *call) before(w http.ResponseWriter, hit *fault.Hit) (done bool) {
	if _, late := hit.Effect.(fault.Delay); !late {
		hit.Effective()
	}
	switch e := hit.Effect.(type) {
	case fault.Refuse:
		if e.Code == "" {
			c.record(e.Status, "")
			http.Error(w, text(e.Message, http.StatusText(e.Status)), e.Status)
			return true
		}
		c.fail(w, e.Status, fakecloud.Errorf(e.Code, "%s", text(e.Message, strings.ReplaceAll(e.Code, "_", " "))))
	case fault.RateLimit:
		c.fail(w, 0, fakecloud.Errorf("rate_limit_exceeded", "too many calls"))
	case fault.Hang:
		c.record(0, "")
		<-c.r.Context().Done()
		panic(http.ErrAbortHandler)
	case fault.Delay:
		timer := c.s.cloud.Clock().NewTimer(time.Duration(e.By))
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-c.r.Context().Done(): // the call is carried out, whoever waits for it
			<-timer.C()
		}
		hit.Effective()
		return false
	}
	return true
}

func text(given, usual string) string {
	if given != "" {
		return given
	}
	return usual
}

// after carries out a fault after the call, and returns what is answered.
func (c *call) after(hit *fault.Hit, reply any) any {
	switch e := hit.Effect.(type) {
	case fault.LoseReply:
		hit.Effective()
		c.record(0, "")
		if e.Hang {
			<-c.r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	case fault.AlterReply:
		var body map[string]any
		is, err := json.Marshal(reply)
		if err == nil && json.Unmarshal(is, &body) == nil && e.Apply(body) {
			hit.Effective()
			return body
		}
	}
	return reply
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
