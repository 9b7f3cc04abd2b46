package hcloud

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
)

var actionKind = kind[fakecloud.Action]{
	plural: "actions", singular: "action",
	all:    func(c *call) []*fakecloud.Action { return c.tx.Actions.All() },
	meta:   func(a *fakecloud.Action) fakecloud.Meta { return fakecloud.Meta{ID: a.ID} },
	encode: func(c *call, a *fakecloud.Action) any { return c.action(a) },
	filters: map[string]func(*fakecloud.Action, string) bool{
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

func actionOperations() []operation {
	return []operation{
		{"GET /actions", listActions, false},
		{"GET /actions/{id}", getAction, false},
	}
}

// resourceActions are the operations on the actions of one kind of resource: the kind's, and one
// resource's.
func resourceActions(plural, singular string) []operation {
	about := func(c *call, id int64) []*fakecloud.Action {
		return slices.DeleteFunc(c.tx.Actions.All(), func(a *fakecloud.Action) bool {
			return !slices.ContainsFunc(a.Resources, func(r fakecloud.Ref) bool { return r.Type == singular && (id == 0 || r.ID == id) })
		})
	}
	return []operation{
		{"GET /" + plural + "/actions", func(c *call) (int, any, error) { return c.listOf(about(c, 0)) }, false},
		{"GET /" + plural + "/actions/{id}", func(c *call) (int, any, error) { return c.actionOf(about(c, 0), c.id) }, false},
		{"GET /" + plural + "/{id}/actions", func(c *call) (int, any, error) { return c.listOf(about(c, max(c.id, 1))) }, false},
		{"GET /" + plural + "/{id}/actions/{action}", func(c *call) (int, any, error) {
			id, err := strconv.ParseInt(c.r.PathValue("action"), 10, 64)
			if err != nil {
				return 0, nil, fakecloud.NotFound("action", c.r.PathValue("action"))
			}
			return c.actionOf(about(c, max(c.id, 1)), id)
		}, false},
	}
}

// listActions lists the actions whose IDs the query gives. Listing all is gone from the API since
// January 2025.
func listActions(c *call) (int, any, error) {
	ids := c.r.URL.Query()["id"]
	if len(ids) == 0 {
		return 0, nil, fakecloud.Errorf("deprecated_api_endpoint", "listing all actions is no longer possible, give their ids")
	}
	var some []*fakecloud.Action
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, nil, fakecloud.Invalid("id", "must be a number")
		}
		if a := c.tx.Actions.Get(id); a != nil && !slices.Contains(some, a) {
			some = append(some, a)
		}
	}
	return c.listOf(some)
}

// listOf lists some actions; here faults in the listing act.
func (c *call) listOf(some []*fakecloud.Action) (int, any, error) {
	some = fakecloud.LeaveOut(c.tx, some, func(a *fakecloud.Action) (fault.Call, time.Time) {
		call := fault.Call{Operation: c.op.name}
		if i := c.tx.Instances.Get(a.About("server")); i != nil {
			call.Group, call.Instance = c.tx.Group(i.Labels), i.Name
		}
		return call, a.Started
	})
	some, err := actionKind.selected(c, some)
	if err != nil {
		return 0, nil, err
	}
	return actionKind.page(c, fakecloud.CutShort(c.tx, some, c.calls...))
}

func getAction(c *call) (int, any, error) {
	a := c.tx.Actions.Get(c.id)
	if a == nil {
		return 0, nil, fakecloud.NotFound("action", c.r.PathValue("id"))
	}
	return c.actionOf([]*fakecloud.Action{a}, c.id)
}

func (c *call) actionOf(some []*fakecloud.Action, id int64) (int, any, error) {
	for _, a := range some {
		if a.ID == id {
			return http.StatusOK, schema.ActionGetResponse{Action: c.action(a)}, nil
		}
	}
	return 0, nil, fakecloud.NotFound("action", id)
}
