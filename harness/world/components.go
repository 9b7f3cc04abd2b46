package world

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"nodestorm/harness/process"
	"nodestorm/sim/history"
)

// startControllers starts what envtest does not, all at once. A cluster without nodes
// needs no scheduler.
func (c *local) startControllers(ctx context.Context) error {
	manager := []string{
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + filepath.Join(c.plane.APIServer.CertDir, "sa-signer.key"),
	}
	if c.Wishes.ClusterCIDR != "" {
		manager = append(manager, "--allocate-node-cidrs", "--cluster-cidr="+c.Wishes.ClusterCIDR)
	}
	if c.Wishes.Kubelets {
		manager = append(manager, "--cluster-signing-cert-file="+c.ca.certFile, "--cluster-signing-key-file="+c.ca.keyFile)
	}
	controllers := map[string][]string{"kube-controller-manager": append(manager, c.Wishes.ControllerManager...)}
	if c.Name == "" {
		controllers["kube-scheduler"] = nil
	}
	started := make(chan error, len(controllers))
	for name, flags := range controllers {
		go func() {
			started <- c.startController(ctx, name, flags)
		}()
	}
	var errs []error
	for range controllers {
		errs = append(errs, <-started)
	}
	return errors.Join(errs...)
}

func (c *local) startController(ctx context.Context, name string, flags []string) error {
	w := c.World
	kubeconfig, err := (&Cluster{world: w, plane: c}).Kubeconfig("system:" + name)
	if err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	if w.cfg.ClientQPS > 0 {
		flags = append(flags, fmt.Sprintf("--kube-api-qps=%d", w.cfg.ClientQPS), fmt.Sprintf("--kube-api-burst=%d", w.cfg.ClientQPS))
	}
	_, err = w.StartComponent(ctx, process.Spec{
		Name: c.program(name),
		Path: filepath.Join(w.cfg.Kubernetes, name),
		Env:  []string{fewerCollections, fewerProcessors},
		Args: append(flags,
			"--kubeconfig="+kubeconfig,
			"--authentication-kubeconfig="+kubeconfig,
			"--authorization-kubeconfig="+kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port="+strconv.Itoa(port),
			"--cert-dir="+filepath.Join(c.Dir, name),
			"--authentication-skip-lookup", // nobody but us asks them
			"--leader-elect=false",         // there is only one
			"--profiling=false",
		),
		Ready: HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	})
	return err
}

// fewerCollections trades memory, of which control planes of this size need
// little, for a fifth of the processor time of a quiet world.
const fewerCollections = "GOGC=400"

// fewerProcessors keeps etcd and the controllers to half of the machine: with
// more Ps, Go wakes threads for timers whose work is done before they run, which
// takes another fifth in a quiet world. kube-apiserver and targets keep all.
var fewerProcessors = fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2))

// Launch is how a program is launched: as any other if it was built with the clock, or in real
// time; else as a guest of the world's time. It is for process.Spec.
func (w *World) Launch(builtWithClock bool) func(*exec.Cmd) error {
	if builtWithClock || !w.cfg.Clock.Virtual() {
		return nil
	}
	return w.driver.Start
}

// StartComponent runs a program as part of the world: in its time, its output in
// the run's logs, its death noticed. Virtual time passes as real time does until
// the program is ready, for which it has three minutes where spec says nothing.
func (w *World) StartComponent(ctx context.Context, spec process.Spec) (*process.Process, error) {
	w.driver.Hold()
	defer w.driver.Release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })() // without the others it won't get ready
	asked := spec
	spec.Log = w.log(spec.Name)
	spec.Env = w.inside(spec.Env)
	spec.ReadyWithin = cmp.Or(spec.ReadyWithin, controlPlaneStart)
	p, err := process.Start(ctx, spec)
	if err != nil {
		if exited := new(process.ExitError); errors.As(err, &exited) {
			w.history.Record(history.Death(spec.Name, err)) // the caller may start it otherwise
		}
		return nil, err
	}
	w.driver.Name(p.PID(), spec.Name, true)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped { // meanwhile: Stop does not know of it
		return nil, errors.Join(context.Cause(w.ctx), p.Kill())
	}
	if err := w.guard.Watch(p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if _, again := w.components[spec.Name]; !again {
		w.undo = append(w.undo, func() error { return w.stopComponent(spec.Name) })
	}
	w.components[spec.Name], w.specs[spec.Name] = p, asked
	w.background.Go(func() {
		<-p.Exited()
		if err := p.Exit(); err != nil {
			w.Died(spec.Name, err)
		}
	})
	return p, nil
}

// Component is the running program of that name.
func (w *World) Component(name string) (*process.Process, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.components[name]
	return p, ok
}

// A component gets a second to end by itself; then it is killed: nothing of it
// is needed any more.
func (w *World) stopComponent(name string) error {
	p, ok := w.Component(name)
	if !ok {
		return nil
	}
	defer w.guard.Forget(name)
	return p.Stop(time.Second)
}

// HTTPReady is nil once url, on loopback, answers 200.
func HTTPReady(url string) func(context.Context) error {
	return healthy(&http.Client{
		Timeout: 2 * time.Second,
		// Components make their own certificates; this asks only for health.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}, url)
}

// healthy is nil once url answers 200 to a client.
func healthy(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
			return fmt.Errorf("%s answers %s: %s", url, resp.Status, body)
		}
		return nil
	}
}
