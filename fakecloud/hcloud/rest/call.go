package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
)

// Call is one request under way.
type Call struct {
	h       *Handler
	Request *http.Request
	op      Operation
	body    []byte
	id      int64 // in the path; zero for none
	Tx      *fakecloud.Tx

	Calls       []cloudfault.Call // what faults are matched with: one at least
	name, group string            // of the instance that it is about, the first where there are more
	errorCode   string
}

func (c *Call) Cloud() *fakecloud.Cloud { return c.h.Cloud }

// Types are server types as the API has them, by ID, kept while no fault says otherwise. For use within Update only.
func (c *Call) Types() map[int64]schema.ServerType { return c.h.types }

// pathID is the ID in the path. What is no number is an ID that nothing has.
func pathID(r *http.Request) int64 {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 0 {
		return 0
	}
	return id
}

func (c *Call) read(w http.ResponseWriter) error {
	if c.Request.Method == http.MethodGet || c.Request.Body == nil {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, c.Request.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fakecloud.Errorf("request_too_large", "request body is larger than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return fakecloud.Errorf("json_error", "request body could not be read")
	}
	c.body = body
	return nil
}

// Decode reads the request's body. An empty one is an object without fields.
func (c *Call) Decode(into any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(c.body))
	err := d.Decode(into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		field := wrong.Field
		if field == "" {
			field = "body"
		}
		return fakecloud.Invalid(field, "must not be a %s", wrong.Value)
	}
	if err == nil {
		_, err = d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	return fakecloud.Errorf("json_error", "Invalid JSON input in your request")
}

// matchedCalls is what faults are matched with: the instances that the call names in its path, body or
// query, or the group.
func (c *Call) matchedCalls() []cloudfault.Call {
	query := c.Request.URL.Query
	label := c.h.Cloud.GroupLabel()
	switch {
	case c.op.Name == "POST /servers":
		var spec struct {
			Name   string            `json:"name"`
			Labels map[string]string `json:"labels"`
		}
		_ = json.Unmarshal(c.body, &spec) // the operation reports what is wrong with it
		c.name, c.group = spec.Name, spec.Labels[label]
	case c.op.Name == "GET /servers":
		c.name = query().Get("name")
		if s, err := ParseSelector(query().Get("label_selector")); err == nil {
			c.group = s.value(label)
		}
	case strings.Contains(c.op.Name, "/servers/{id}"):
		c.h.Cloud.View(func(tx *fakecloud.Tx) { c.instance(tx, c.id) })
	case c.op.Name == "GET /actions", strings.HasSuffix(c.op.Name, "/actions/{id}"):
		ids := query()["id"]
		if len(ids) == 0 {
			ids = []string{c.Request.PathValue("id")}
		}
		var calls []cloudfault.Call
		c.h.Cloud.View(func(tx *fakecloud.Tx) {
			for _, text := range ids {
				id, _ := strconv.ParseInt(text, 10, 64) // no action has ID zero
				a := tx.Actions.Get(id)
				if a == nil {
					continue
				}
				if i := tx.Instances.Get(a.ResourceID("server")); i != nil {
					calls = append(calls, cloudfault.Call{Operation: c.op.Name, Group: tx.Group(i.Labels), Instance: i.Name})
				}
			}
		})
		if len(calls) > 0 {
			c.name, c.group = calls[0].Instance, calls[0].Group
			return calls
		}
	case c.id != 0:
		c.name = strconv.FormatInt(c.id, 10)
		return []cloudfault.Call{{Operation: c.op.Name}}
	}
	return []cloudfault.Call{{Operation: c.op.Name, Group: c.group, Instance: c.name}}
}

func (c *Call) instance(tx *fakecloud.Tx, id int64) {
	if i := tx.Instances.Get(id); i != nil {
		c.name, c.group = i.Name, tx.Group(i.Labels)
	}
}

// reply is what the call gets.
type reply struct {
	call   *Call
	status int
	body   any
	err    error
}

// execute carries the call out.
func (c *Call) execute() reply {
	r := reply{call: c}
	r.err = c.h.Cloud.Update(func(tx *fakecloud.Tx) (err error) {
		c.Tx = tx
		r.status, r.body, err = c.op.handle(c)
		return err
	})
	return r
}

func (r reply) write(w http.ResponseWriter) {
	if r.err != nil {
		r.call.fail(w, r.err)
		return
	}
	if r.body == nil {
		w.WriteHeader(r.status)
		return
	}
	text, err := json.Marshal(r.body)
	if err != nil {
		r.call.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(text) // the client may be gone
}

// statuses are those that the API documents for its error codes.
var statuses = map[string]int{
	"json_error": 400, "unauthorized": 401,
	"forbidden": 403, "token_readonly": 403, "resource_limit_exceeded": 403,
	"not_found": 404, "method_not_allowed": 405,
	"uniqueness_error": 409, "conflict": 409, "server_already_attached": 409, "server_not_stopped": 409,
	"deprecated_api_endpoint": 410,
	"resource_unavailable":    412, "placement_error": 412, "no_space_left_in_location": 412,
	"request_too_large": 413,
	"locked":            423, "protected": 423, "resource_locked": 423,
	"rate_limit_exceeded": 429,
	"server_error":        500, "unknown_error": 500,
	"bad_gateway": 502, "maintenance": 503, "unavailable": 503, "robot_unavailable": 503, "timeout": 504,
}

// statusOf is the HTTP status of an error code: 422 where it is not one of the general ones.
func statusOf(code string) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusUnprocessableEntity
}

// messages are texts of errors that only faults give.
var messages = map[string]string{
	"resource_unavailable":    "we are unable to provision servers for this location, try with a different location or try later",
	"resource_limit_exceeded": "server limit reached",
	"placement_error":         "error during placement",
	"server_error":            "internal server error",
	"conflict":                "the resource has changed during the request, please retry",
	"maintenance":             "cannot perform operation due to maintenance",
	"bad_gateway":             "the request could not be answered by the API backend",
	"timeout":                 "the request could not be answered in time",
	"locked":                  "the item you are trying to access is locked",
}

func messageOf(code, message string) string {
	switch {
	case message != "":
		return message
	case messages[code] != "":
		return messages[code]
	}
	return strings.ReplaceAll(code, "_", " ")
}

// ErrorBody is schema.ErrorResponse with details as the API writes them.
type ErrorBody struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Details any    `json:"details"`
	} `json:"error"`
}

type fieldDetails struct {
	Fields []fieldDetail `json:"fields"`
}

type fieldDetail struct {
	Name     string   `json:"name"`
	Messages []string `json:"messages"`
}

func (c *Call) fail(w http.ResponseWriter, err error) { c.failWith(w, 0, err) }

// failWith answers with an error; status zero means the one of its code.
func (c *Call) failWith(w http.ResponseWriter, status int, err error) {
	refused := &fakecloud.Error{}
	if !errors.As(err, &refused) {
		refused = fakecloud.Errorf("server_error", "%v", err)
	}
	c.errorCode = refused.Code
	var body ErrorBody
	body.Error.Code, body.Error.Message = refused.Code, refused.Message
	if len(refused.Fields) > 0 {
		details := fieldDetails{}
		for _, f := range refused.Fields {
			details.Fields = append(details.Fields, fieldDetail{f.Name, []string{f.Message}})
		}
		body.Error.Details = details
	}
	if status == 0 {
		status = statusOf(refused.Code)
	}
	text, _ := json.Marshal(body) // strings only
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}
