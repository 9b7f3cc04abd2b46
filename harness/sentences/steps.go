// Package sentences gives the sentences of the features their meaning. The steps are
// thin: what they do is done by the world, the target's package and the
// simulated nodes; what they observe is the history.
package sentences

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/machine/node"
)

// Rig is what a scenario runs on.
type Rig struct {
	// World is how to start the scenario's world; the steps add what the
	// scenario says about its cluster.
	World world.Config
	// Machines makes what the instances of the scenario's cloud are; nil: simulated.
	Machines func(context.Context, *world.World) (Machines, error)
	// Target is the build under test.
	Target builds.Target
	// Manifest is how the user runs it; nil means as its documentation has it.
	Manifest *manifest.Container
	// Order is a file with the user's own order of the installer under test; empty
	// means that of its release.
	Order string
	// With are builds of parts of the world to take in place of nodestorm's own.
	With []builds.Target
	// Beside is the folder of the feature, with the files that its steps name.
	Beside fs.FS
	// Symptom is what the world goes on for after a Then has failed.
	Symptom checker.Statement
	// Invariants are judged from the world's start to its end.
	Invariants []checker.Statement
	// Started is told the world as soon as it is ready.
	Started func(*world.World)
	// Step is told each step as it begins.
	Step func(text string)
	// Failed is told what went wrong outside the history: why there is no world,
	// or what could not be ended or written with it.
	Failed func(what string, err error)
	// Ended is called when the scenario is over and before its world stops, with
	// what the target was started with.
	Ended func(settings []string)
}

// Machines are those of a cloud's instances that are none of ours, and to which the faults of
// simulated nodes can be done.
type Machines interface {
	machines.Containers
	// Has tells whether a Node is that of one of them.
	Has(node string) bool
	Inject(node string, f node.Fault) error
	// Clear ends a fault on all of them.
	Clear(fault string) error
}

// scenario is the state of one run of one scenario.
type scenario struct {
	rig         Rig
	world       *world.World
	karpenter   *karpenter.Karpenter
	hetzner     *hetzner.Project
	groups      *nodegroups.Cloud
	instances   *karpenter.Cloud
	callTimeout string // of the autoscaler's calls to groups
	capi        *clusterapi.ClusterAPI
	kubelets    *kubelet.Machines
	containers  Machines             // nil: the cloud's are simulated
	old         []clusterapi.Machine // that are to go
	rules       []apifault.Rule      // between the target and the API server
	breakable   bool                 // a When may have such rules
	breaksCAPI  bool                 // a step may have some between Cluster API's controllers and theirs
	autoscaler  *clusterautoscaler.Autoscaler
	intent      clusterautoscaler.Intent
	withheld    []string                      // API groups that the autoscaler gets no rights on
	env         []manifest.Variable           // that the scenario gives the target
	flags       []string                      // that it gives it, as on a command line
	unlisted    []string                      // likewise, and it may not know them
	types       []fakecloud.ServerType        // that the cloud has besides its own
	marked      map[string]hetzner.NodeConfig // groups of servers with labels or taints
	clients     map[*world.Cluster]*objects.Client
	awaited     *history.Record // that a step waited for last
	drawn       bool            // whether there is anything for what it does was not known before
	profile     node.Profile
	text        string        // of the step
	quoted      string        // by the step, where that is what it states
	delay       time.Duration // from launch to registration
	launched    history.Record
	asked       uint64 // sequence number of the history when the last block of Whens began
	last        messages.PickleStepType
	failed      bool        // a Then
	broken      atomic.Bool // an invariant

	serverReady time.Duration // from a server's registration to Ready; zero: the default
	serverReal  bool          // servers have real kubelets
	install     installation

	furtherMu     sync.Mutex
	furtherFaults []furtherFault

	kwokKubelets bool // Karpenter's machines have real kubelets
}

// Initialize registers the steps for the one scenario that the rig is for.
func (r Rig) Initialize(sc *godog.ScenarioContext) { r.initialize(sc) }

