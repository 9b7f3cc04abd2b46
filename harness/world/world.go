// Package world assembles one simulated cluster: real etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler on loopback, simulated nodes, one
// clock for all, and the history of what happens. It knows no autoscaler: a
// target joins through [World.StartComponent] with an identity of its own.
//
//	        ┌ etcd ── kube-apiserver ──(audit log)──┐
//	clock ──┼ kube-controller-manager, scheduler    ├── history
//	        ├ target                                │
//	        └ fleet of simulated nodes ─────────────┘
package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"nodestorm/harness/world/egress"
	"nodestorm/harness/world/process"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// FolderPrefix begins the names of worlds' temporary folders.
const FolderPrefix = "nodestorm-world-"

// World is a running cluster, and more if they are started. Its methods are safe for
// concurrent use.
type World struct {
	*Cluster
	cfg     Config
	tmp     string // what ends with the world: etcd's data, keys, the clock page
	ctx     context.Context
	fail    context.CancelCauseFunc
	driver  *clock.Driver
	guard   *process.Guard
	history *history.Log
	egress  *egress.Proxy
	fleet   *node.Fleet
	client  kubernetes.Interface

	mu         sync.Mutex
	release    Release
	components map[string]component
	firsts     int                         // how many have been started for the first time
	pods       map[string]int              // how many processes each program has had that has a number of them
	programs   map[string]*process.Process // whose end is not the world's
	ways       map[string]*apifault.Proxy  // of controllers
	undo       []func() error              // run in reverse by Stop
	stopped    bool
	background sync.WaitGroup
	begun      sync.Once
}

// The clients in our own process say in their errors what matters. What they also log,
// for example about calls that the end of a world cuts off, would get
// between our own lines.
func init() {
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
}

// Start assembles a world and returns when all of it is ready; from then on
// virtual time passes as cfg.Clock says. Until then it passes as real time does while
// anybody works, see [World.StartComponent]. An error names the part that failed, and
// nothing is left running.
func Start(ctx context.Context, cfg Config) (_ *World, err error) {
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	w := &World{cfg: cfg, components: map[string]component{}, pods: map[string]int{}, programs: map[string]*process.Process{},
		ways: map[string]*apifault.Proxy{}, release: Release{ControlPlane: cfg.ControlPlane, Version: cfg.Version}}
	w.ctx, w.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Stop())
		}
	}()
	for _, part := range []struct {
		what  string
		start func(context.Context) error
	}{
		{"making the world's folder", w.startFolder},
		{"starting the clock", w.startClock},
		{"starting the history", w.startHistory},
		{"starting the cluster", w.startFirst},
		{"starting the simulated nodes", w.startFleet},
	} {
		cfg.Progress(part.what)
		if err := part.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	w.driver.Restart()
	if !w.jumps() {
		w.driver.Release()
	}
	w.recordPace()
	return w, nil
}

