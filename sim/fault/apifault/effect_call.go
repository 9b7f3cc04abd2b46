package apifault

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// Delay passes a call on later: the API server sees it By later.
type Delay struct {
	// By is how much later. Required.
	By strict.Duration `json:"by" want:"positive"`
}

var _ = calls.Add("delay", Delay{}, fault.Say("is delayed by DURATION", "by")).
	Draws(drawnCall, "is delayed by 5s", "is delayed by 20s")

func (a Delay) before(c *call, _ http.ResponseWriter) (goesOn bool) {
	c.proxy.tookEffect(c, c.rule, nil)
	c.wait(time.Duration(a.By), c.rule.over)
	return true
}

// Answer answers in the API server's place, which never sees the call.
type Answer struct {
	// Code is the HTTP status, 400 to 599. The reason and the message are the API
	// server's own for that code. Required.
	Code int `json:"code"`
	// RetryAfter asks the client to wait so long, in whole seconds; with code 429
	// and 5xx only. Zero asks for nothing.
	RetryAfter strict.Duration `json:"retryAfter,omitzero"`
	// Message replaces the API server's.
	Message string `json:"message,omitempty"`
	// After is how long it takes, as when an admission webhook times out. Zero: no time.
	After strict.Duration `json:"after,omitzero"`
}

var _ = calls.Add("answer", Answer{},
	fault.Say("is answered with STATUS", "code"), fault.Say("is answered with STATUS after DURATION", "code", "after")).
	Draws(drawnCall+" is answered with", "500", "503", "409", "429").
	Draws(drawnCall, "is answered with 504 after 10s")

func (a Answer) String() string { return fmt.Sprintf("answer %d", a.Code) }

// Check implements fault.Checker.
func (a Answer) Check(fault.Fault) error {
	switch {
	case a.Code < 400 || a.Code > 599:
		return fmt.Errorf("answer.code is %d: want an error, 400 to 599", a.Code)
	case a.RetryAfter < 0 || a.RetryAfter%1e9 != 0:
		return fmt.Errorf("answer.retryAfter is %v: want whole seconds, zero or more", a.RetryAfter)
	case a.RetryAfter > 0 && a.Code != 429 && a.Code < 500:
		return fmt.Errorf("answer.retryAfter goes with code 429 or 5xx, not with %d", a.Code)
	}
	return nil
}

func (a Answer) before(c *call, w http.ResponseWriter) (goesOn bool) {
	c.proxy.tookEffect(c, c.rule, map[string]any{"code": a.Code})
	if a.After > 0 {
		c.wait(time.Duration(a.After), c.rule.over)
	}
	writeStatus(w, c.req, a.status(c.info))
	return false
}

// status is what the API server would answer a call with.
func (a Answer) status(info *request.RequestInfo) *metav1.Status {
	gr := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	seconds := int(time.Duration(a.RetryAfter).Seconds())
	var err *apierrors.StatusError
	switch a.Code {
	case http.StatusConflict:
		// The API server's words for an object that another client has written since.
		err = apierrors.NewConflict(gr, info.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
		if info.Verb == "create" && info.Subresource == "" {
			err = apierrors.NewAlreadyExists(gr, info.Name)
		}
	case http.StatusTooManyRequests:
		err = apierrors.NewTooManyRequests("Too many requests, please try again later.", seconds)
	case http.StatusForbidden:
		err = apierrors.NewForbidden(gr, info.Name, errors.New("forbidden by a rule of the fault proxy"))
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errors.New("made by a rule of the fault proxy"))
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	default:
		err = apierrors.NewGenericServerResponse(a.Code, info.Verb, gr, info.Name, "made by a rule of the fault proxy", seconds, true)
	}
	status := err.Status()
	if a.Message != "" {
		status.Message = a.Message
	}
	if seconds > 0 {
		if status.Details == nil {
			status.Details = &metav1.StatusDetails{}
		}
		status.Details.RetryAfterSeconds = int32(seconds)
	}
	return &status
}

// Drop resets the client's connection; the API server never sees the call. Other
// calls and watches on the same connection go with it, as in real life.
type Drop struct{}

var _ = calls.Add("drop", Drop{}, fault.Say("breaks its connection")).
	Draws(drawnCall, "breaks its connection")

func (Drop) before(c *call, _ http.ResponseWriter) (goesOn bool) {
	c.proxy.tookEffect(c, c.rule, nil)
	hangUp(c.req)
	return false
}

// Hold lets the API server act and keeps its reply back.
type Hold struct {
	// For is how long. Zero: until the rule is cleared.
	For strict.Duration `json:"for,omitzero"`
}

var _ = calls.Add("hold", Hold{}, fault.Say("is carried out, but its response is held back for DURATION", "for")).
	Draws(drawnCall, "is carried out, but its response is held back for 10s")

func (a Hold) after(c *call, by *armed, resp *http.Response) {
	c.proxy.tookEffect(c, by, map[string]any{"code": resp.StatusCode})
	c.wait(time.Duration(a.For), by.over)
}

// Lose lets the API server act and throws its reply away: the client's connection
// is reset, as Drop does, and it cannot know whether the call was done.
type Lose struct{}

var _ = calls.Add("lose", Lose{}, fault.Say("is carried out, but its response is lost")).
	Draws(drawnCall, "is carried out, but its response is lost")

func (Lose) after(c *call, by *armed, resp *http.Response) {
	c.proxy.tookEffect(c, by, map[string]any{"code": resp.StatusCode})
}

func (Lose) loses() {}