func (r Rig) initialize(sc *godog.ScenarioContext) *scenario {
	s := &scenario{rig: r}
	sc.Before(func(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
		s.foresee(sc.Steps)
		return ctx, nil
	})
	ended := false // godog goes on, and skips what is left
	sc.After(func(ctx context.Context, _ *godog.Scenario, _ error) (context.Context, error) {
		ended = true
		if s.world == nil {
			return ctx, nil
		}
		if s.failed || s.broken.Load() {
			s.awaitSymptom(ctx)
		}
		var settings []string
		switch {
		case s.karpenter != nil:
			settings = s.karpenter.Settings()
		case s.autoscaler != nil:
			settings = s.autoscaler.Settings()
		}
		r.Ended(settings)
		err := s.world.Stop()
		if err != nil {
			r.Failed("after the last step", err)
		}
		return ctx, err
	})
	sc.StepContext().Before(func(ctx context.Context, step *godog.Step) (context.Context, error) {
		if ended {
			return ctx, nil
		}
		if s.world != nil && step.Type == messages.PickleStepType_ACTION {
			s.world.Begin()
		}
		r.Step(step.Text)
		s.text, s.quoted = step.Text, ""
		s.begin(step.Type)
		return ctx, nil
	})
	sc.StepContext().After(func(ctx context.Context, step *godog.Step, status godog.StepResultStatus, err error) (context.Context, error) {
		if !ended {
			s.record(ctx, step, status, err)
		}
		return ctx, nil
	})
	s.register(live{sc, s})
	return s
}

// begin notes where the history is as a block of Whens begins: the Thens after it
// count from there.
func (s *scenario) begin(kind messages.PickleStepType) {
	if s.world != nil && kind == messages.PickleStepType_ACTION && s.last != kind {
		s.asked = s.seq()
	}
	s.last = kind
}

// record puts a step's outcome into the history: a stored run is judged by it.
func (s *scenario) record(ctx context.Context, step *godog.Step, status godog.StepResultStatus, err error) {
	if s.world == nil {
		if err != nil {
			s.rig.Failed(step.Text, err)
		}
		return
	}
	outcome := history.Outcome{Role: history.Role(step.Type), Text: step.Text, Quoted: s.quoted, Status: status.String()}
	if err != nil {
		outcome.Error = err.Error()
	}
	switch {
	case ctx.Err() != nil:
		outcome.Status = "interrupted" // it shows nothing, whatever it says
	case errors.Is(err, then.ErrUndecided):
		outcome.Status = then.Undecided
	}
	s.failed = s.failed || outcome.Role == history.Then && status == godog.StepFailed
	s.world.History().Record(outcome.Event())
}

// seq is the sequence number of the newest record.
func (s *scenario) seq() uint64 {
	records := s.world.History().Since(0)
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].Seq
}

var errWindow = errors.New("the time is over")

// within waits for a record that arrives after the one numbered seq, for at most
// d of virtual time. It returns errWindow when the time is over, and the world's
// error when a part of it dies.
func (s *scenario) within(ctx context.Context, d time.Duration, seq uint64, match func(history.Record) bool) (history.Record, error) {
	ctx, cancel := s.world.Alive(ctx)
	defer cancel(nil)
	timer := s.world.Clock().NewTimer(d)
	defer timer.Stop()
	go func() {
		select {
		case <-timer.C():
			cancel(errWindow)
		case <-ctx.Done():
		}
	}()
	return s.world.History().WaitAfter(ctx, seq, match)
}

// sleep lets so much virtual time pass.
func (s *scenario) sleep(ctx context.Context, d time.Duration) error {
	ctx, cancel := s.world.Alive(ctx)
	defer cancel(nil)
	select {
	case <-s.world.Clock().After(max(d, 0)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no duration such as 30s or 2m30s", s)
	}
	return d, nil
}
