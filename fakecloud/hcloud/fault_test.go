package hcloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// creation is what Cluster Autoscaler asks for.
func creation(name, group string) api.ServerCreateOpts {
	return api.ServerCreateOpts{
		Name: name, ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, Location: &api.Location{Name: "fsn1"},
		StartAfterCreate: new(true), Labels: map[string]string{"hcloud/node-group": group},
	}
}

// try creates a server and waits for its actions; it deletes it when that fails. This is what
// an autoscaler's provider does, and nothing more.
func (e *env) try(c *api.Client, name, group string) error {
	made, _, err := c.Server.Create(e.ctx, creation(name, group))
	if err != nil {
		return err
	}
	if err := c.Action.WaitFor(e.ctx, append(made.NextActions, made.Action)...); err != nil {
		_, _, _ = c.Server.DeleteWithResult(e.ctx, made.Server)
		return err
	}
	return nil
}

// names are those of the servers of pool1.
func (e *env) names() []string {
	e.Helper()
	all, err := e.client.Server.AllWithOpts(e.ctx, api.ServerListOpts{ListOpts: api.ListOpts{LabelSelector: "hcloud/node-group=pool1"}})
	e.ok(err)
	names := []string{}
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// met checks that the one fault has made a difference, and that the history says so in order.
func (e *env) met() {
	e.Helper()
	e.check("faults that made no difference", e.cloud.Unmet(), []string(nil))
	var verbs []string
	for _, r := range e.log.Events() {
		if r.Source == history.Fault && !slices.Contains(verbs, r.Verb) {
			verbs = append(verbs, r.Verb)
		}
	}
	if len(verbs) < 2 || verbs[0] != "armed" || !slices.Contains(verbs, "effective") {
		e.Errorf("the history says %v of the fault", verbs)
	}
}

var pool1 = cloudfault.Match{Operation: "POST /servers", Group: "pool1"}

func TestRefuse(t *testing.T) {
	for code, status := range map[string]int{
		"resource_unavailable": 412, "resource_limit_exceeded": 403, "placement_error": 412, "server_error": 500, "bad_gateway": 502,
		"timeout": 504, "conflict": 409,
	} {
		t.Run(code, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.inject(fault.Fault{Match: pool1, Plan: fault.Plan{Limit: 2}, Effect: cloudfault.Refuse{Code: code}})
				for range 2 {
					_, r, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
					e.code(err, code)
					e.check("status", r.StatusCode, status)
				}
				e.ok(e.try(e.client, "b", "pool2"))
				e.ok(e.try(e.client, "a", "pool1"))
				e.met()
				e.check("servers", e.names(), []string{"a"})
			})
		})
	}
}

// A proxy's answer is no JSON.
func TestRefusePlain(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "GET /servers"}, Effect: cloudfault.Refuse{Status: 502}})
		_, err := e.client.Server.All(e.ctx)
		if !errors.Is(err, api.ErrStatusCode) {
			e.Errorf("got %v, want %v", err, api.ErrStatusCode)
		}
	})
}

// The client waits out a rate limit of 20 s with its usual five retries.
func TestRateLimit(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "POST /servers"}, Plan: fault.Plan{For: strict.Duration(20 * time.Second)},
			Effect: cloudfault.RateLimit{Reset: strict.Duration(time.Minute)}})
		began := time.Now()
		_, r, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
		e.code(err, "rate_limit_exceeded")
		e.check("status", r.StatusCode, 429)
		e.check("remaining", r.Meta.Ratelimit.Remaining, 0)
		e.check("reset", r.Meta.Ratelimit.Reset.Unix(), began.Add(time.Minute).Unix())
		patient := e.newClient(api.WithRetryOpts(api.RetryOpts{BackoffFunc: api.ConstantBackoff(5 * time.Second), MaxRetries: 5}))
		e.ok(e.try(patient, "a", "pool1"))
		if took := time.Since(began); took < 20*time.Second {
			e.Errorf("the server was there after %v, want 20s or more", took)
		}
		e.met()
	})
}

