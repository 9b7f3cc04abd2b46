// Package node stands in for machines and their kubelets against a real API
// server: it registers Nodes or adopts those that others create, renews Leases,
// reports status, starts and stops pods, lets node agents hold startup taints, and
// breaks on demand. Intervals, conditions, reasons and messages are those of a
// Kubernetes v1.36.3 kubelet; where it does less, the comment at the place says so.
//
// It knows no cloud: the harness decides which Instance boots which Node. It does
// not schedule, does not run containers, and leaves everything that the API server
// and kube-controller-manager do to them, such as the taints of a NotReady Node.
//
// It is written for thousands of nodes: one watch for Nodes and one for pods, one
// time-ordered queue for each of the two, and a bounded number of workers. An idle
// node costs a Lease renewal every 10 s and a status report every 5 min.
//
// These events go to the history, in addition to the faults, all with source "node":
//
//	nodes  register, ready, notready, deleted (the object is gone), shutdown,
//	       taint, untaint (by agents)
//	pods   waiting (for the network), running, terminated
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node/agenda"
)

// Actor names the kubelets in events and, through Client, in the audit log.
const Actor = "sim-node"

// Config says what a Fleet works with.
type Config struct {
	// Client is how kubelets reach the API server; see Client. Required.
	Client kubernetes.Interface
	// AgentClient returns the client of a node agent, so that the audit log names
	// it. Nil means that agents use Client.
	AgentClient func(agent string) kubernetes.Interface
	// Clock is the world's time. Required.
	Clock clock.WithTicker
	// History gets the events. Nil: none are kept.
	History history.Recorder
	// Log gets failed calls. Nil: none are logged.
	Log *slog.Logger
	// Seed is the run's. Each node draws from its own streams, split by its name.
	Seed uint64
	// Adopt is asked once about every Node object that Boot did not announce, and
	// says whether a machine of this fleet is behind it. It must not call the Fleet.
	// Nil adopts none.
	Adopt func(*corev1.Node) (Profile, bool)
	// KubeletVersion is reported in nodeInfo. Empty means v1.36.3.
	KubeletVersion string
	// Workers is the number of calls under way at once for Nodes and Leases, and
	// again for pods. The two are apart so that ten thousand starting pods never
	// delay a Lease. Zero means 16.
	Workers int
}

// Client returns a clientset for a Fleet: no rate limit, as each kubelet would
// have its own, protobuf where the API has it (a third of JSON's CPU time on both
// sides), and actor as the user agent that the audit log shows.
//
// Its identity needs nodes (get, list, watch, create, patch, delete for the fault
// of that kind), nodes/status (patch), leases in kube-node-lease (get, create,
// update), pods (list, watch, delete), pods/status (patch) and events (create).
func Client(cfg *rest.Config, actor string) (kubernetes.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.UserAgent = actor
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	cfg.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(cfg)
}

// Fleet is a number of simulated machines. All methods are safe for concurrent use.
type Fleet struct {
	cfg   Config
	ready chan struct{} // closed when both watches have listed

	mu       sync.Mutex
	lists    int // watches that have listed
	kubelets map[string]*kubelet
	declined map[types.UID]bool // Nodes that Adopt was asked about in vain
	pods     map[types.NamespacedName]*pod
	byNode   map[string]*boundPods
	booted   int // machines so far, for their addresses
	podIPs   int // pod addresses handed out so far
	failures int
	lastErr  error

	nodeWork *agenda.Agenda[string] // nil unless running
	podWork  *agenda.Agenda[types.NamespacedName]
	ran      bool
}

