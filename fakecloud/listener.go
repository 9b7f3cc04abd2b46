package fakecloud

import (
	"fmt"
	"net"
)

// Loopback is the listener that an API is served on: l, or for nil one of 127.0.0.1 and a
// free port. One that others than this machine reach is refused.
func Loopback(l net.Listener) (net.Listener, error) {
	if l == nil {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not on loopback", at)
	}
	return l, nil
}