func (w *World) startFolder(context.Context) error {
	if err := os.MkdirAll(filepath.Join(w.cfg.Out, "logs"), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", FolderPrefix)
	if err != nil {
		return err
	}
	w.tmp = tmp
	if err := w.disks()[1].check(roomToBegin); err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	for _, dir := range []string{"home", "tmp"} { // for the programs
		if err := os.Mkdir(filepath.Join(tmp, dir), 0o700); err != nil {
			return errors.Join(err, os.RemoveAll(tmp))
		}
	}
	w.guard, err = process.NewGuard(tmp)
	if err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	w.OnStop(func() error { return errors.Join(w.killPrograms(), w.guard.Close()) })
	return nil
}

func (w *World) startClock(context.Context) (err error) {
	w.driver, err = clock.NewDriver(clock.Config{Path: filepath.Join(w.tmp, "clock"), Mode: w.cfg.Clock})
	if err != nil {
		return err
	}
	w.OnStop(w.driver.Close)
	if w.jumps() {
		w.driver.Release()
	}
	return nil
}

// jumps reports whether time passes over waits and never faster than work: it need not be
// held while programs start.
func (w *World) jumps() bool { return w.cfg.Clock == clock.Auto }

func (w *World) startHistory(context.Context) (err error) {
	w.history, err = history.Create(filepath.Join(w.cfg.Out, "history.ndjson"), time.Time{}, w.Clock())
	if err != nil {
		return err
	}
	w.OnStop(func() error {
		w.history.Record(history.Event{Source: history.Harness, Verb: history.Ended})
		return w.history.Close()
	})
	w.background.Go(func() { w.watchDisks(roomAtLeast) })
	return w.startEgress()
}

// startFirst starts the world's own cluster.
func (w *World) startFirst(ctx context.Context) (err error) {
	w.Cluster, err = w.startCluster(ctx, "", w.tmp, w.cfg.ClusterOptions)
	return err
}

// recordCalls turns the lines of kube-apiserver's audit log, its standard
// output, into history. A pipe, not a file: no call is older than the time it is
// seen at, however fast time passes.
func (c *Cluster) recordCalls() io.Writer {
	w := c.world
	others := history.CountStrangers(w.history, strings.TrimPrefix(c.name+"-"+apiServer, "-"))
	w.OnStop(others.Close)
	convert := audit.Converter{Stranger: others.Came}
	return process.Lines(func(line []byte) {
		events, err := convert.Events(line)
		if err != nil {
			events = []history.Event{{Source: history.Harness, Verb: history.Unreadable, Actor: "kube-apiserver",
				Detail: map[string]any{"error": err.Error()}}}
		}
		if w.cfg.Calls != nil && c.name == "" && len(events) > 0 && events[0].Source == history.API {
			w.cfg.Calls(line, events[0])
		}
		for _, e := range events {
			if c.name != "" {
				if e.Detail == nil {
					e.Detail = map[string]any{}
				}
				e.Detail["cluster"] = c.name
			}
			w.history.Record(e)
		}
	})
}

func (w *World) startFleet(ctx context.Context) (err error) {
	cfg := w.cfg.Nodes
	rc, err := w.User("nodestorm:nodes", "system:masters")
	if err != nil {
		return err
	}
	if cfg.Client, err = node.Client(rc, "sim-node"); err != nil {
		return err
	}
	agents := map[string]kubernetes.Interface{}
	var mu sync.Mutex
	cfg.AgentClient = func(agent string) kubernetes.Interface {
		mu.Lock()
		defer mu.Unlock()
		if agents[agent] == nil {
			// The same configuration made a client just now.
			if c, err := node.Client(rc, agent); err == nil {
				agents[agent] = c
			} else {
				agents[agent] = cfg.Client
			}
		}
		return agents[agent]
	}
	if w.client, err = node.Client(w.Admin(), "nodestorm"); err != nil {
		return err
	}
	// mutant: kubelets are newer than an older control plane
	cfg.KubeletVersion = cmp.Or(cfg.KubeletVersion, w.cfg.Version)
	cfg.Clock, cfg.History, cfg.Seed = w.Clock(), w.history, w.cfg.Seed
	if w.fleet, err = node.New(cfg); err != nil {
		return err
	}
	run, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.fleet.Run(run) }()
	w.OnStop(func() error {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	select {
	case <-w.fleet.Ready():
		return nil
	case err := <-ended:
		ended <- err
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// Clock is the world's virtual time.
func (w *World) Clock() clock.Clock { return w.driver.Clock() }

// Driver makes the world's time pass.
func (w *World) Driver() *clock.Driver { return w.driver }

// Begin marks the beginning of what the world is judged by: how late each program is
// counts from here on. Only the first call does anything.
func (w *World) Begin() { w.begun.Do(w.driver.Count) }

// History has the events of the run.
func (w *World) History() *history.Log { return w.history }

// Fleet are the simulated nodes.
func (w *World) Fleet() *node.Fleet { return w.fleet }

// Client is the harness's own client, with all rights.
func (w *World) Client() kubernetes.Interface { return w.client }

// Done is closed when a part of the world died by itself; Err says which.
func (w *World) Done() <-chan struct{} { return w.ctx.Done() }

// Err names the part whose death ended the world, with its exit status and last lines: the
// first that died, or one that others die without if it died within a moment of the first. It
// is nil while all live.
func (w *World) Err() error {
	if w.ctx.Err() == nil {
		return nil
	}
	return context.Cause(w.ctx)
}

// Stop ends everything, in the reverse order of the start, and goes on past
// errors, which it returns as a *StopError. Further calls do nothing.
func (w *World) Stop() error {
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return nil
	}
	w.stopped = true
	undo := w.undo // what comes from now on is undone at once
	w.mu.Unlock()
	if w.driver != nil {
		w.driver.Hold() // ending is work, not waiting
	}
	w.recordUsage()
	w.fail(context.Canceled)
	var errs []error
	for _, f := range slices.Backward(undo) {
		errs = append(errs, f())
	}
	ended := make(chan struct{})
	go func() { w.background.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second): // those that cannot be killed are in errs
		errs = append(errs, errors.New("not all that watched its programs has ended within 10s"))
	}
	if err := errors.Join(errs...); err != nil {
		return &StopError{err}
	}
	return nil
}

// StopError says what of a world could not be ended, or not be written.
type StopError struct{ Err error }

func (e *StopError) Error() string { return "ending the world: " + e.Err.Error() }
func (e *StopError) Unwrap() error { return e.Err }
