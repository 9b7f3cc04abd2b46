package tunnel_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"nodestorm/harness/world/tunnel"
)

// Only ports that are open can be reached, under any address.
func TestTunnel(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
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
	port := server.Addr().(*net.TCPAddr).Port

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
