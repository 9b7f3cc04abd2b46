package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/process"
	"nodestorm/harness/tunnel"
	"nodestorm/sim/history/audit"
)

const (
	// Real time. It takes 3 s alone, and took more than a minute with 48 programs
	// waiting for two processors.
	controlPlaneStart = 3 * time.Minute
	controlPlaneStop  = 10 * time.Second
)

// local is a control plane of programs on loopback: etcd, kube-apiserver, which envtest
// starts, and the controllers.
type local struct {
	Site
	plane  *envtest.ControlPlane
	ca     *authority
	tunnel *tunnel.Tunnel // to kubelets; nil without
	admin  *rest.Config

	restart sync.Mutex // held while somebody ends or starts kube-apiserver
	down    bool       // because somebody has ended it
}

// startLocal is the way of [Config] without Start.
func startLocal(ctx context.Context, at Site) (ControlPlane, error) {
	c := &local{Site: at}
	controllers := "kube-controller-manager"
	if at.Name == "" { // the world's own
		controllers += " and kube-scheduler"
	}
	for _, part := range []struct {
		what  string
		start func(context.Context) error
	}{
		{"starting etcd and kube-apiserver", c.startAPIServer},
		{"starting " + controllers, c.startControllers},
	} {
		at.World.cfg.Progress(part.what)
		if err := part.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return c, nil
}

// Admin is made with the control plane.
func (c *local) Admin() *rest.Config { return c.admin }

// User has a certificate of the control plane's CA.
func (c *local) User(name string, groups ...string) (*rest.Config, error) {
	user, err := c.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, err
	}
	return user.Config(), nil
}

// ClientCA is made with the control plane.
func (c *local) ClientCA() ([]byte, error) { return c.ca.Cert, nil }

// Reach is about nodes' addresses: kube-apiserver itself is on our loopback.
func (c *local) Reach(port int) (forget func()) {
	if c.tunnel == nil {
		return func() {}
	}
	return c.tunnel.Open(port)
}

// program is what a program of the cluster is called in the world.
func (c *local) program(name string) string {
	if c.Name == "" {
		return name
	}
	return c.Name + "-" + name
}

// startAPIServer starts etcd and lets envtest start kube-apiserver. That would give it
// our environment and no death signal: what stands in its place gives it the world's and
// leaves its process ID to the guard. It gets no proxy, which it would ask for nodes too.
func (c *local) startAPIServer(ctx context.Context) error {
	w := c.World
	bin := filepath.Join(c.Dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	launcher := process.Launcher{Program: filepath.Join(w.cfg.controlDir(), apiServer), Env: w.environment(fewerCollections), PIDFile: w.guard.PIDFile(c.apiServer())}
	if err := launcher.Write(filepath.Join(bin, apiServer)); err != nil {
		return err
	}
	policy := filepath.Join(c.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, audit.Policy(), 0o600); err != nil {
		return err
	}
	certs := filepath.Join(c.Dir, apiServer)
	if err := os.Mkdir(certs, 0o700); err != nil {
		return err
	}
	etcd, err := c.startEtcd(ctx)
	if err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	// Everything of envtest's is in the world's folder: what it puts into
	// temporary folders of its own would stay behind when we are killed.
	server := &envtest.APIServer{
		Path: filepath.Join(bin, apiServer), CertDir: certs, EtcdURL: etcd.url,
		SecureServing: envtest.SecureServing{ListenAddr: envtest.ListenAddr{Address: "127.0.0.1", Port: strconv.Itoa(port)}},
		StartTimeout:  controlPlaneStart, StopTimeout: controlPlaneStop,
	}
	args := server.Configure().
		Disable("disable-admission-plugins"). // envtest's default leaves ServiceAccount out
		Set("audit-policy-file", policy).
		Set("audit-log-path", "-").
		Set("profiling", "false").
		Set("etcd-cafile", etcd.ca.certFile).
		Set("etcd-certfile", etcd.cert).
		Set("etcd-keyfile", etcd.key).
		// Targets' packages use the policy to mend what a stand-in for a cloud gets wrong.
		Set("feature-gates", "MutatingAdmissionPolicy=true").
		Set("runtime-config", Served()...)
	if c.ca, err = newAuthority(certs, "kubernetes"); err != nil {
		return err
	}
	server.Authn = c.ca
	if c.Wishes.Kubelets {
		if err := c.openToKubelets(args, certs); err != nil {
			return err
		}
	}
	for name, values := range c.Wishes.APIServer {
		args.Set(name, values...)
	}
	log, err := os.Create(w.log(c.apiServer()))
	if err != nil {
		return err
	}
	w.OnStop(log.Close)
	server.Err = log
	c.plane = &envtest.ControlPlane{APIServer: server}

	ctx, cancel := w.Alive(ctx) // etcd may die meanwhile
	defer cancel(nil)
	err = c.runAPIServer(ctx)
	w.OnStop(c.stopAPIServer)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; nothing may be started from %s, it seems: if it is mounted noexec, mount it with exec, or name another folder in TMPDIR", err, bin)
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.locals = append(w.locals, c)
	w.mu.Unlock()
	w.background.Go(c.watchAPIServer)
	if c.admin, err = c.User("admin", "system:masters"); err != nil {
		return fmt.Errorf("making user %q: %w", "admin", err)
	}
	c.admin.QPS = -1 // no limit
	return c.awaitNamespace(ctx, metav1.NamespaceDefault)
}

// runAPIServer starts what is configured, again too, and returns when it is ready.
func (c *local) runAPIServer(ctx context.Context) error {
	server, log := c.plane.APIServer, c.World.log(c.apiServer())
	// The line in which a killed one was never ends, and is no call.
	server.Out = process.Lines(func(line []byte) { _, _ = c.Calls.Write(append(bytes.Clone(line), '\n')) })
	started := make(chan error, 1)
	go func() { started <- server.Start() }()
	err := c.awaitAPIServer(ctx, started)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w; its last lines, of %s:\n%s", err, log, process.Tail(log))
	}
	if pid, ok := c.World.pid(c.apiServer()); ok {
		c.World.driver.Name(pid, c.apiServer(), true)
	}
	return nil
}

