package rest

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

func (c *Call) Action(a *fakecloud.Action) schema.Action {
	s := schema.Action{
		ID: a.ID, Status: a.Status, Command: a.Command, Progress: a.Progress(c.Tx.Now()), Started: a.Started,
		Resources: []schema.ActionResourceReference{},
	}
	if !a.Finished.IsZero() {
		s.Finished = new(a.Finished)
	}
	if a.Status == fakecloud.ActionError {
		s.Error = &schema.ActionError{Code: a.Fails.Code, Message: a.Fails.Message}
	}
	for _, r := range a.Resources {
		s.Resources = append(s.Resources, schema.ActionResourceReference{ID: r.ID, Type: r.Type})
	}
	return s
}

func (c *Call) Actions(all []*fakecloud.Action) []schema.Action {
	some := []schema.Action{}
	for _, a := range all {
		some = append(some, c.Action(a))
	}
	return some
}

// Labels are those of a resource, never null.
func Labels(l map[string]string) map[string]string {
	if l == nil {
		return map[string]string{}
	}
	return l
}

// NonNil is a list that is never null.
func NonNil[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}
