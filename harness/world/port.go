package world

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// Programs get a port and open it seconds later. Until then a connection to
// somewhere else could be given the same port, as the kernel gives each of them one
// at random, so ports come from below the kernel's own, one after the other: a port
// comes again only after all others have.
const (
	firstPort  = 20000
	leastPorts = 1000
)

var (
	handedOut atomic.Uint32
	part, of  uint32 = 0, 1 // of the ports
)

// SharePorts leaves this process the part-th, from 0, of so many equal parts of the ports, so
// that processes that have worlds at the same time don't meet at one: another could take
// it before our program opens it. It is for before the first world.
func SharePorts(nth, parts int) { part, of = uint32(nth), uint32(parts) }

// FreePort is a TCP port on loopback that is free now and that no outgoing
// connection will take.
func FreePort() (int, error) {
	end := firstEphemeral()
	if end < firstPort+leastPorts {
		return listenable(0)
	}
	// Where other processes of ours don't begin, those of the same seed neither.
	handedOut.CompareAndSwap(0, rand.Uint32())
	ports := uint32(end-firstPort) / of
	// mutant: at a time, all take their ports from all
	first := firstPort + int(part*ports)
	for range ports {
		if port, err := listenable(first + int(handedOut.Add(1)%ports)); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port of loopback is free, from %d to %d", first, first+int(ports)-1)
}

// listenable is the port, or any for 0, if it can be listened on now.
func listenable(port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("looking for a free port on loopback: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// firstEphemeral is the first port that the kernel gives to connections; ip(7).
func firstEphemeral() int {
	var first, last int
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(b), &first, &last)
	}
	if err != nil {
		return 0
	}
	return first
}