// awaitAPIServer waits for envtest, which cannot be interrupted: when ctx ends, it ends
// what envtest waits for.
func (c *local) awaitAPIServer(ctx context.Context, started <-chan error) error {
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
	}
	for {
		c.killAPIServer()
		select {
		case err := <-started:
			return err
		case <-time.After(20 * time.Millisecond): // it may have been about to start it
		}
	}
}

// awaitNamespace waits for a namespace that kube-apiserver makes by itself soon
// after it is ready.
func (c *local) awaitNamespace(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, controlPlaneStart, true, func(ctx context.Context) (bool, error) {
		_, last = client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return last == nil, nil
	})
	if ctx.Err() != nil { // such as that it is another server's answers that we waited on
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("waiting for namespace %q: %w", name, errors.Join(last, err))
	}
	return nil
}

func (w *World) log(name string) string { return filepath.Join(w.cfg.Out, "logs", name+".log") }
func (w *World) pid(name string) (int, bool) {
	b, err := os.ReadFile(w.guard.PIDFile(name))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, err == nil
}

const apiServer = "kube-apiserver"

// apiServer is what the cluster's kube-apiserver is called in the world.
func (c *local) apiServer() string { return c.program(apiServer) }

func (c *local) killAPIServer() {
	if pid, ok := c.World.pid(c.apiServer()); ok {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// stopAPIServer skips kube-apiserver's graceful end: its clients are gone and its data
// goes with the world. envtest then only tidies up.
func (c *local) stopAPIServer() error {
	c.killAPIServer()
	err := c.plane.Stop()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil // it was gone before envtest looked
	}
	c.World.guard.Forget(c.apiServer())
	return err
}

// watchAPIServer notices when kube-apiserver, which envtest started, dies.
func (c *local) watchAPIServer() {
	w, name := c.World, c.apiServer()
	w.lookout(func() bool {
		dead := c.foundDead()
		if dead {
			w.Died(name, process.Ended(name, "found dead", w.log(name)))
		}
		return dead
	})
}

// foundDead tells whether kube-apiserver is gone, and nobody has ended it.
func (c *local) foundDead() bool {
	c.restart.Lock()
	defer c.restart.Unlock()
	pid, ok := c.World.pid(c.apiServer())
	if !ok || c.down || !gone(pid) {
		return false
	}
	c.World.guard.Forget(c.apiServer()) // the ID may become somebody else's
	return true
}

// gone tells whether there is no such process.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Served is the value of kube-apiserver's --runtime-config: what it serves besides its
// defaults, with what is asked for.
func Served(versions ...string) []string {
	all := []string{"admissionregistration.k8s.io/v1beta1=true"} // of the policy, see above
	for _, version := range versions {
		all = append(all, version+"=true")
	}
	return all
}
