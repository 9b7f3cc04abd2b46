package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/process"
	"nodestorm/sim/history/audit"
)

const (
	// Real time. It takes 3 s alone, and took more than a minute with 48 programs
	// waiting for two processors.
	controlPlaneStart = 3 * time.Minute
	controlPlaneStop  = 10 * time.Second
)

// controlPlaneScript starts a part of the control plane. envtest runs it with
// --help first and looks there for flags of Kubernetes before 1.24 and of etcd
// before 3.5: there are none.
const controlPlaneScript = `#!/bin/sh
[ "$1" = --help ] && exit
echo $$ > %s || exit
exec env -i %s %s "$@"
`

// startControlPlane lets envtest start etcd and kube-apiserver. It gives them our
// environment and no death signal: scripts in their place give them the world's and
// leave their process IDs to the guard. They get no proxy, which kube-apiserver would
// ask for nodes too. configure, if given, adds to kube-apiserver's flags, and may put files into
// the folder certs.
func (c *Cluster) startControlPlane(ctx context.Context, configure func(args *envtest.Arguments, certs string) error) error {
	w := c.world
	bin := filepath.Join(c.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	for name, settings := range map[string][]string{"etcd": {fewerCollections, fewerProcessors}, "kube-apiserver": {fewerCollections}} {
		var env []string
		for _, pair := range w.environment(settings...) {
			env = append(env, quote(pair))
		}
		script := fmt.Sprintf(controlPlaneScript,
			quote(w.guard.PIDFile(c.program(name))), strings.Join(env, " "), quote(filepath.Join(w.cfg.controlDir(), name)))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			return err
		}
	}
	policy := filepath.Join(c.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, audit.Policy(), 0o600); err != nil {
		return err
	}
	certs, data := filepath.Join(c.dir, "kube-apiserver"), filepath.Join(c.dir, "etcd")
	err := errors.Join(os.Mkdir(certs, 0o700), os.Mkdir(data, 0o700))
	if err != nil {
		return err
	}
	etcdPort, err := FreePort()
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
		Path: filepath.Join(bin, "kube-apiserver"), CertDir: certs,
		SecureServing: envtest.SecureServing{ListenAddr: envtest.ListenAddr{Address: "127.0.0.1", Port: strconv.Itoa(port)}},
		StartTimeout:  controlPlaneStart, StopTimeout: controlPlaneStop,
	}
	args := server.Configure().
		Disable("disable-admission-plugins"). // envtest's default leaves ServiceAccount out
		Set("audit-policy-file", policy).
		Set("audit-log-path", "-").
		Set("profiling", "false").
		// Targets' packages use the policy to mend what a stand-in for a cloud gets wrong.
		Set("feature-gates", "MutatingAdmissionPolicy=true").
		Set("runtime-config", "admissionregistration.k8s.io/v1beta1=true")
	if c.ca, err = newAuthority(certs); err != nil {
		return err
	}
	server.Authn = c.ca
	if configure != nil {
		if err := configure(args, certs); err != nil {
			return err
		}
	}
	log, err := os.Create(w.log(c.program("kube-apiserver")))
	if err != nil {
		return err
	}
	server.Out, server.Err = c.recordCalls(), log
	etcdLog, err := os.Create(w.log(c.program("etcd")))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	w.OnStop(func() error { return errors.Join(log.Close(), etcdLog.Close()) })
	c.plane = &envtest.ControlPlane{APIServer: server, Etcd: etcd(filepath.Join(bin, "etcd"), data, etcdPort, etcdLog)}

	started := make(chan error, 1)
	go func() { started <- c.plane.Start() }()
	err = c.awaitControlPlane(ctx, started)
	w.OnStop(c.stopControlPlane)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		part := c.program("kube-apiserver")
		if _, came := w.pid(part); !came {
			part = c.program("etcd")
		}
		return fmt.Errorf("%w; its last lines, of %s:\n%s", err, w.log(part), process.Tail(w.log(part)))
	}
	for _, name := range c.controlPlaneParts() {
		if pid, ok := w.pid(name); ok {
			w.driver.Name(pid, name, true)
		}
	}
	w.mu.Lock()
	w.clusters = append(w.clusters, c)
	w.mu.Unlock()
	w.background.Go(c.watchControlPlane)
	admin, err := c.plane.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return fmt.Errorf("making user %q: %w", "admin", err)
	}
	c.admin = admin.Config()
	c.admin.QPS = -1 // no limit
	return c.awaitNamespace(ctx, metav1.NamespaceDefault)
}

// awaitControlPlane waits for envtest, which cannot be interrupted: when ctx
// ends, it ends what envtest waits for.
func (c *Cluster) awaitControlPlane(ctx context.Context, started <-chan error) error {
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
	}
	for {
		c.killControlPlane()
		select {
		case err := <-started:
			return err
		case <-time.After(20 * time.Millisecond): // it may have been about to start the next one
		}
	}
}

// awaitNamespace waits for a namespace that kube-apiserver makes by itself soon
// after it is ready.
func (c *Cluster) awaitNamespace(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, controlPlaneStart, true, func(ctx context.Context) (bool, error) {
		_, last = client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for namespace %q: %w", name, errors.Join(last, err))
	}
	return nil
}

// quote makes s one word of a shell script.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (w *World) log(name string) string { return filepath.Join(w.cfg.Out, "logs", name+".log") }
func (w *World) pid(name string) (int, bool) {
	b, err := os.ReadFile(w.guard.PIDFile(name))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, err == nil
}

// controlPlaneParts are the programs that envtest starts.
func (c *Cluster) controlPlaneParts() []string {
	return []string{c.program("kube-apiserver"), c.program("etcd")}
}

func (c *Cluster) killControlPlane() {
	for _, name := range c.controlPlaneParts() {
		if pid, ok := c.world.pid(name); ok {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// stopControlPlane skips kube-apiserver's graceful end: its clients are gone and
// its data goes with the world. envtest then only tidies up.
func (c *Cluster) stopControlPlane() error {
	c.killControlPlane()
	err := c.plane.Stop()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil // it was gone before envtest looked
	}
	for _, name := range c.controlPlaneParts() {
		c.world.guard.Forget(name)
	}
	return err
}

// watchControlPlane notices when a part that envtest started dies.
func (c *Cluster) watchControlPlane() {
	w := c.world
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-tick.C:
		}
		for _, name := range c.controlPlaneParts() {
			if pid, ok := w.pid(name); ok && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				w.guard.Forget(name) // the ID may become somebody else's
				w.died(name, process.Ended(name, "found dead", w.log(name)))
				return
			}
		}
	}
}
