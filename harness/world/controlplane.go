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
	"k8s.io/client-go/rest"
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
%s %s exec %s "$@"
`

// startControlPlane lets envtest start etcd and kube-apiserver. It gives
// neither an environment nor a death signal to its children: scripts in their
// place put the clock into their environment and leave their process IDs to
// the guard.
func (w *World) startControlPlane(ctx context.Context) error {
	bin := filepath.Join(w.tmp, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	for name, settings := range map[string]string{"etcd": fewerCollections + " " + fewerProcessors, "kube-apiserver": fewerCollections} {
		script := fmt.Sprintf(controlPlaneScript,
			quote(w.guard.PIDFile(name)), settings, quoteEnv(w.driver.Env()), quote(filepath.Join(w.cfg.controlDir(), name)))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			return err
		}
	}
	policy := filepath.Join(w.tmp, "audit-policy.yaml")
	if err := os.WriteFile(policy, audit.Policy(), 0o600); err != nil {
		return err
	}
	certs, data := filepath.Join(w.tmp, "kube-apiserver"), filepath.Join(w.tmp, "etcd")
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
	if w.ca, err = newAuthority(certs); err != nil {
		return err
	}
	server.Authn = w.ca
	if w.cfg.Kubelets {
		if err := w.openToKubelets(args, certs); err != nil {
			return err
		}
	}
	for name, values := range w.cfg.APIServer {
		args.Set(name, values...)
	}
	log, err := os.Create(w.log("kube-apiserver"))
	if err != nil {
		return err
	}
	server.Out, server.Err = w.recordCalls(), log
	etcdLog, err := os.Create(w.log("etcd"))
	if err != nil {
		return errors.Join(err, log.Close())
	}
	w.onStop(func() error { return errors.Join(log.Close(), etcdLog.Close()) })
	w.plane = &envtest.ControlPlane{APIServer: server, Etcd: etcd(filepath.Join(bin, "etcd"), data, etcdPort, etcdLog)}

	started := make(chan error, 1)
	go func() { started <- w.plane.Start() }()
	err = w.awaitControlPlane(ctx, started)
	w.onStop(w.stopControlPlane)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		part := "kube-apiserver"
		if _, came := w.pid(part); !came {
			part = "etcd"
		}
		return fmt.Errorf("%w; its last lines, of %s:\n%s", err, w.log(part), process.Tail(w.log(part)))
	}
	w.background.Go(w.watchControlPlane)
	admin, err := w.plane.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return fmt.Errorf("making user %q: %w", "admin", err)
	}
	w.admin = admin.Config()
	w.admin.QPS = -1 // no limit
	return w.awaitNamespace(ctx, metav1.NamespaceDefault)
}

// awaitControlPlane waits for envtest, which cannot be interrupted: when ctx
// ends, it ends what envtest waits for.
func (w *World) awaitControlPlane(ctx context.Context, started <-chan error) error {
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
	}
	for {
		w.killControlPlane()
		select {
		case err := <-started:
			return err
		case <-time.After(20 * time.Millisecond): // it may have been about to start the next one
		}
	}
}

// awaitNamespace waits for a namespace that kube-apiserver makes by itself soon
// after it is ready.
func (w *World) awaitNamespace(ctx context.Context, name string) error {
	client, err := kubernetes.NewForConfig(w.admin)
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

func quoteEnv(env string) string {
	name, value, _ := strings.Cut(env, "=")
	return name + "=" + quote(value)
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

var controlPlaneParts = []string{"kube-apiserver", "etcd"}

func (w *World) killControlPlane() {
	for _, name := range controlPlaneParts {
		if pid, ok := w.pid(name); ok {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// stopControlPlane skips kube-apiserver's graceful end: its clients are gone and
// its data goes with the world. envtest then only tidies up.
func (w *World) stopControlPlane() error {
	w.killControlPlane()
	err := w.plane.Stop()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil // it was gone before envtest looked
	}
	for _, name := range controlPlaneParts {
		w.guard.Forget(name)
	}
	return err
}

// watchControlPlane notices when a part that envtest started dies.
func (w *World) watchControlPlane() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-tick.C:
		}
		for _, name := range controlPlaneParts {
			if pid, ok := w.pid(name); ok && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				w.guard.Forget(name) // the ID may become somebody else's
				w.died(name, &process.ExitError{Name: name, Status: "found dead", Tail: process.Tail(w.log(name)), Log: w.log(name)})
				return
			}
		}
	}
}

// User makes an identity of the cluster with a client certificate of the
// world's CA.
func (w *World) User(name string, groups ...string) (*rest.Config, error) {
	user, err := w.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("making user %q: %w", name, err)
	}
	return user.Config(), nil
}

// Kubeconfig writes a kubeconfig file for a new identity, readable by us only,
// and returns its path, which ends with the world.
func (w *World) Kubeconfig(name string, groups ...string) (string, error) {
	user, err := w.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", fmt.Errorf("making user %q: %w", name, err)
	}
	b, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("making the kubeconfig of %q: %w", name, err)
	}
	return w.writeKubeconfig(b)
}

func (w *World) writeKubeconfig(b []byte) (string, error) {
	f, err := os.CreateTemp(w.tmp, "kubeconfig-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return f.Name(), errors.Join(err, f.Close())
}
