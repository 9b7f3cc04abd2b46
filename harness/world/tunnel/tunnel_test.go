package tunnel_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"nodestorm/harness/world/tunnel"
)

// Only ports that are open can be reached, under any address.
func TestTunnel(t *testing.T) {
	port := portOf(listen(t))

	socket := filepath.Join(t.TempDir(), "egress.sock")
	through, err := tunnel.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	reach := func(port int) (status int, said string) {
		t.Helper()
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "CONNECT 10.0.0.7:%d HTTP/1.1\r\nHost: 10.0.0.7:%d\r\n\r\n", port, port)
		from := bufio.NewReader(c)
		answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return answer.StatusCode, ""
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if status, _ := reach(port); status != http.StatusBadGateway {
		t.Errorf("a port that is not open answers %d", status)
	}
	first, second := through.Open(port), through.Open(port)
	first()
	first()
	if status, said := reach(port); status != http.StatusOK || said != "hello" {
		t.Errorf("an open port answers %d %q", status, said)
	}
	second()
	if status, _ := reach(port); status != http.StatusBadGateway {
		t.Errorf("a port that is closed again answers %d", status)
	}
	old := through.Lead([]string{"10.0.0.7", "machine"}, "127.0.0.9")
	forget := through.Lead([]string{"10.0.0.7", "machine"}, "127.0.0.1")
	old() // what leads elsewhere by now is not its
	if status, said := reach(port); status != http.StatusOK || said != "hello" {
		t.Errorf("a host that is led to answers %d %q", status, said)
	}
	forget()
	if status, _ := reach(port); status != http.StatusBadGateway {
		t.Errorf("a host that is forgotten answers %d", status)
	}
}

// A connection to a Service goes to a process of it that listens, and to none that has ended.
func TestService(t *testing.T) {
	gone, server := listen(t), listen(t)
	_ = gone.Close()
	var ports atomic.Pointer[[]int]
	ports.Store(&[]int{})
	service, err := tunnel.Serve(func() []int { return *ports.Load() })
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	said := func() string {
		t.Helper()
		c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", service.Port()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text, _ := io.ReadAll(c) // a connection that nothing takes is reset
		return string(text)
	}
	if text := said(); text != "" {
		t.Errorf("a Service without a process says %q", text)
	}
	ports.Store(&[]int{portOf(gone), portOf(server)})
	if text := said(); text != "hello" {
		t.Errorf("a Service of two processes, of which one has ended, says %q", text)
	}
	if err := service.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", service.Port())); err == nil {
		_ = c.Close()
		t.Error("a Service that is closed takes connections")
	}
}

// listen serves a greeting.
func listen(t *testing.T) net.Listener {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello")
			_ = c.Close()
		}
	}()
	return server
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
