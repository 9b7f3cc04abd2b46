package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
)

var actionKind = Kind[fakecloud.Action]{
	Plural: "actions", Singular: "action",
	All:    func(c *Call) []*fakecloud.Action { return c.Tx.Actions.All() },
	Meta:   func(a *fakecloud.Action) table.Meta { return table.Meta{ID: a.ID} },
	Encode: func(c *Call, a *fakecloud.Action) any { return c.Action(a) },
	Filters: map[string]func(*fakecloud.Action, string) bool{
		"status": func(a *fakecloud.Action, status string) bool { return a.Status == status },
		"id":     func(a *fakecloud.Action, id string) bool { return strconv.FormatInt(a.ID, 10) == id },
	},
	sorts: map[string]func(a, b *fakecloud.Action) int{
		"command":  func(a, b *fakecloud.Action) int { return cmp.Compare(a.Command, b.Command) },
		"status":   func(a, b *fakecloud.Action) int { return cmp.Compare(a.Status, b.Status) },
		"started":  func(a, b *fakecloud.Action) int { return a.Started.Compare(b.Started) },
		"finished": func(a, b *fakecloud.Action) int { return a.Finished.Compare(b.Finished) },
		// Progress grows with time alone: the one that began first is ahead.
		"progress": func(a, b *fakecloud.Action) int { return b.Begins.Compare(a.Begins) },
	},
}

func ActionOperations() []Operation {
	return []Operation{
		NewOperation("GET /actions", listActions),
		NewOperation("GET /actions/{id}", getAction),
	}
}

// ResourceActions are the operations on the actions of one kind of resource: the kind's, and one
// resource's.
func ResourceActions(plural, singular string) []Operation {
	about := func(c *Call, id int64) []*fakecloud.Action {
		return slices.DeleteFunc(c.Tx.Actions.All(), func(a *fakecloud.Action) bool {
			return !slices.ContainsFunc(a.Resources, func(r fakecloud.Ref) bool { return r.Type == singular && (id == 0 || r.ID == id) })
		})
	}
	return []Operation{
		NewOperation("GET /"+plural+"/actions", func(c *Call) (int, any, error) { return c.listOf(about(c, 0)) }),
		NewOperation("GET /"+plural+"/actions/{id}", func(c *Call) (int, any, error) { return c.actionOf(about(c, 0), c.id) }),
		NewOperation("GET /"+plural+"/{id}/actions", func(c *Call) (int, any, error) { return c.listOf(about(c, max(c.id, 1))) }),
		NewOperation("GET /"+plural+"/{id}/actions/{action}", func(c *Call) (int, any, error) {
			id, err := strconv.ParseInt(c.Request.PathValue("action"), 10, 64)
			if err != nil {
				return 0, nil, fakecloud.NotFound("action", c.Request.PathValue("action"))
			}
			return c.actionOf(about(c, max(c.id, 1)), id)
		}),
	}
}

// listActions lists the actions whose IDs the query gives. Listing all is gone from the API since
// January 2025.
func listActions(c *Call) (int, any, error) {
	ids := c.Request.URL.Query()["id"]
	if len(ids) == 0 {
		return 0, nil, fakecloud.Errorf("deprecated_api_endpoint", "listing all actions is no longer possible, give their ids")
	}
	var some []*fakecloud.Action
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, nil, fakecloud.Invalid("id", "must be a number")
		}
		if a := c.Tx.Actions.Get(id); a != nil && !slices.Contains(some, a) {
			some = append(some, a)
		}
	}
	return c.listOf(some)
}

// listOf lists some actions; here faults in the listing act.
func (c *Call) listOf(some []*fakecloud.Action) (int, any, error) {
	some = fakecloud.LeaveOut(c.Tx, some, func(a *fakecloud.Action) (cloudfault.Call, time.Time) {
		call := cloudfault.Call{Operation: c.op.Name}
		if i := c.Tx.Instances.Get(a.ResourceID("server")); i != nil {
			call.Group, call.Instance = c.Tx.Group(i.Labels), i.Name
		}
		return call, a.Started
	})
	some, err := actionKind.Selected(c, some)
	if err != nil {
		return 0, nil, err
	}
	return actionKind.Page(c, fakecloud.CutShort(c.Tx, some, c.Calls...))
}

func getAction(c *Call) (int, any, error) {
	a := c.Tx.Actions.Get(c.id)
	if a == nil {
		return 0, nil, fakecloud.NotFound("action", c.Request.PathValue("id"))
	}
	return c.actionOf([]*fakecloud.Action{a}, c.id)
}

func (c *Call) actionOf(some []*fakecloud.Action, id int64) (int, any, error) {
	for _, a := range some {
		if a.ID == id {
			return http.StatusOK, schema.ActionGetResponse{Action: c.Action(a)}, nil
		}
	}
	return 0, nil, fakecloud.NotFound("action", id)
}
