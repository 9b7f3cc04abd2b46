// Package instanceapi serves a fakecloud.Cloud as a small API of our own, JSON over HTTP, for cloud providers
// that launch instances one by one: Karpenter's, in fakecloud/adapters/karpenter, is its client.
//
//	GET    /types              what there is, with zones, capacity types and prices
//	GET    /images
//	POST   /instances          launch one; its name is the caller's, and taken but once
//	GET    /instances          all
//	GET    /instances/{name}
//	DELETE /instances/{name}   terminate
//	GET    /interruptions      which are taken back, and when
//
// What has run out is not told, as clouds do not: a launch is refused with resource_unavailable.
//
// It decides nothing about the cloud: that is fakecloud's. Every call goes to the history, with source
// "cloud" and the operation as verb ("LaunchInstance").
package instanceapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

// Config says what a Server works with.
type Config struct {
	// Cloud is what it serves. Required.
	Cloud *fakecloud.Cloud
	// Token is what clients have to show. Required.
	Token string
	// Listener is one of loopback. Nil means 127.0.0.1 and a free port.
	Listener net.Listener
}

// Server is an API that is being served.
type Server struct {
	cfg      Config
	cloud    *fakecloud.Cloud
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	stop     func() bool
}

// operation is one call of the API.
type operation struct {
	name, route, words string
	handle             func(*call) (status int, reply any, err error)
}

const launchName = "LaunchInstance"

func operations() []operation {
	return []operation{
		{"DescribeTypes", "GET /types", "describe types", describeTypes},
		{"DescribeImages", "GET /images", "describe images", describeImages},
		{launchName, "POST /instances", "launch instances", launchInstance},
		{"DescribeInstances", "GET /instances", "describe instances", describeInstances},
		{"DescribeInstance", "GET /instances/{name}", "describe single_instances", describeInstance},
		{"DescribeInterruptions", "GET /interruptions", "describe interruptions", describeInterruptions},
		{"TerminateInstance", "DELETE /instances/{name}", "terminate instances", terminateInstance},
	}
}

// CheckFault finds what is wrong with a fault of this API.
func CheckFault(f fault.Fault) error { return cloudfault.Check(f, Operations()) }

// Operations are the names of all calls, as faults match them, and the commands of actions that its instances
// see.
func Operations() []string {
	names := []string{"create_server", "start_server", "delete_server"}
	for _, op := range operations() {
		names = append(names, op.name)
	}
	return names
}

// Call is the name of the call (see Operations) that is meant by words such as "launch instances". Known are
// the words of all calls, for those that mean none.
func Call(said string) (name string, known []string) {
	for _, op := range operations() {
		if op.words == said {
			return op.name, nil
		}
		known = append(known, op.words)
	}
	slices.Sort(known)
	return "", known
}

// Serve serves the API until Close or the end of ctx.
func Serve(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Cloud == nil || cfg.Token == "" {
		return nil, errors.New("instances: Config wants a Cloud and a Token")
	}
	l, err := fakecloud.Loopback(cfg.Listener)
	if err != nil {
		return nil, fmt.Errorf("instances: %w", err)
	}
	s := &Server{cfg: cfg, cloud: cfg.Cloud, listener: l, served: make(chan struct{})}
	routes := http.NewServeMux()
	for _, op := range operations() {
		routes.HandleFunc(op.route, func(w http.ResponseWriter, r *http.Request) { s.serve(op, w, r) })
	}
	s.server = &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // ErrServerClosed
	}()
	s.stop = context.AfterFunc(ctx, func() { _ = s.server.Close() })
	return s, nil
}

// URL is the endpoint as clients want it.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the server and its connections.
func (s *Server) Close() error {
	s.stop()
	err := s.server.Close()
	<-s.served
	return err
}

func (s *Server) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	// mutant: the cloud of instances asks nobody for a token
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.Token)) == 1
}
