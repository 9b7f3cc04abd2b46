// Package jsonapi serves a fakecloud.Cloud as JSON over HTTP to clients that show a token: each call in one transaction, with
// what faults have in store for it, and in the history, with source "cloud" and the operation as verb. Which calls there are,
// and what they do, is up to an API.
package jsonapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/loopback"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// Operation is one call of an API.
type Operation struct {
	// Name is what faults and the history call it, Route that of http.ServeMux, and Words what sentences say.
	Name, Route, Words string
	Handle             func(*Call) (status int, reply any, err error)
	// Subject says what the call is about. Nil means the instance that its path names as {name}.
	Subject func(*Call) Subject
}

// Subject is what a call is about, and what it asks for in the words of events.
type Subject struct {
	Instance, Group string
	Wants           map[string]any
}

// API are the calls of an API, and the commands of actions that its instances see.
type API struct {
	Calls    []Operation
	Commands []string
}

// Names are those of all calls, as the history has them.
func (a API) Names() (names []string) {
	for _, op := range a.Calls {
		names = append(names, op.Name)
	}
	return names
}

// Operations are what faults match: the commands, and all calls.
func (a API) Operations() []string { return append(slices.Clone(a.Commands), a.Names()...) }

// CheckFault finds what is wrong with a fault of this API.
func (a API) CheckFault(f fault.Fault) error { return cloudfault.Check(f, a.Operations()) }

// Call is the name of the call that is meant by words such as "launch instances". Known are the words of all calls, for those
// that mean none.
func (a API) Call(said string) (name string, known []string) {
	for _, op := range a.Calls {
		if op.Words == said {
			return op.Name, nil
		}
		known = append(known, op.Words)
	}
	slices.Sort(known)
	return "", known
}

// Config says what is served.
type Config struct {
	// Cloud is what it serves. Required.
	Cloud *fakecloud.Cloud
	// Token is what clients have to show. Required.
	Token string
	// Listener is one of loopback. Nil means 127.0.0.1 and a free port.
	Listener net.Listener
}

// Serve serves the API until Close or the end of ctx.
func (a API) Serve(ctx context.Context, cfg Config) (*loopback.Server, error) {
	if cfg.Cloud == nil || cfg.Token == "" {
		return nil, errors.New("jsonapi: Config wants a Cloud and a Token")
	}
	l, err := loopback.Listener(cfg.Listener)
	if err != nil {
		return nil, err
	}
	others := history.CountStrangers(cfg.Cloud.Recorder(), "the cloud's API")
	routes := http.NewServeMux()
	for _, op := range a.Calls {
		routes.HandleFunc(op.Route, func(w http.ResponseWriter, r *http.Request) { cfg.serve(op, others, w, r) })
	}
	return loopback.Serve(ctx, l, routes, others), nil
}

func (cfg Config) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	// mutant: the cloud of instances asks for no token
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(cfg.Token)) == 1
}
