// Package loopback serves the APIs of clouds to this machine, and to no other.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"nodestorm/sim/history"
)

// Listener is the listener that an API is served on: l, or for nil one of 127.0.0.1 and a
// free port. One that others than this machine reach is refused.
func Listener(l net.Listener) (net.Listener, error) {
	if l == nil {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not on loopback", at)
	}
	return l, nil
}

// Server is an API that is being served.
type Server struct {
	listener net.Listener
	server   *http.Server
	served   chan struct{}
	stop     func() bool
	once     sync.Once
	others   *history.Strangers
}

// Serve serves an API until Close or the end of ctx. Others counts those who come without credentials.
func Serve(ctx context.Context, l net.Listener, api http.Handler, others *history.Strangers) *Server {
	s := &Server{listener: l, served: make(chan struct{}), others: others,
		server: &http.Server{Handler: api, ReadHeaderTimeout: 10 * time.Second}}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // ErrServerClosed
	}()
	s.stop = context.AfterFunc(ctx, func() { _ = s.server.Close() })
	return s
}

// URL is where the API is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the server and its connections.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.stop()
		err = s.server.Close()
		<-s.served
		err = errors.Join(err, s.others.Close())
	})
	return err
}