// The project's own limit is that of the documentation: evenly back, and the headers say so.
func TestLimit(t *testing.T) {
	bubbleWith(t, fakecloud.Config{}, Config{RateLimit: 60}, func(e *env) {
		for range 60 {
			_, _, err := e.client.Location.List(e.ctx, api.LocationListOpts{})
			e.ok(err)
		}
		_, r, err := e.client.Location.List(e.ctx, api.LocationListOpts{})
		e.code(err, "rate_limit_exceeded")
		e.check("limit", r.Meta.Ratelimit.Limit, 60)
		time.Sleep(time.Minute)
		_, _, err = e.client.Location.List(e.ctx, api.LocationListOpts{})
		e.ok(err)
	})
}

// Who has no token uses up no limit of the project's, however often, and is in no event under the name of a program.
func TestStrangersTakeNothing(t *testing.T) {
	bubbleWith(t, fakecloud.Config{}, Config{RateLimit: 60}, func(e *env) {
		stranger := e.newClient(api.WithToken("guessed"), api.WithApplication("cluster-autoscaler", "1"))
		for range 200 {
			_, _, err := stranger.Server.Create(e.ctx, creation("a", "pool1"))
			e.code(err, "unauthorized")
		}
		_, _, err := e.client.Location.List(e.ctx, api.LocationListOpts{})
		e.ok(err)
		came := 0
		for _, r := range e.log.Events() {
			if r.Verb == history.Uninvited {
				came++
			} else if r.Actor != "contract" && r.Source == history.Cloud {
				e.Errorf("recorded: %+v", r)
			}
		}
		e.check("events of strangers", came, 8)
	})
}

func TestHang(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "DELETE /servers/{id}"}, Plan: fault.Plan{Limit: 1}, Effect: cloudfault.Hang{}})
		e.ok(e.try(e.client, "a", "pool1"))
		s, _, err := e.client.Server.GetByName(e.ctx, "a")
		e.ok(err)
		began := time.Now()
		_, _, err = e.client.Server.DeleteWithResult(e.ctx, s)
		if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
			e.Errorf("got %v, want a timeout", err)
		}
		e.check("gave up after", time.Since(began), 30*time.Second)
		e.check("servers", e.names(), []string{"a"})
		_, _, err = e.client.Server.DeleteWithResult(e.ctx, s)
		e.ok(err)
		e.met()
	})
}

// A server whose creation had no reply, or an error, is there all the same.
func TestLoseReply(t *testing.T) {
	for _, effect := range []fault.Effect{
		cloudfault.LoseReply{}, cloudfault.LoseReply{Hang: true}, cloudfault.RefuseReply{Code: "server_error"},
	} {
		bubble(t, func(e *env) {
			e.inject(fault.Fault{Match: pool1, Plan: fault.Plan{Limit: 1}, Effect: effect})
			if err := e.try(e.client, "a", "pool1"); err == nil {
				e.Error("the reply came")
			}
			e.check("servers", e.names(), []string{"a"})
			_, _, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
			e.code(err, "uniqueness_error")
			e.met()
		})
	}
}

func TestStale(t *testing.T) {
	bubble(t, func(e *env) {
		e.ok(e.try(e.client, "a", "pool1"))
		e.inject(fault.Fault{Name: "f", Match: cloudfault.Match{Operation: "GET /servers"}, Effect: cloudfault.Stale{}})
		e.ok(e.try(e.client, "b", "pool1"))
		e.check("listed while stale", e.names(), []string{"a"})
		e.met()
		e.ok(e.cloud.Clear("f"))
		e.check("listed", e.names(), []string{"a", "b"})
		e.inject(fault.Fault{Name: "g", Effect: cloudfault.Stale{By: strict.Duration(10 * time.Second)}})
		e.ok(e.try(e.client, "c", "pool1"))
		time.Sleep(20 * time.Second)
		e.check("listed ten seconds late", e.names(), []string{"a", "b", "c"})
		_, _, err := e.client.Server.DeleteWithResult(e.ctx, &api.Server{ID: e.id("a")})
		e.ok(err)
		time.Sleep(5 * time.Second)
		e.check("listed ten seconds late", e.names(), []string{"a", "b", "c"})
		time.Sleep(20 * time.Second)
		e.check("listed ten seconds late", e.names(), []string{"b", "c"})
	})
}

