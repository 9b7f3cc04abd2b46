// Package fakecloud is a cloud with a truth of its own: instances with a life cycle,
// actions that take time, networks, images, prices, and the faults of package
// fault, all driven by a clock and a seed. It knows nothing of HTTP and nothing of
// Kubernetes: wire APIs such as package hcloud serve it, and the harness joins its
// instances to a cluster's nodes.
//
// These events go to the history, with source "cloud", in addition to those of the faults:
//
//	instances   created, failed (it could not be), starting, running, stopping, off, rebuilding, deleting, deleted,
//	            interrupted (it is announced to be), impaired (its checks fail), maintenance (that is announced),
//	            reserved (it fills a reservation that it did not when it was created)
//	nodegroups  target (details from and to), failed (an instance of it could not be created, and is not there), deleted
//	reservations  created, ended
//
// The model is that of the Hetzner Cloud, which is rich enough for others.
package fakecloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/time/seed"
)

// Config says what a Cloud works with.
type Config struct {
	// Clock is the world's time. Required.
	Clock clock.WithTicker
	// Seed is the run's: the jitter of actions, passwords and fault probabilities derive from it.
	Seed uint64
	// Recorder gets the events. Nil: none are kept.
	Recorder history.Recorder
	// Catalogue is what can be had. Nil means Hetzner().
	Catalogue *Catalogue
	// GroupLabel is the label whose value is an instance's node group. Empty means hcloud/node-group,
	// which Cluster Autoscaler sets.
	GroupLabel string
	// KeptLabel is that of the instances of Groups, where users' own have another. Empty: GroupLabel.
	KeptLabel string
	// InstanceName is what the next instance of a Group is called. Nil: as the group, with a number behind it.
	InstanceName func(*Tx) string
	// Durations says how long actions take, by command, in place of those of DefaultDurations.
	Durations map[string]time.Duration
	// CheckFault finds what is wrong with a fault before it is armed, by the wire API's calls. Nil means nothing is.
	CheckFault func(fault.Fault) error
	// Keeps is how long instances that are gone are still listed, as Gone. Zero: not at all.
	Keeps time.Duration
	// State is what Save returned, to go on from. Nil means an empty project.
	State []byte
}

// DefaultDurations is how long actions take, within ±20 % by the seed. The API's documentation
// gives no figures; these are in the order of what the public API shows for small servers. What is not
// listed takes a second.
func DefaultDurations() map[string]time.Duration {
	return map[string]time.Duration{
		"create_server":     6 * time.Second,
		"start_server":      2 * time.Second,
		"stop_server":       2 * time.Second,
		"shutdown_server":   5 * time.Second,
		"reboot_server":     3 * time.Second,
		"reset_server":      3 * time.Second,
		"delete_server":     2 * time.Second,
		"rebuild_server":    15 * time.Second,
		"change_type":       20 * time.Second,
		"create_image":      30 * time.Second,
		"attach_to_network": 2 * time.Second,
	}
}

// Cloud is one project in a cloud. All methods are safe for concurrent use.
type Cloud struct {
	cfg    Config
	faults *cloudfault.Set

	generation atomic.Uint64
	kick       chan struct{} // something new to wait for or to report
	stop       chan struct{}
	ended      chan struct{}
	closeOnce  sync.Once
	ctx        context.Context // ends with the cloud
	cancel     context.CancelFunc
	waits      sync.WaitGroup // for events that faults wait for

	mu       sync.Mutex
	tx       *Tx
	sleeps   time.Time // until when run sleeps; zero: until it is poked
	changes  []Change  // that watchers have still to get
	reported int       // changes before those
	watchers map[int]watcher
	watches  int
	hearers  []func(*Tx, string, *Instance)
}

// watcher gets the changes from a number on.
type watcher struct {
	from int
	call func(Change)
}

