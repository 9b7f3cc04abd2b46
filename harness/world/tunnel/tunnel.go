// Package tunnel is the way of a kube-apiserver to programs on loopback: to kubelets whose
// nodes have addresses of the cloud's, as with Konnectivity, and to webhooks from an API
// server that has a loopback of its own; and to machines that are containers.
package tunnel

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// What of kube-apiserver's traffic goes through a tunnel.
const (
	ToNodes    = "cluster"
	ToWebhooks = "controlplane" // of those that are named by URL
)

// Config is kube-apiserver's --egress-selector-config-file for a tunnel at a socket, as
// kube-apiserver sees it.
func Config(socket string, traffic ...string) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n")
	for _, name := range traffic {
		fmt.Fprintf(&b, `- name: %s
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: %s
`, name, socket)
	}
	return []byte(b.String())
}

// reach is how long a machine may take to answer: one that is cut off never does.
const reach = 10 * time.Second

// Tunnel is an HTTP proxy that knows CONNECT, to chosen ports of loopback and chosen hosts.
type Tunnel struct {
	listener net.Listener
	server   *http.Server
	pipes    pipes

	mu    sync.Mutex
	ports map[string]int    // how often open
	hosts map[string]string // that are elsewhere than on loopback, and where
}

func Listen(socket string) (*Tunnel, error) {
	if len(socket) > 107 { // sun_path of unix(7) with its final NUL
		return nil, fmt.Errorf("the socket %s is %d bytes: want at most 107; a shorter TMPDIR makes it so", socket, len(socket))
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listening for kube-apiserver on its way to kubelets: %w", err)
	}
	t := &Tunnel{listener: l, ports: map[string]int{}, hosts: map[string]string{}}
	t.server = &http.Server{Handler: http.HandlerFunc(t.connect)}
	t.pipes.done.Go(func() { _ = t.server.Serve(l) }) // until close
	return t, nil
}

func (t *Tunnel) Open(port int) (forget func()) {
	name := fmt.Sprint(port)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ports[name]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.ports[name]--; t.ports[name] == 0 {
			delete(t.ports, name)
		}
	})
}

// Lead makes hosts, as kube-apiserver calls them, be found at an address, whatever the port,
// until forget is called.
func (t *Tunnel) Lead(hosts []string, address string) (forget func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, host := range hosts {
		t.hosts[host] = address
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, host := range hosts {
			// mutant: a way to a machine stays when the machine is gone
			if t.hosts[host] == address {
				delete(t.hosts, host)
			}
		}
	}
}

func (t *Tunnel) Close() error {
	err := t.server.Close()
	t.pipes.close()
	return err
}

func (t *Tunnel) connect(w http.ResponseWriter, req *http.Request) {
	host, port, err := net.SplitHostPort(req.Host)
	t.mu.Lock()
	address, known := t.hosts[host]
	if !known {
		// mutant: kube-apiserver reaches any port of loopback
		address, known = "127.0.0.1", t.ports[port] > 0
	}
	t.mu.Unlock()
	if err != nil || req.Method != http.MethodConnect || !known {
		http.Error(w, "no route to host", http.StatusBadGateway)
		return
	}
	there, err := (&net.Dialer{Timeout: reach}).DialContext(req.Context(), "tcp", net.JoinHostPort(address, port))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	t.pipes.join(here, buffered, there)
}