func (e *env) id(name string) int64 {
	for _, i := range e.cloud.Instances() {
		if i.Name == name {
			return i.ID
		}
	}
	return 0
}

func TestPartialAndMissing(t *testing.T) {
	bubble(t, func(e *env) {
		for _, name := range []string{"a", "b", "c"} {
			e.ok(e.try(e.client, name, "pool1"))
		}
		e.inject(fault.Fault{Name: "p", Match: cloudfault.Match{Operation: "GET /servers"}, Plan: fault.Plan{Limit: 1},
			Effect: cloudfault.Partial{Keep: 1}})
		e.check("listed in part", e.names(), []string{"a"})
		e.inject(fault.Fault{Name: "m", Match: cloudfault.Match{Operation: "GET /servers", Instance: "b"}, Effect: cloudfault.Missing{}})
		e.check("listed without b", e.names(), []string{"a", "c"})
		e.ok(e.cloud.Clear("m"))
		e.inject(fault.Fault{Name: "new", Match: cloudfault.Match{Operation: "GET /servers"},
			Effect: cloudfault.Missing{For: strict.Duration(time.Minute)}})
		e.ok(e.try(e.client, "d", "pool1"))
		e.check("listed without those that are new", slices.Contains(e.names(), "d"), false)
		time.Sleep(time.Minute)
		e.check("listed", e.names(), []string{"a", "b", "c", "d"})
		e.met()
	})
}

// An action that a listing does not show once: the client takes it for gone, and an
// autoscaler deletes a good server.
func TestActionMissingOnce(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "GET /actions", Group: "pool1"}, Plan: fault.Plan{Limit: 1},
			Effect: cloudfault.Missing{}})
		if err := e.try(e.client, "a", "pool1"); err == nil || !strings.Contains(err.Error(), "actions not found") {
			e.Errorf("got %v, want actions not found", err)
		}
		e.met()
		time.Sleep(time.Minute)
		e.ok(e.try(e.client, "a", "pool1"))
	})
	bubble(t, func(e *env) { // older clients ask for one action
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "GET /actions/{id}"}, Plan: fault.Plan{Limit: 1},
			Effect: cloudfault.Refuse{Code: "not_found"}})
		made, _, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
		e.ok(err)
		for _, want := range []bool{false, true} {
			a, _, err := e.client.Action.GetByID(e.ctx, made.Action.ID)
			e.ok(err)
			e.check("action is there", a != nil, want)
		}
		e.met()
	})
}

// Who asks for the actions of several servers at once asks for each of them.
func TestActionsOfSeveral(t *testing.T) {
	for _, effect := range []fault.Effect{cloudfault.Refuse{Code: "server_error"}, cloudfault.Partial{Keep: 1}, cloudfault.Missing{}} {
		bubble(t, func(e *env) {
			e.inject(fault.Fault{Match: cloudfault.Match{Operation: "GET /actions", Instance: "b"}, Plan: fault.Plan{Limit: 1}, Effect: effect})
			var actions []*api.Action
			for _, name := range []string{"a", "b"} {
				made, _, err := e.client.Server.Create(e.ctx, creation(name, "pool1"))
				e.ok(err)
				actions = append(actions, made.Action)
			}
			if err := e.client.Action.WaitFor(e.ctx, actions...); err == nil {
				e.Errorf("%s of b's actions: waiting for them and others succeeds", effect)
			}
			e.met()
		})
	}
}