// New returns a Fleet without machines.
func New(cfg Config) (*Fleet, error) {
	if cfg.Client == nil || cfg.Clock == nil {
		return nil, errors.New("node: Config wants a Client and a Clock")
	}
	if cfg.AgentClient == nil {
		cfg.AgentClient = func(string) kubernetes.Interface { return cfg.Client }
	}
	if cfg.History == nil {
		cfg.History = history.Discard()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Adopt == nil {
		cfg.Adopt = func(*corev1.Node) (Profile, bool) { return Profile{}, false }
	}
	if cfg.KubeletVersion == "" {
		cfg.KubeletVersion = "v1.36.3"
	}
	if cfg.Workers == 0 {
		cfg.Workers = 16
	}
	return &Fleet{
		cfg:      cfg,
		ready:    make(chan struct{}),
		kubelets: map[string]*kubelet{},
		declined: map[types.UID]bool{},
		pods:     map[types.NamespacedName]*pod{},
		byNode:   map[string]*boundPods{},
	}, nil
}

// Ready is closed once the Fleet, running, knows all Nodes and pods.
func (f *Fleet) Ready() <-chan struct{} { return f.ready }

// Run works until ctx ends and returns nil then, after everything it started has
// ended. A Fleet runs once; a second Run is an error.
func (f *Fleet) Run(ctx context.Context) error {
	f.mu.Lock()
	if f.ran {
		f.mu.Unlock()
		return errors.New("node: the fleet has run already")
	}
	f.ran = true
	f.nodeWork = agenda.New[string](f.cfg.Clock)
	f.podWork = agenda.New[types.NamespacedName](f.cfg.Clock)
	for name, k := range f.kubelets {
		k.born = f.cfg.Clock.Now()
		f.nodeWork.Add(name)
	}
	f.mu.Unlock()

	var parts sync.WaitGroup
	parts.Go(func() { f.watchNodes(ctx) })
	parts.Go(func() { f.watchPods(ctx) })
	parts.Go(func() { f.nodeWork.Work(ctx, f.cfg.Workers, f.syncNode) })
	parts.Go(func() { f.podWork.Work(ctx, f.cfg.Workers, f.syncPod) })
	parts.Wait()
	return nil
}

// Spec is a machine to boot.
type Spec struct {
	// Name is the Node's name. Required, unique in the fleet.
	Name string
	// ProviderID links the Node to its Instance. Empty means that the kubelet does
	// not know it, as with --cloud-provider=external before the cloud controller.
	ProviderID string
	// Labels come on top of hostname, OS and architecture.
	Labels      map[string]string
	Annotations map[string]string
	// Taints are those the kubelet registers with (--register-with-taints). The API
	// server's admission adds node.kubernetes.io/not-ready:NoSchedule by itself.
	Taints []corev1.Taint
	// Capacity nil means 4 CPUs, 16 GiB, 100 GiB of ephemeral storage, 110 pods.
	// Allocatable nil means all of Capacity.
	Capacity, Allocatable corev1.ResourceList
	// Addresses nil means an InternalIP out of 10.0.0.0/9 and the Hostname.
	Addresses []corev1.NodeAddress
	// Info goes over the kubelet's own nodeInfo, field by field where not empty.
	Info corev1.NodeSystemInfo
	// Profile is how the machine behaves.
	Profile Profile
}

// Boot starts a machine. Its Node appears after the profile's BootDelay, counted
// from now or, before Run, from Run.
func (f *Fleet) Boot(spec Spec) error {
	if spec.Name == "" {
		return errors.New("booting node: want a name")
	}
	if err := spec.Profile.check(); err != nil {
		return fmt.Errorf("booting node %q: %w", spec.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kubelets[spec.Name] != nil {
		return fmt.Errorf("booting node %q: it is there already", spec.Name)
	}
	f.start(spec)
	return nil
}

// start makes a machine part of the fleet. The caller holds f.mu.
func (f *Fleet) start(spec Spec) *kubelet {
	k := newKubelet(f, spec)
	f.kubelets[spec.Name] = k
	f.nodeWork.Add(spec.Name)
	return k
}

// Shutdown cuts a machine's power: its kubelet, agents and containers are gone at
// once, its Node object and pods stay until they are deleted.
func (f *Fleet) Shutdown(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.kubelets[name]
	if k == nil {
		return fmt.Errorf("shutting down node %q: there is no such machine", name)
	}
	delete(f.kubelets, name)
	k.emit(f.cfg.Clock.Now(), "shutdown", nil)
	return nil
}

// Inject implements fault.Injector: for a machine that is there, by the name of its Node. A fault's At counts from now.
func (f *Fleet) Inject(of fault.Fault) error {
	match, _ := of.Match.(Match)
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.kubelets[match.Node]
	if k == nil {
		return fmt.Errorf("injecting faults into node %q: there is no such machine", match.Node)
	}
	if err := k.inject(of); err != nil {
		return fmt.Errorf("injecting faults into node %q: %w", match.Node, err)
	}
	f.nodeWork.Add(match.Node)
	return nil
}

// Clear implements fault.Injector: on all machines that have the fault. A restart of a
// kubelet ends by itself.
func (f *Fleet) Clear(fault string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	cleared := false
	for name, k := range f.kubelets {
		for _, a := range k.faults.All() {
			if _, restart := a.does.(downs); a.Name() == fault && !restart && a.Clear(f.cfg.Clock.Now(), k.eventDetails()) {
				cleared = true
				f.nodeWork.Add(name)
			}
		}
	}
	if !cleared {
		return fmt.Errorf("clearing fault %q: no simulated node has it, or it is over", fault)
	}
	return nil
}

// failed notes a call that did not succeed. The caller holds f.mu.
func (f *Fleet) failed(what string, err error) {
	f.failures++
	f.lastErr = fmt.Errorf("%s: %w", what, err)
	f.cfg.Log.Warn("call failed", "component", Actor, "call", what, "error", err)
}

// delayUntil is the delay from now to at: never (negative) when at is zero.
func delayUntil(now, at time.Time) time.Duration {
	if at.IsZero() {
		return agenda.Never
	}
	return max(0, at.Sub(now))
}
