// Package api carries out the calls of AWS's services on a fakecloud.Cloud: who called is checked, the request is read, faults do
// what they have in store, the operation is done in one transaction, and the history gets it, with source "cloud" and the
// operation as verb. Which services and operations there are is said by others.
package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/history"
)

// Service is one of AWS's.
type Service struct {
	// Name is what signatures are for, as "ec2"; Hosts are those that serve it.
	Name  string
	Hosts []string
	wire.Protocol
	// Version and Namespace are those of query protocols, Target what JSON's header has before the operation.
	Version, Namespace, Target string
	// Region is the one that signatures are for.
	Region     string
	Operations []Operation
}

// Operation is one call of a service.
type Operation struct {
	// Name is AWS's, which faults, the history and sentences have as well.
	Name string
	// Method and Path are those of restJson; the path has its parameters in braces.
	Method, Path string

	request func() any
	handle  func(*Call, any) (any, error)
	about   func(*Call, any) Subject
}

// Subject is what a call is about, and what it asks for in the words of events.
type Subject struct {
	Instances []string
	Wants     map[string]any
	// Matches are what faults are matched with, where there is more to it than the instances.
	Matches []cloudfault.Call
}

// Does is an operation whose request is an In, and whose answer an Out.
func Does[In, Out any](name string, handle func(*Call, *In) (*Out, error)) Operation {
	return Operation{
		Name: name, request: func() any { return new(In) },
		handle: func(c *Call, in any) (any, error) {
			out, err := handle(c, in.(*In))
			return out, err
		},
	}
}

// With has an operation say what a call is about.
func With[In any](op Operation, about func(*Call, *In) Subject) Operation {
	op.about = func(c *Call, in any) Subject { return about(c, in.(*In)) }
	return op
}

// Wait is the error of an operation that has no answer yet: it is done again at Until, or when Woken is closed before.
type Wait struct {
	Until time.Time
	Woken <-chan struct{}
}

func (*Wait) Error() string { return "there is no answer yet" }

// Config says what is served. Cloud and Services are required.
type Config struct {
	Cloud    *fakecloud.Cloud
	Services []Service
	// Keys are the secrets of those who may call, by the IDs of their keys.
	Keys map[string]string
	// Latency is how long an answer takes at least, on the cloud's clock. Zero: no time.
	Latency time.Duration
}

// Handler serves them.
type Handler struct {
	Config
	others   *history.Strangers
	requests atomic.Uint64
}

// New returns a Handler.
func New(cfg Config) *Handler {
	return &Handler{Config: cfg, others: history.CountStrangers(cfg.Cloud.Recorder(), "the cloud's API")}
}

// UnsignedCalls counts the calls that came without a key.
func (h *Handler) UnsignedCalls() *history.Strangers { return h.others }

// find is the service that a request is for, and whether its host says so: by that, or else by the service that it is signed for,
// by the header of JSON protocols, or by its path. Without any of them it is EC2, as the first of all.
func (h *Handler) find(r *http.Request, s wire.Signature) (of *Service, byHost bool) {
	host := r.Host
	if k := strings.LastIndexByte(host, ':'); k > 0 {
		host = host[:k]
	}
	if k := slices.IndexFunc(h.Services, func(of Service) bool { return slices.Contains(of.Hosts, host) }); k >= 0 {
		return &h.Services[k], true
	}
	target, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	for _, is := range []func(*Service) bool{
		func(of *Service) bool { return of.Name == s.Service },
		func(of *Service) bool { return target != "" && of.Target == target },
		func(of *Service) bool { return of.Protocol == wire.RESTJSON && of.routed(r) != nil },
	} {
		if k := slices.IndexFunc(h.Services, func(of Service) bool { return is(&of) }); k >= 0 {
			return &h.Services[k], false
		}
	}
	return &h.Services[0], false
}

// routed is the operation of method and path, or nil.
func (s *Service) routed(r *http.Request) *Operation {
	for k := range s.Operations {
		op := &s.Operations[k]
		// mutant: a slash in a parameter of a path ends it
		if _, fits := wire.MatchPath(op.Path, r.URL.EscapedPath()); fits && op.Method == r.Method {
			return op
		}
	}
	return nil
}

func (s *Service) named(name string) *Operation {
	k := slices.IndexFunc(s.Operations, func(op Operation) bool { return op.Name == name })
	if k < 0 {
		return nil
	}
	return &s.Operations[k]
}

// requestID is that of the next request.
func (h *Handler) requestID() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", h.requests.Add(1))
}
