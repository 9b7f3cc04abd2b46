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

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/process"
	"nodestorm/sim/history/audit"
)

const controlPlaneStart = time.Minute

// startControlPlane lets envtest start etcd and kube-apiserver. It gives
// neither an environment nor a death signal to its children: scripts in their
// place put the clock into their environment and leave their process IDs to
// the guard.
func (w *World) startControlPlane(ctx context.Context) error {
	bin := filepath.Join(w.tmp, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		script := fmt.Sprintf("#!/bin/sh\necho $$ > %s\n%s %s exec %s \"$@\"\n",
			quote(w.guard.PIDFile(name)), fewerCollections, quoteEnv(w.driver.Env()), quote(filepath.Join(w.cfg.controlDir(), name)))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			return err
		}
	}
	policy := filepath.Join(w.tmp, "audit-policy.yaml")
	if err := os.WriteFile(policy, audit.Policy(), 0o600); err != nil {
		return err
	}
	existing := false
	w.env = &envtest.Environment{
		BinaryAssetsDirectory:    bin,
		UseExistingCluster:       &existing,
		ControlPlaneStartTimeout: controlPlaneStart,
		ControlPlaneStopTimeout:  10 * time.Second,
	}
	server := w.env.ControlPlane.GetAPIServer()
	args := server.Configure().
		Disable("disable-admission-plugins"). // envtest's default leaves ServiceAccount out
		Set("audit-policy-file", policy).
		Set("audit-log-path", "-").
		Set("profiling", "false").
		// Targets' packages use the policy to mend what a stand-in for a cloud gets wrong.
		Set("feature-gates", "MutatingAdmissionPolicy=true").
		Set("runtime-config", "admissionregistration.k8s.io/v1beta1=true")
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
	w.env.ControlPlane.Etcd = etcd(etcdLog)

	started := make(chan error, 1)
	go func() { _, err := w.env.Start(); started <- err }()
	select {
	case err = <-started:
	case <-ctx.Done():
		// envtest cannot be interrupted: end what it waits for.
		w.killControlPlane()
		<-started
		err = context.Cause(ctx)
	}
	w.onStop(w.stopControlPlane)
	if err != nil {
		return fmt.Errorf("%w; the last lines of %s:\n%s", err, w.log("kube-apiserver"), process.Tail(w.log("kube-apiserver")))
	}
	w.background.Go(w.watchControlPlane)
	return nil
}

// quote makes s one word of a shell script.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quoteEnv(env string) string {
	name, value, _ := strings.Cut(env, "=")
	return name + "=" + quote(value)
}

func (w *World) auditLog() string       { return filepath.Join(w.tmp, "audit.log") }
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
	err := w.env.Stop()
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
				w.died(name, &process.ExitError{Name: name, Status: "found dead", Tail: process.Tail(w.log(name)), Log: w.log(name)})
				return
			}
		}
	}
}

// User makes an identity of the cluster with a client certificate of the
// world's CA.
func (w *World) User(name string, groups ...string) (*rest.Config, error) {
	user, err := w.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("making user %q: %w", name, err)
	}
	return user.Config(), nil
}

// Kubeconfig writes a kubeconfig file for a new identity, readable by us only,
// and returns its path, which ends with the world.
func (w *World) Kubeconfig(name string, groups ...string) (string, error) {
	user, err := w.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", fmt.Errorf("making user %q: %w", name, err)
	}
	b, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("making the kubeconfig of %q: %w", name, err)
	}
	f, err := os.CreateTemp(w.tmp, "kubeconfig-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return f.Name(), errors.Join(err, f.Close())
}
