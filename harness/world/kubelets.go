package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/process"
)

// openToKubelets configures kube-apiserver as kubeadm does (cmd/kubeadm/app/phases/
// controlplane/manifests.go): who kubelets are and what they may, and who it is for
// them. It reaches them through a proxy, as it would with Konnectivity, because nodes'
// addresses are the cloud's and not this host's.
func (c *local) openToKubelets(args *envtest.Arguments, dir string) error {
	cert, key, err := c.ca.issueFiles("apiserver-kubelet-client", envtest.User{Name: "kube-apiserver-kubelet-client", Groups: []string{"system:masters"}})
	if err != nil {
		return err
	}
	if c.tunnel, err = newTunnel(filepath.Join(dir, "egress.sock")); err != nil {
		return err
	}
	c.World.OnStop(c.tunnel.close)
	egress := filepath.Join(dir, "egress.yaml")
	config := fmt.Sprintf(egressConfig, c.tunnel.listener.Addr())
	if err := os.WriteFile(egress, []byte(config), 0o600); err != nil {
		return err
	}
	args.Set("authorization-mode", "Node,RBAC").
		Set("enable-admission-plugins", "NodeRestriction").
		Set("enable-bootstrap-token-auth", "true").
		Set("kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname").
		Set("kubelet-client-certificate", cert).
		Set("kubelet-client-key", key).
		Set("egress-selector-config-file", egress)
	return nil
}

const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: %s
`

// Reach lets kube-apiserver reach what serves on a port of loopback under any address
// of a node, until the returned function is called.
func (w *World) Reach(port int) (forget func(), err error) {
	c, err := w.forKubelets()
	if err != nil {
		return nil, err
	}
	return c.tunnel.open(port), nil
}

// tunnel is an HTTP proxy that knows CONNECT, to chosen ports of loopback.
type tunnel struct {
	listener net.Listener
	server   *http.Server
	done     sync.WaitGroup

	mu    sync.Mutex
	ports map[string]int // how often open
	conns map[net.Conn]bool
}

func newTunnel(socket string) (*tunnel, error) {
	if len(socket) > 107 { // sun_path of unix(7) with its final NUL
		return nil, fmt.Errorf("the socket %s is %d bytes: want at most 107; a shorter TMPDIR makes it so", socket, len(socket))
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listening for kube-apiserver on its way to kubelets: %w", err)
	}
	t := &tunnel{listener: l, ports: map[string]int{}, conns: map[net.Conn]bool{}}
	t.server = &http.Server{Handler: http.HandlerFunc(t.connect)}
	t.done.Go(func() { _ = t.server.Serve(l) }) // until close
	return t, nil
}

func (t *tunnel) open(port int) (forget func()) {
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

func (t *tunnel) close() error {
	err := t.server.Close()
	t.mu.Lock()
	for c := range t.conns {
		_ = c.Close()
	}
	t.mu.Unlock()
	t.done.Wait()
	return err
}

func (t *tunnel) connect(w http.ResponseWriter, req *http.Request) {
	_, port, err := net.SplitHostPort(req.Host)
	t.mu.Lock()
	known := t.ports[port] > 0
	t.mu.Unlock()
	if err != nil || req.Method != http.MethodConnect || !known {
		http.Error(w, "no route to host", http.StatusBadGateway)
		return
	}
	there, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
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
	t.mu.Lock()
	t.conns[here], t.conns[there] = true, true
	t.mu.Unlock()
	_, _ = io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n")
	var copies sync.WaitGroup
	pipe := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from) // either end may close
		_ = to.Close()
	}
	copies.Go(func() { pipe(there, buffered) })
	copies.Go(func() { pipe(here, there) })
	t.done.Go(func() {
		copies.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.conns, here)
		delete(t.conns, there)
	})
}

// StartProgram runs a program in the world's time whose end is not the world's: its
// output goes to the run's logs, and it is gone when we are. Virtual time passes as
// real time does until the program lives in it; one that does not within a minute, or
// was not built with the clock, is an error where time is virtual.
func (w *World) StartProgram(ctx context.Context, spec process.Spec) (*process.Process, error) {
	w.driver.Hold()
	defer w.driver.Release()
	spec.Log = w.log(spec.Name)
	spec.Env = w.inside(spec.Env)
	p, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := w.watchProgram(p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if err := w.awaitClock(ctx, p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	w.driver.Name(p.PID(), spec.Name, false)
	return p, nil
}

// watchProgram has a program ended with the world, or with us.
func (w *World) watchProgram(p *process.Process) error {
	name := p.Name()
	w.mu.Lock() // or the end of one with its name, just now, would be taken for its own
	defer w.mu.Unlock()
	if w.stopped { // meanwhile: Stop does not know of it
		return context.Cause(w.ctx)
	}
	if err := w.guard.Watch(p); err != nil {
		return err
	}
	w.programs[name] = p
	w.background.Go(func() {
		<-p.Exited()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.programs[name] == p {
			delete(w.programs, name)
			w.guard.Forget(name)
		}
	})
	return nil
}

// killPrograms ends what those who started programs have left.
func (w *World) killPrograms() error {
	w.mu.Lock()
	left := slices.Collect(maps.Values(w.programs))
	w.mu.Unlock()
	var errs []error
	for _, p := range left {
		errs = append(errs, p.Kill())
	}
	return errors.Join(errs...)
}

// clockWithin bounds, in real time, how long a program may take to map the clock's page.
const clockWithin = time.Minute

// awaitClock waits until a program has the clock's page in its memory, which is
// before its main function, or has ended. Time would else jump past its start.
func (w *World) awaitClock(ctx context.Context, p *process.Process) error {
	if !w.cfg.Clock.Virtual() {
		return nil
	}
	_, page, _ := strings.Cut(w.driver.Env(), "=")
	page, err := filepath.EvalSymlinks(page) // as the kernel has it
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, clockWithin, fmt.Errorf("%s is not in the world's time after %s: was it built with the clock?", p.Name(), clockWithin))
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		mapped, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID()))
		if err == nil && strings.Contains(string(mapped), page) {
			return nil
		}
		select {
		case <-p.Exited():
			return nil
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// ClientCA is the CA that clients' certificates are of, as kubelets have it in a file.
func (w *World) ClientCA() ([]byte, error) {
	c, err := w.forKubelets()
	if err != nil {
		return nil, err
	}
	return c.ca.Cert, nil
}

// forKubelets is the world's control plane if kubelets on loopback can join it.
func (w *World) forKubelets() (*local, error) {
	c, ok := w.plane.(*local)
	if !ok || c.tunnel == nil {
		return nil, errors.New("this world's kube-apiserver reaches no kubelets on loopback: want Wishes.Kubelets, and programs on loopback")
	}
	return c, nil
}
