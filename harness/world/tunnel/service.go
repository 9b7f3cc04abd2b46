package tunnel

import (
	"io"
	"net"
	"strconv"
	"sync"
)

// Service is a port of loopback that stands in for the ClusterIP of a Service: a connection to it goes to one of the
// processes that are the Service's pods.
type Service struct {
	listener net.Listener
	pipes    pipes
}

// Serve passes connections on to the first of these ports of loopback at which something listens.
func Serve(ports func() []int) (*Service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Service{listener: l}
	s.pipes.done.Go(func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			there := dialFirst(ports())
			if there == nil {
				_ = here.Close()
				continue
			}
			s.pipes.join(here, here, there)
		}
	})
	return s, nil
}

func dialFirst(ports []int) net.Conn {
	// mutant: a Service has one process
	for _, port := range ports {
		if c, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), reach); err == nil {
			return c
		}
	}
	return nil
}

// Port is where it is.
func (s *Service) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Close ends its connections, too.
func (s *Service) Close() error {
	err := s.listener.Close()
	s.pipes.close()
	return err
}

// pipes are pairs of connections, each of which gets what the other one sends.
type pipes struct {
	done   sync.WaitGroup
	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

// join passes on what comes from both until either ends. What came from here is read from buffered.
func (p *pipes) join(here net.Conn, buffered io.Reader, there net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_, _ = here.Close(), there.Close()
		return
	}
	if p.conns == nil {
		p.conns = map[net.Conn]bool{}
	}
	p.conns[here], p.conns[there] = true, true
	var copies sync.WaitGroup
	pass := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from) // either end may close
		_ = to.Close()
	}
	copies.Go(func() { pass(there, buffered) })
	copies.Go(func() { pass(here, there) })
	p.done.Go(func() {
		copies.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, here)
		delete(p.conns, there)
	})
}

func (p *pipes) close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}
