package egress

import (
	"bufio"
	"net"
	"sync"
)

// tunnel is the inside of a client's TLS connection, and where it leads.
type tunnel struct {
	net.Conn
	host string
}

// bufferedConn reads first what was read ahead.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *bufferedConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// tunnels is a net.Listener whose connections are tunnels.
type tunnels struct {
	address net.Addr
	opened  chan *tunnel
	closed  chan struct{}
	once    sync.Once
}

func newTunnels(address net.Addr) *tunnels {
	return &tunnels{address: address, opened: make(chan *tunnel), closed: make(chan struct{})}
}

// add hands a tunnel to the caller of Accept; a closed listener closes it.
func (t *tunnels) add(c *tunnel) {
	select {
	case t.opened <- c:
	case <-t.closed:
		_ = c.Close()
	}
}

func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.opened:
		return c, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

func (t *tunnels) Addr() net.Addr { return t.address }
