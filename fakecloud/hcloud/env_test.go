package hcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

const token = "not-a-secret"

// env is a cloud and a real client of it, in a bubble of package synctest: time is virtual,
// and the client calls the handler in process.
type env struct {
	*testing.T
	ctx     context.Context
	cloud   *fakecloud.Cloud
	log     *history.Log
	handler *rest.Handler
	client  *api.Client
	covered map[string]bool
}

// bubble runs test with an env.
func bubble(t *testing.T, test func(e *env)) { bubbleWith(t, fakecloud.Config{}, Config{}, test) }

func bubbleWith(t *testing.T, cloud fakecloud.Config, cfg Config, test func(e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := history.New(time.Time{}, clock.RealClock{})
		cloud.Clock, cloud.Recorder = clock.RealClock{}, log
		c, err := fakecloud.New(cloud)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cfg.Cloud, cfg.Token = c, token
		h, err := NewHandler(cfg)
		if err != nil {
			t.Fatal(err)
		}
		// What never ends fails, in place of being waited for.
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		e := &env{T: t, ctx: ctx, cloud: c, log: log, handler: h, covered: map[string]bool{}}
		e.client = e.newClient()
		test(e)
	})
}

// newClient is a client that gives up after 30 s and tries nothing twice.
func (e *env) newClient(opts ...api.ClientOption) *api.Client {
	opts = append([]api.ClientOption{
		api.WithEndpoint("http://cloud.test/v1"), api.WithToken(token), api.WithApplication("contract", "1"),
		api.WithHTTPClient(&http.Client{Transport: inProcess{e}, Timeout: 30 * time.Second}),
		api.WithRetryOpts(api.RetryOpts{BackoffFunc: api.ConstantBackoff(time.Second), MaxRetries: 0}),
	}, opts...)
	return api.NewClient(opts...)
}

func (e *env) inject(f fault.Fault) {
	e.Helper()
	if f.Name == "" {
		f.Name = "f"
	}
	if err := e.cloud.Inject(f); err != nil {
		e.Fatal(err)
	}
}

// ok fails the test on an error.
func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) check(what string, got, want any) {
	e.Helper()
	if !reflect.DeepEqual(got, want) {
		e.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// code checks that err is an API error of that code.
func (e *env) code(err error, code string) {
	e.Helper()
	if !api.IsError(err, api.ErrorCode(code)) {
		e.Errorf("got error %v, want %s", err, code)
	}
}

// server creates a server and waits until it runs.
func (e *env) server(name string) *api.Server {
	e.Helper()
	return e.serverWith(api.ServerCreateOpts{Name: name})
}

func (e *env) serverWith(opts api.ServerCreateOpts) *api.Server {
	e.Helper()
	if opts.ServerType == nil {
		opts.ServerType = &api.ServerType{Name: "cx22"}
	}
	if opts.Image == nil {
		opts.Image = &api.Image{Name: "debian-12"}
	}
	result, _, err := e.client.Server.Create(e.ctx, opts)
	e.ok(err)
	e.ok(e.client.Action.WaitFor(e.ctx, append(result.NextActions, result.Action)...))
	return e.serverNow(result.Server)
}

func (e *env) serverNow(s *api.Server) *api.Server {
	e.Helper()
	now, _, err := e.client.Server.GetByID(e.ctx, s.ID)
	e.ok(err)
	return now
}

// off creates a server that does not run.
func (e *env) off(name string) *api.Server {
	return e.serverWith(api.ServerCreateOpts{Name: name, StartAfterCreate: new(false)})
}

// inProcess carries requests to the handler as a connection would.
type inProcess struct{ e *env }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	served := r.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	done := make(chan bool, 1)
	go func() {
		finished := false
		defer func() {
			reason := recover()
			if err, _ := reason.(error); reason != nil && !errors.Is(err, http.ErrAbortHandler) {
				panic(reason)
			}
			done <- finished
		}()
		p.e.handler.ServeHTTP(w, served)
		finished = true
	}()
	select {
	case finished := <-done:
		if !finished {
			if err := r.Context().Err(); err != nil {
				return nil, err
			}
			return nil, io.EOF
		}
	case <-r.Context().Done():
		cancel()
		<-done
		return nil, r.Context().Err()
	}
	response := w.Result()
	response.Request = r
	p.e.shape(r, response.StatusCode, w.Body.Bytes())
	return response, nil
}

// shape compares a body with the client's schema type for the operation: reading it into that type and
// writing it again must keep everything, and lack nothing.
func (e *env) shape(r *http.Request, status int, body []byte) {
	op := rest.NewRouter(operations()).Find(r.Clone(context.Background()))
	if status == http.StatusNoContent || op.Name == rest.Unknown.Name {
		return
	}
	shapes.Lock()
	defer shapes.Unlock()
	into := shapes.of[op.Name]
	if status >= 400 {
		into = reflect.TypeFor[rest.ErrorBody]()
		if !strings.HasPrefix(r.Header.Get("User-Agent"), "contract") {
			return
		}
	}
	if into == nil {
		e.Errorf("no schema type is known for the body of %s", op.Name)
		return
	}
	value := reflect.New(into)
	if err := json.Unmarshal(body, value.Interface()); err != nil {
		if status < 400 { // a fault may answer with something else
			e.Errorf("%s: the body does not fit %s: %v", op.Name, into, err)
		}
		return
	}
	again, err := json.Marshal(value.Interface())
	e.ok(err)
	var raw, written any
	e.ok(json.Unmarshal(body, &raw))
	e.ok(json.Unmarshal(again, &written))
	e.compare(op.Name, raw, written)
}

// extra are fields that our bodies have for clients of other times.
var extra = map[string]bool{"datacenter": true, "meta": true}

func (e *env) compare(at string, raw, written any) {
	switch written := written.(type) {
	case map[string]any:
		raw, ok := raw.(map[string]any)
		if !ok {
			return // null for a struct of zeros
		}
		for key, value := range written {
			if _, ok := raw[key]; !ok {
				e.Errorf("%s.%s is missing", at, key)
				continue
			}
			e.compare(at+"."+key, raw[key], value)
		}
		for key := range raw {
			if _, ok := written[key]; !ok && !extra[key] {
				e.Errorf("%s.%s is not in the schema", at, key)
			}
		}
	case []any:
		raw, ok := raw.([]any)
		if !ok || len(raw) != len(written) {
			e.Errorf("%s: got %v, the schema has %v", at, raw, written)
			return
		}
		for k := range written {
			e.compare(at+"[]", raw[k], written[k])
		}
	default:
		if raw != nil && !reflect.DeepEqual(raw, written) {
			e.Errorf("%s: got %v, the schema has %v", at, raw, written)
		}
	}
}

// shapes are the schema types of replies by operation.
var shapes struct {
	sync.Mutex
	of map[string]reflect.Type
}

// raw does a call without the client and returns status and body.
func (e *env) raw(method, path, body string) (int, string) {
	e.Helper()
	r := httptest.NewRequest(method, "http://cloud.test/"+strings.TrimPrefix(path, "/"), bytes.NewBufferString(body)).WithContext(e.ctx)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
