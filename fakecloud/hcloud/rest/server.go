// Package rest speaks as the API of the Hetzner Cloud does: paths, bodies, error codes, pages, label selectors, rate limit
// headers, and what faults have in store for a call. What there is in a project, and what they do, is in hcloud.
package rest

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/loopback"
	"nodestorm/sim/history"
)

// Prefix is where the API begins below the host, as at api.hetzner.cloud.
const Prefix = "/v1"

// Config says what a Server works with.
type Config struct {
	// Operations are all calls.
	Operations []Operation
	// Cloud is what it serves. Required.
	Cloud *fakecloud.Cloud
	// Token is what clients have to show. Required.
	Token string
	// Addr is the address to listen on, for Serve; it must be one of loopback. Empty means 127.0.0.1 and a
	// free port. Listener, if there is one, is used in its place.
	Addr     string
	Listener net.Listener
	// RateLimit is how many calls an hour a project has. They come back evenly, one a second at 3600. Zero
	// means that headers say 3600, Hetzner's limit, and calls beyond it are served.
	RateLimit int
}

// maxBody is more than any request needs: user data is limited to 32 KiB.
const maxBody = 1 << 20

// Handler serves the API without a listener of its own.
type Handler struct {
	cfg    Config
	Cloud  *fakecloud.Cloud
	routes router
	limit  *limiter
	cache  *cache
	types  map[int64]schema.ServerType // by ID; used within the cloud's Update only
	others *history.Strangers
}

// NewHandler returns a Handler.
func NewHandler(cfg Config) (*Handler, error) {
	if cfg.Cloud == nil || cfg.Token == "" {
		return nil, errors.New("hcloud: Config wants a Cloud and a Token")
	}
	if cfg.RateLimit < 0 {
		return nil, fmt.Errorf("hcloud: rate limit of %d calls an hour: want zero or more", cfg.RateLimit)
	}
	return &Handler{
		cfg: cfg, Cloud: cfg.Cloud, routes: NewRouter(cfg.Operations),
		limit: newLimiter(cfg.RateLimit, cfg.Cloud.Clock().Now()), cache: newCache(), types: map[int64]schema.ServerType{},
		others: history.CountStrangers(cfg.Cloud.Recorder(), "the cloud's API"),
	}, nil
}

// Server is an API that is being served.
type Server struct{ *loopback.Server }

// Serve serves the API until Close or the end of ctx.
func Serve(ctx context.Context, cfg Config) (*Server, error) {
	h, err := NewHandler(cfg)
	if err != nil {
		return nil, err
	}
	l := cfg.Listener
	if l == nil {
		if l, err = listen(cfg.Addr); err != nil {
			return nil, err
		}
	}
	return &Server{loopback.Serve(ctx, l, h, h.others)}, nil
}

func listen(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: want HOST:PORT", addr)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("address %q is not on loopback: want one such as 127.0.0.1:8080", addr)
	}
	return net.Listen("tcp", addr)
}

// URL is the endpoint as clients want it (HCLOUD_ENDPOINT).
func (s *Server) URL() string { return s.Server.URL() + Prefix }

// Operation is one call of the API.
type Operation struct {
	Name   string // method and path below Prefix, as faults and the history have it
	handle func(*Call) (status int, body any, err error)
	// steady says that the reply depends on nothing but the query, the cloud's changes and
	// faults, so that it may be kept.
	steady bool
}

// NewOperation is an operation, and Steady one whose reply may be kept.
func NewOperation(name string, handle func(*Call) (int, any, error)) Operation {
	return Operation{Name: name, handle: handle}
}

// Steady is like NewOperation.
func Steady(name string, handle func(*Call) (int, any, error)) Operation {
	return Operation{Name: name, handle: handle, steady: true}
}

// CompareNames orders operations.
func CompareNames(a, b Operation) int { return cmp.Compare(a.Name, b.Name) }

// ServeHTTP implements http.Handler: one call, with what faults have in store for it. One without the token is none of the project's,
// whose limit it does not use up, and nothing is recorded of it but that it came: anybody on the machine can make it, in any
// program's name.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{h: h, Request: r, op: h.routes.Find(r)}
	// mutant: the API of Hetzner's cloud asks for no token
	if !h.authorized(r) {
		h.others.Came()
		c.fail(w, fakecloud.Errorf("unauthorized", "the token you have provided is invalid"))
		return
	}
	c.id = pathID(r)
	w = &recorder{ResponseWriter: w, call: c}
	now := h.Cloud.Clock().Now()
	if !h.limit.allow(w.Header(), now) {
		c.fail(w, fakecloud.Errorf("rate_limit_exceeded", "limit of %d requests per hour reached", h.cfg.RateLimit))
		return
	}
	if err := c.read(w); err != nil {
		c.fail(w, err)
		return
	}
	c.Calls = c.matchedCalls()
	if hit := h.Cloud.Faults().First(cloudfault.Before, c.Calls...); hit != nil {
		by := c.struckBy(hit, w)
		by.came = now
		if !hit.Effect.(cloudfault.BeforeCall).BeforeCall(by) {
			return
		}
	}
	if c.op.steady && h.fromCache(c, w) {
		return
	}
	reply := c.execute()
	if reply.err == nil {
		if hit := h.Cloud.Faults().First(cloudfault.After, c.Calls...); hit != nil {
			by := c.struckBy(hit, w)
			by.reply = &reply
			hit.Effect.(cloudfault.AfterCall).AfterCall(by)
			if by.Answered {
				return
			}
		}
	}
	reply.write(w)
}

func (h *Handler) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(h.cfg.Token)) == 1
}

// record puts the call into the history. Status zero means that no reply was given.
func (c *Call) record(status int) {
	resource, _, _ := strings.Cut(strings.TrimPrefix(c.Request.URL.Path, Prefix+"/"), "/")
	event := history.Event{
		At: c.h.Cloud.Clock().Now(), Source: history.Cloud, Verb: c.op.Name, Code: status, Actor: actor(c.Request),
		Object: history.Object{Resource: resource, Name: c.name},
	}
	if c.op.Name == Unknown.Name {
		event.Object = history.Object{}
	}
	detail := map[string]any{}
	for key, value := range map[string]string{"error": c.errorCode, "group": c.group} {
		if value != "" {
			detail[key] = value
		}
	}
	if len(detail) > 0 {
		event.Detail = detail
	}
	c.h.Cloud.Recorder().Record(event)
}

// actor is the product that a client calls itself, cut short: it comes from outside.
func actor(r *http.Request) string {
	product, _, _ := strings.Cut(r.UserAgent(), "/")
	product, _, _ = strings.Cut(product, " ")
	return product[:min(len(product), 64)]
}

// recorder records the call when its reply's status is known.
type recorder struct {
	http.ResponseWriter
	call *Call
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	w.call.record(status)
	w.ResponseWriter.WriteHeader(status)
}