// New returns a running Cloud. Close it.
func New(cfg Config) (*Cloud, error) {
	if cfg.Clock == nil {
		return nil, errors.New("fakecloud: Config wants a Clock")
	}
	if cfg.Recorder == nil {
		cfg.Recorder = history.Discard()
	}
	if cfg.Catalogue == nil {
		cfg.Catalogue = Hetzner()
	}
	if cfg.GroupLabel == "" {
		cfg.GroupLabel = "hcloud/node-group"
	}
	cfg.KeptLabel = cmp.Or(cfg.KeptLabel, cfg.GroupLabel)
	if err := cfg.Catalogue.Check(); err != nil {
		return nil, fmt.Errorf("fakecloud: %w", err)
	}
	durations := DefaultDurations()
	for command, d := range cfg.Durations {
		if d < 0 {
			return nil, fmt.Errorf("fakecloud: duration of action %q is %v: want zero or more", command, d)
		}
		durations[command] = d
	}
	cfg.Durations = durations
	c := &Cloud{
		cfg:      cfg,
		faults:   cloudfault.NewSet(cfg.Clock, cfg.Seed, cfg.Recorder),
		kick:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		ended:    make(chan struct{}),
		watchers: map[int]watcher{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.tx = newTx(c)
	if cfg.State == nil {
		c.tx.seedImages()
	} else if err := c.restore(cfg.State); err != nil {
		c.cancel()
		return nil, err
	}
	// Of a cloud that is restored, what has been drawn before is not drawn again.
	c.tx.random = seed.Stream(cfg.Seed, "fakecloud", strconv.FormatInt(c.tx.actionID, 10))
	go c.run()
	return c, nil
}

// Close ends the cloud: nothing changes any more, and no watcher is called once it has returned.
// It must not be called by a watcher.
func (c *Cloud) Close() {
	c.closeOnce.Do(func() { close(c.stop); c.cancel() })
	<-c.ended
	c.waits.Wait()
}

// Update carries out f as one step, of which no call sees a half. f must not keep the Tx, and must
// check everything before it changes anything: its error undoes nothing.
func (c *Cloud) Update(f func(*Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	err := f(c.tx)
	c.wake()
	return err
}

// View shows f the cloud as it is now. f must not keep the Tx and must not change anything.
func (c *Cloud) View(f func(*Tx)) {
	_ = c.Update(func(tx *Tx) error { f(tx); return nil })
}

// Generation is a number that grows with every change.
func (c *Cloud) Generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	return c.generation.Load()
}

// Catalogue is what can be had.
func (c *Cloud) Catalogue() *Catalogue { return c.cfg.Catalogue }

// GroupLabel is the label whose value is an instance's node group.
func (c *Cloud) GroupLabel() string { return c.cfg.GroupLabel }

// Clock is the cloud's time.
func (c *Cloud) Clock() clock.WithTicker { return c.cfg.Clock }

// Recorder is where events go.
func (c *Cloud) Recorder() history.Recorder { return c.cfg.Recorder }

// Instances returns all instances by ascending ID.
func (c *Cloud) Instances() []Instance {
	var all []Instance
	c.View(func(tx *Tx) {
		for _, i := range tx.Instances.All() {
			all = append(all, *i)
		}
	})
	return all
}

// Change is one step in an instance's life.
type Change struct {
	At       time.Time
	Instance Instance // as it is after the step; Gone means that it was
	From, To State    // From is empty for a new instance
}

// Watch has f called for every change from now on, in their order, one after the other. f may use the
// Cloud, but not Close it or stop a watch. After stop has returned f is not called any more.
func (c *Cloud) Watch(f func(Change)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	c.wake()
	id := c.watches
	c.watches++
	var calling sync.Mutex
	ended := false
	c.watchers[id] = watcher{from: c.reported + len(c.changes), call: func(change Change) {
		calling.Lock()
		defer calling.Unlock()
		if !ended {
			f(change)
		}
	}}
	return func() {
		c.mu.Lock()
		delete(c.watchers, id)
		c.mu.Unlock()
		calling.Lock()
		defer calling.Unlock()
		ended = true
	}
}

// OnInstanceEvent has f called for each event of an instance that goes to the history from now on, with its verb, within the transaction
// that makes it. f must not change the cloud.
func (c *Cloud) OnInstanceEvent(f func(tx *Tx, verb string, i *Instance)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearers = append(c.hearers, f)
}

// Inject arms a fault. One with a When needs a history.Log as Config.Recorder.
func (c *Cloud) Inject(f fault.Fault) error {
	if check := c.cfg.CheckFault; check != nil {
		if err := check(f); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	log, ok := c.cfg.Recorder.(*history.Log)
	if f.When != nil && !ok {
		return fmt.Errorf("fault %q: field when: this cloud has no history to wait on", f.Name)
	}
	c.advance() // what is due until now is done without it
	var waiting fault.Awaiting
	if f.When != nil {
		waiting = fault.AwaitIn(log)
	}
	if err := c.faults.Inject(f); err != nil {
		return err
	}
	if f.When != nil {
		c.waits.Go(func() { c.startOn(waiting, f) })
		return nil
	}
	c.faultsChanged()
	return nil
}

// startOn starts a fault when what it waits for has come.
func (c *Cloud) startOn(waiting fault.Awaiting, f fault.Fault) {
	at, err := waiting.Event(c.ctx, f.Plan)
	if err != nil {
		return // the cloud or its history has ended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	if c.faults.Start(f.Name, at) == nil {
		c.faultsChanged()
	}
}

// faultsChanged takes account of faults that are new or gone. The caller holds c.mu.
func (c *Cloud) faultsChanged() {
	c.tx.faultsChanged()
	c.wake()
}

// Clear ends a fault. What it has done already is not undone: an action that hangs stays so.
func (c *Cloud) Clear(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	err := c.faults.Clear(name)
	c.faultsChanged()
	return err
}

// Unmet returns the names of the faults that have made no difference so far: a run that ends with
// one has not shown what it set out to show.
func (c *Cloud) Unmet() []string { return c.faults.Unmet() }

// Faults are asked by the wire APIs.
func (c *Cloud) Faults() *cloudfault.Set { return c.faults }

// wake has run look again if it has something new to report or to wait for. The caller
// holds c.mu.
func (c *Cloud) wake() {
	if len(c.changes) == 0 && c.tx.agenda.Due().Equal(c.sleeps) {
		return
	}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// advance brings the cloud to now. The caller holds c.mu.
func (c *Cloud) advance() {
	select {
	case <-c.stop:
		return
	default:
	}
	c.tx.advance(c.cfg.Clock.Now())
}

// run wakes when something is due and calls watchers, until Close.
func (c *Cloud) run() {
	defer close(c.ended)
	for {
		c.mu.Lock()
		c.advance()
		changes, first := c.changes, c.reported
		c.changes, c.reported = nil, first+len(changes)
		var watchers []watcher
		for _, id := range slices.Sorted(maps.Keys(c.watchers)) {
			watchers = append(watchers, c.watchers[id])
		}
		due := c.tx.agenda.Due()
		c.sleeps = due
		c.mu.Unlock()

		for k, change := range changes {
			for _, w := range watchers {
				if first+k >= w.from {
					w.call(change)
				}
			}
		}
		var timer clock.Timer
		var wake <-chan time.Time
		if !due.IsZero() {
			timer = c.cfg.Clock.NewTimer(due.Sub(c.cfg.Clock.Now()))
			wake = timer.C()
		}
		select {
		case <-wake:
		case <-c.kick:
		case <-c.stop:
		}
		if timer != nil {
			timer.Stop()
		}
		select {
		case <-c.stop:
			return
		default:
		}
	}
}