func TestActionHangs(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "start_server"}, Effect: cloudfault.ActionHangs{}})
		ctx, cancel := context.WithTimeout(e.ctx, 5*time.Minute)
		defer cancel()
		made, _, err := e.client.Server.Create(ctx, creation("a", "pool1"))
		e.ok(err)
		if err := e.client.Action.WaitFor(ctx, append(made.NextActions, made.Action)...); !errors.Is(err, context.DeadlineExceeded) {
			e.Errorf("got %v, want the deadline", err)
		}
		e.check("status", e.serverNow(made.Server).Status, api.ServerStatusStarting)
		e.met()
		_, _, err = e.client.Server.DeleteWithResult(e.ctx, made.Server)
		e.ok(err)
		time.Sleep(time.Minute)
		e.check("servers", e.names(), []string{})
	})
}

func TestActionTakes(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "start_server"},
			Effect: cloudfault.ActionTakes{Time: strict.Duration(140 * time.Second)}})
		began := time.Now()
		e.ok(e.try(e.client, "a", "pool1"))
		if took := time.Since(began); took < 140*time.Second || took > 150*time.Second {
			e.Errorf("the server ran after %v, want 140s and the time of create_server", took)
		}
		e.met()
	})
}

// The server is created and does not start: it stays, off.
func TestActionFails(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "start_server"}, Effect: cloudfault.ActionFails{Code: "action_failed",
			Message: "no"}})
		made, _, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
		e.ok(err)
		e.ok(e.client.Action.WaitFor(e.ctx, made.Action))
		failed := api.ActionError{}
		if err := e.client.Action.WaitFor(e.ctx, made.NextActions...); !errors.As(err, &failed) || failed.Code != "action_failed" {
			e.Errorf("got %v, want action_failed", err)
		}
		e.check("status", e.serverNow(made.Server).Status, api.ServerStatusOff)
		e.met()
	})
}

func TestDeleteFails(t *testing.T) {
	bubble(t, func(e *env) {
		e.ok(e.try(e.client, "a", "pool1"))
		e.inject(fault.Fault{Match: cloudfault.Match{Operation: "delete_server"}, Plan: fault.Plan{Limit: 1}, Effect: cloudfault.ActionFails{}})
		s := &api.Server{ID: e.id("a")}
		deleted, _, err := e.client.Server.DeleteWithResult(e.ctx, s)
		e.ok(err)
		if err := e.client.Action.WaitFor(e.ctx, deleted.Action); err == nil {
			e.Error("deleting succeeded")
		}
		e.check("status", e.serverNow(s).Status, api.ServerStatusRunning)
		_, _, err = e.client.Server.DeleteWithResult(e.ctx, s)
		e.ok(err)
		time.Sleep(time.Minute)
		e.check("servers", e.names(), []string{})
		e.met()
	})
}

func TestInstanceLife(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Name: "off", Match: cloudfault.Match{Instance: "a"},
			Effect: cloudfault.TurnsOff{After: strict.Duration(time.Minute)}})
		e.inject(fault.Fault{Name: "gone", Match: cloudfault.Match{Instance: "b"},
			Effect: cloudfault.Vanishes{After: strict.Duration(time.Minute)}})
		e.ok(e.try(e.client, "a", "pool1"))
		e.ok(e.try(e.client, "b", "pool1"))
		time.Sleep(2 * time.Minute)
		e.check("servers", e.names(), []string{"a"})
		e.check("status", e.serverNow(&api.Server{ID: e.id("a")}).Status, api.ServerStatusOff)
		synctest.Wait()
		e.met()
	})
}

