// Package kubelet gives a world machines with real kubelets: the face kubelet of the
// kubernetes target, one process each, on a folder that stands for the machine, with a
// container runtime of ours (sim/machine/cri) whose pods may be programs. They join as kubeadm
// has it: the arguments that reach the kubelet are those of the machine's unit,
// drop-ins and environment files, its first credential is a bootstrap token, and its
// client certificates are approved and signed by kube-controller-manager. Requests for
// serving certificates are left to an approver.
//
//	user data ──sim/machine/cloudinit──▶ files, command line ──▶ kubelet ──CRI──▶ sim/machine/cri ──▶ programs
//
// It records, with source "node", actor "kubelet" and the machine as object:
//
//	boot      the machine starts; detail: args, the kubelet's effective command line
//	start     the kubelet starts again
//	exit      the kubelet ended by itself; systemd starts it again after 10 s
//	stop      the kubelet is stopped; its pods go on
//	halt      the machine is off
//
// and faults, with source "fault" and the Node as object: see Fault.
//
// What the kubelets report of their Nodes and pods is recorded as the calls that they
// make, by sim/history/audit: register, ready, notready; running, waiting, terminated.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/cri"
	"nodestorm/sim/machine/node"
)

// Program is what runs in place of an image; see sim/machine/cri for what may stand in it.
type Program = cri.Program

// Config says what Machines work with.
type Config struct {
	// Kubernetes is the folder with the program kubelet. Required.
	Kubernetes string
	// Plain says that it was built without the clock.
	Plain bool
}

// Machines are those of one world. Its methods are safe for concurrent use.
type Machines struct {
	world *world.World
	cfg   Config
	dir   string
	token string
	ctx   context.Context // of the world
	end   context.CancelFunc
	done  sync.WaitGroup

	faults faults

	mu       sync.Mutex
	programs map[string]Program
	machines map[string]*machine
	made     int
}

// New prepares the world, which must have been started with Wishes.Kubelets: the
// bootstrap token, and the rights that kubeadm gives to who has it. The machines end
// with the world.
func New(ctx context.Context, w *world.World, cfg Config) (*Machines, error) {
	if _, err := os.Stat(filepath.Join(cfg.Kubernetes, program)); err != nil {
		return nil, fmt.Errorf("no kubelet for the world; see nodestorm doctor: %w", err)
	}
	m := &Machines{world: w, cfg: cfg, dir: filepath.Join(w.Dir(), "m"), programs: map[string]Program{}, machines: map[string]*machine{}}
	if socket := m.root(mostMachines) + longestSocket; len(socket) > 107 { // sun_path of unix(7) with its final NUL
		return nil, fmt.Errorf("the kubelets' sockets, such as %s, would be %d bytes: want at most 107; a shorter TMPDIR makes it so", socket,
			len(socket))
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if m.token, err = prepare(ctx, w); err != nil {
		return nil, err
	}
	m.ctx, m.end = context.WithCancel(context.WithoutCancel(ctx))
	w.OnStop(m.close)
	return m, nil
}

// Map makes an image a program, of containers that start from now on: by its name
// without tag or digest ("registry.k8s.io/a/b"), or with.
func (m *Machines) Map(image string, p Program) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.programs[image] = p
}

// programFor finds an image by its full name, or without tag and digest.
func (m *Machines) programFor(image string) (Program, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, found := m.programs[image]
	if !found {
		p, found = m.programs[node.Repository(image)]
	}
	return p, found
}

// close is all machines' end.
func (m *Machines) close() error {
	m.end()
	m.mu.Lock()
	var names []string
	for name := range m.machines {
		names = append(names, name)
	}
	m.mu.Unlock()
	errs := make(chan error)
	for _, name := range names {
		go func() { errs <- m.Shutdown(name) }()
	}
	var all []error
	for range names {
		all = append(all, <-errs)
	}
	m.done.Wait()
	return errors.Join(all...)
}

// root is the folder of the nth machine.
func (m *Machines) root(n int) string { return filepath.Join(m.dir, fmt.Sprint(n)) }

// Dir is the folder that stands for a machine's "/".
func (m *Machines) Dir(name string) string {
	if found := m.machine(name); found != nil {
		return found.root
	}
	return ""
}

func (m *Machines) machine(name string) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machines[name]
}

func (m *Machines) lookup(name string) (*machine, error) {
	found := m.machine(name)
	if found == nil {
		return nil, fmt.Errorf("there is no machine %q", name)
	}
	return found, nil
}

// podCIDR is a machine's part of 10.128.0.0/9, until its Node has one. The caller
// holds m.mu.
func (m *Machines) podCIDR() netip.Prefix {
	n := m.made
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(128 + n>>8&0x7f), byte(n), 0}), 24)
}

// network is what a network plugin would leave on a machine.
const network = `{"cniVersion": "1.0.0", "name": "nodestorm", "plugins": [{"type": "bridge"}]}
`

// SetNetwork brings the network plugin's configuration to a machine, or takes it away:
// the kubelet's NetworkReady follows.
func (m *Machines) SetNetwork(name string, ready bool) error {
	found, err := m.lookup(name)
	if err != nil {
		return err
	}
	file := filepath.Join(found.root, cri.NetworkFolder, "10-nodestorm.conflist")
	if !ready {
		err := os.Remove(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(network), 0o644)
}

// setRuntime lets the container runtime of a machine answer, or not.
func (m *Machines) setRuntime(name string, answers bool) error {
	found, err := m.lookup(name)
	if err != nil {
		return err
	}
	found.runtime.SetDown(!answers)
	return nil
}

func (m *Machines) record(verb, name string, detail map[string]any) {
	m.world.History().Record(history.Event{
		Source: history.Node, Verb: verb, Actor: "kubelet", Detail: detail,
		Object: history.Object{Resource: "machines", Name: name},
	})
}
