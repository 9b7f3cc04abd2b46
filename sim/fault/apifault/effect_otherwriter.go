package apifault

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// OtherWriter changes the call's object behind the client's back, so that the API
// server itself answers 409 to a write with the resource version from
// before. A get is replied to after that change has been made, and so is old news;
// before a write it is made first.
type OtherWriter struct {
	// Patch is a JSON merge patch of the object. Without it, only an annotation is changed.
	Patch map[string]any `json:"patch,omitempty"`
	// Settle is how long the call waits after that, for those who watch the object to
	// see the change before the client goes on. Zero: not at all.
	Settle strict.Duration `json:"settle,omitzero"`
}

// Annotation is what the other writer sets, to a new value each time.
const Annotation = "apifault.nodestorm/other-writer"

var _ = calls.Add("otherWriter", OtherWriter{}, fault.Say("finds its object updated by another client")).Called("other writer")

// Check implements fault.Checker.
func (OtherWriter) Check(f fault.Fault) error {
	return onlyVerbs(f, "otherWriter", "get", "update", "patch", "delete")
}

func (OtherWriter) asksItself() {}

func (act OtherWriter) before(c *call, _ http.ResponseWriter) (goesOn bool) {
	if c.info.Verb != "get" {
		act.interfere(c)
	}
	return true
}

func (act OtherWriter) after(c *call, by *armed, resp *http.Response) {
	switch {
	case c.info.Verb != "get":
	case resp.StatusCode != http.StatusOK:
		c.proxy.ineffective(c, by, resp.Status)
	default:
		act.interfere(c)
	}
}

// interfere lets the other writer change the call's object.
func (act OtherWriter) interfere(c *call) {
	p := c.proxy
	patch := map[string]any{}
	for field, value := range act.Patch {
		patch[field] = value
	}
	metadata := map[string]any{}
	if given, ok := patch["metadata"].(map[string]any); ok {
		for field, value := range given {
			metadata[field] = value
		}
	}
	annotations := map[string]any{Annotation: strconv.FormatInt(time.Now().UnixNano(), 36)}
	if given, ok := metadata["annotations"].(map[string]any); ok {
		for key, value := range given {
			annotations[key] = value
		}
	}
	metadata["annotations"], patch["metadata"] = annotations, metadata
	body, err := json.Marshal(patch)
	if err == nil {
		header := http.Header{"Content-Type": {string(types.MergePatchType)}}
		_, err = p.writer.do(p.ctx, http.MethodPatch, objectPath(c.info), nil, header, body)
	}
	if err != nil {
		p.ineffective(c, c.rule, err.Error())
		return
	}
	p.tookEffect(c, c.rule, nil)
	if time.Duration(act.Settle) > 0 {
		c.wait(time.Duration(act.Settle), c.rule.over)
	}
}
