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
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"nodestorm/harness/world/process"
)

// startControllers starts all of them at once. A cluster without nodes needs no
// scheduler.
func (c *local) startControllers(ctx context.Context) error {
	manager := []string{
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + c.tokenKey,
	}
	if c.Wishes.ClusterCIDR != "" {
		manager = append(manager, "--allocate-node-cidrs", "--cluster-cidr="+c.Wishes.ClusterCIDR)
	}
	if c.Wishes.Kubelets {
		manager = append(manager, "--cluster-signing-cert-file="+c.ca.certFile, "--cluster-signing-key-file="+c.ca.keyFile)
	}
	managed, err := c.controller(controllerManager, append(manager, c.Wishes.ControllerManager...))
	if err != nil {
		return err
	}
	controllers := []component{managed}
	if c.Name == "" {
		scheduling, err := c.controller(scheduler, nil)
		if err != nil {
			return err
		}
		controllers = append(controllers, scheduling)
	}
	return c.World.startTogether(ctx, controllers...)
}

// controller says how a controller starts, with an identity of its own.
func (c *local) controller(name string, flags []string) (component, error) {
	w := c.World
	kubeconfig, err := (&Cluster{world: w, plane: c}).controllerKubeconfig(name, c.Wishes)
	if err != nil {
		return component{}, err
	}
	// Without one it makes its own, of RSA, whose two keys are 0.2 s of work.
	cert, key, err := c.ca.issueFiles(name, name, nil, "127.0.0.1")
	if err != nil {
		return component{}, err
	}
	port, err := FreePort()
	if err != nil {
		return component{}, err
	}
	if w.cfg.ClientQPS > 0 {
		flags = append(flags, fmt.Sprintf("--kube-api-qps=%d", w.cfg.ClientQPS), fmt.Sprintf("--kube-api-burst=%d", w.cfg.ClientQPS))
	}
	path, launch := w.controlPlaneProgram(name)
	return component{Spec: process.Spec{
		Name: c.program(name),
		Path: path, Launch: launch,
		Env: w.isolatedEnvironment([]string{fewerCollections, fewerProcessors}),
		Args: append(flags,
			"--kubeconfig="+kubeconfig,
			"--authentication-kubeconfig="+kubeconfig,
			"--authorization-kubeconfig="+kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port="+strconv.Itoa(port),
			"--tls-cert-file="+cert,
			"--tls-private-key-file="+key,
			"--authentication-skip-lookup", // only we ask them
			"--leader-elect=false",         // there is only one
			"--profiling=false",
		),
		Ready: HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	}}, nil
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

// forGuests is the environment of a program, without the clock's page for a guest: it would
// find that too if it was built with the clock.
func (w *World) forGuests(spec process.Spec) []string {
	if spec.Launch == nil {
		return spec.Env
	}
	return slices.DeleteFunc(slices.Clone(spec.Env), func(set string) bool { return set == w.driver.Env() })
}

// controlPlaneProgram is where a program of a control plane is, and how it is launched.
func (w *World) controlPlaneProgram(name string) (path string, launch func(*exec.Cmd) error) {
	path, builtWithClock := w.cfg.on(w.Release()).program(name)
	// mutant: a guest of a control plane is started as any program
	return path, w.Launch(builtWithClock)
}

// component is a program that is part of the world.
type component struct {
	process.Spec
	process *process.Process
	order   int    // how many were started before it for the first time
	of      string // the program that it is a replica of; empty: it is alone, and called so
}

// program is what the history calls who does what it does.
func (c component) program() string { return cmp.Or(c.of, c.Name) }

// StartComponent runs a program as part of the world: in its time, its output in
// the run's logs, its death and its data races noticed. Until the program is ready, for which it has three
// minutes of real time where spec says nothing, virtual time passes as real time does
// while anybody works.
func (w *World) StartComponent(ctx context.Context, spec process.Spec) (*process.Process, error) {
	return w.startReplica(ctx, spec.Name, spec)
}

// startReplica is StartComponent for one of the processes that a program consists of.
func (w *World) startReplica(ctx context.Context, program string, spec process.Spec) (*process.Process, error) {
	if spec.Elsewhere != nil {
		spec.Env = w.ownFilesEnvironment(spec.Env)
	} else {
		spec.Env = w.isolatedEnvironment(spec.Env)
	}
	own, race := spec.Lines, races(w.history, spec.Name)
	spec.Lines = func(line []byte) {
		race(line)
		if own != nil {
			own(line)
		}
	}
	return w.startComponent(ctx, component{Spec: spec, of: program})
}

// startComponent starts one that has all of its environment.
func (w *World) startComponent(ctx context.Context, c component) (*process.Process, error) {
	release := sync.OnceFunc(w.driver.Release)
	w.driver.Hold()
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })() // without the others it won't get ready
	c.Log = w.LogFile(c.Name)
	c.ReadyWithin = cmp.Or(c.ReadyWithin, controlPlaneStart)
	spec := c.Spec
	spec.Env = w.forGuests(c.Spec)
	// A pod's host name is the pod's name, by which programs elect a leader. The host name of this machine would be in Events.
	if spec.Elsewhere == nil && process.NamesHosts() {
		spec.Host = c.Name
	}
	p, err := process.Spawn(ctx, spec)
	if err != nil {
		return nil, err
	}
	w.driver.Name(p.PID(), c.Name)
	if w.jumps() {
		// What programs wait for at their start, such as kube-apiserver for a second
		// before it makes its roles, is jumped over as any wait is.
		if err := w.awaitClock(ctx, p); err != nil {
			return nil, errors.Join(err, p.Kill())
		}
		// mutant: what a program waits for at its start takes its time
		release()
	}
	if err := p.AwaitReady(ctx, w.Clock().After); err != nil {
		if exited := new(process.ExitError); errors.As(err, &exited) {
			w.recordDeath(c.program(), err) // the caller may start it otherwise
		}
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped { // since then: Stop does not know of it
		return nil, errors.Join(context.Cause(w.ctx), p.Kill())
	}
	if err := w.guard.Watch(p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if before, again := w.components[c.Name]; again {
		c.order = before.order
	} else {
		c.order = w.firsts
		w.firsts++
		w.undo = append(w.undo, func() error { return w.stopComponent(c.Name) })
	}
	c.process = p
	w.components[c.Name] = c
	w.background.Go(func() { w.reportEnd(c) })
	return p, nil
}

// WatchContainer has a container removed if we are killed.
func (w *World) WatchContainer(id string) error { return w.guard.WatchContainer(id) }

// startTogether starts programs at once, and returns when all are ready, or the first error.
func (w *World) startTogether(ctx context.Context, all ...component) error {
	starting, ctx := errgroup.WithContext(ctx)
	for _, c := range all {
		starting.Go(func() error {
			_, err := w.startComponent(ctx, c)
			return err
		})
	}
	return starting.Wait()
}

// Component is the running program of that name.
func (w *World) Component(name string) (*process.Process, bool) {
	c, ok := w.component(name)
	return c.process, ok
}

func (w *World) component(name string) (component, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.components[name]
	return c, ok
}

// stopComponent kills a component: nothing of it is needed any more, and some take a second
// to end by themselves.
func (w *World) stopComponent(name string) error {
	c, ok := w.component(name)
	if !ok {
		return nil
	}
	defer w.guard.Forget(name)
	return c.process.Kill()
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