func TestSupply(t *testing.T) {
	bubble(t, func(e *env) {
		e.inject(fault.Fault{Name: "out", Plan: fault.Plan{For: strict.Duration(time.Hour)}, Effect: cloudfault.Unavailable{Type: "cx22",
			Location: "fsn1"}})
		_, _, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
		e.code(err, "resource_unavailable")
		st, _, err := e.client.ServerType.GetByName(e.ctx, "cx22")
		e.ok(err)
		for _, l := range st.Locations {
			e.check("available in "+l.Location.Name, l.Available, l.Location.Name != "fsn1")
		}
		elsewhere := creation("a", "pool1")
		elsewhere.Location = &api.Location{Name: "nbg1"}
		_, _, err = e.client.Server.Create(e.ctx, elsewhere)
		e.ok(err)
		time.Sleep(time.Hour)
		e.ok(e.try(e.client, "b", "pool1"))
		e.inject(fault.Fault{Name: "old", Effect: cloudfault.Retired{Type: "cx22"}})
		_, _, err = e.client.Server.Create(e.ctx, creation("c", "pool1"))
		e.code(err, "invalid_input")
		st, _, err = e.client.ServerType.GetByName(e.ctx, "cx22")
		e.ok(err)
		e.check("deprecated", st.IsDeprecated(), true)
		e.met()
	})
}

// The history has every call with who made it, and no token.
func TestHistory(t *testing.T) {
	bubble(t, func(e *env) {
		e.ok(e.try(e.client, "a", "pool1"))
		_, _, err := e.client.Server.Create(e.ctx, creation("a", "pool1"))
		e.code(err, "uniqueness_error")
		wrong := e.newClient(api.WithToken("wrong-token"))
		_, err = wrong.Server.All(e.ctx)
		e.code(err, "unauthorized")
		var calls []string
		for _, r := range e.log.Events() {
			text := fmt.Sprintf("%+v", r)
			if strings.Contains(text, token) || strings.Contains(text, "wrong-token") {
				e.Errorf("a token is in the history: %s", text)
			}
			if r.Verb == "POST /servers" || r.Code == 401 || r.Verb == history.Uninvited {
				calls = append(calls, fmt.Sprintf("%s %s %s %s %d %v", r.Source, r.Verb, r.Object, r.Actor, r.Code, r.Detail["error"]))
			}
		}
		e.check("calls", calls, []string{
			"cloud POST /servers servers/a contract 201 <nil>", "cloud POST /servers servers/a contract 409 uniqueness_error",
			"harness uninvited listeners/the cloud's API  0 <nil>",
		})
	})
}

// Over a connection, as others use it: a hang ends with the client, a lost reply is a broken
// connection, and Close ends everything.
func TestServe(t *testing.T) {
	cloud, err := fakecloud.New(fakecloud.Config{Clock: realClock})
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close()
	s, err := Serve(t.Context(), Config{Cloud: cloud, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(api.WithEndpoint(s.URL()), api.WithToken(token),
		api.WithRetryOpts(api.RetryOpts{BackoffFunc: api.ConstantBackoff(0)}))
	if _, err := client.ServerType.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range []fault.Fault{
		{Name: "lost", Match: cloudfault.Match{Operation: "POST /placement_groups"}, Plan: fault.Plan{Limit: 1}, Effect: cloudfault.LoseReply{}},
		{Name: "hangs", Match: cloudfault.Match{Operation: "GET /isos"}, Effect: cloudfault.Hang{}},
	} {
		if err := cloud.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	opts := api.PlacementGroupCreateOpts{Name: "g", Type: api.PlacementGroupTypeSpread}
	if _, _, err := client.PlacementGroup.Create(t.Context(), opts); !errors.Is(err, io.EOF) {
		t.Errorf("a lost reply: got %v, want EOF", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := client.ISO.List(ctx, api.ISOListOpts{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that hangs: got %v, want the deadline", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if answer, err := http.Get(s.URL()); err == nil {
		answer.Body.Close()
		t.Error("the server answers after Close")
	}
	if _, err := Serve(t.Context(), Config{Cloud: cloud, Token: token, Addr: "0.0.0.0:0"}); err == nil {
		t.Error("it listens on all addresses")
	}
}
