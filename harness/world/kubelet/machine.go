package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/machine/cri"
	"nodestorm/sim/oneline"
)

// program is the kubelet's file name.
const program = "kubelet"

// restartAfter is how long systemd waits before it starts a kubelet again that ended
// (RestartSec in the unit of the package kubelet).
const restartAfter = 10 * time.Second

// longestSocket is where a kubelet listens on a machine.
const longestSocket = "/var/lib/kubelet/pod-resources/kubelet.sock"

// mostMachines is how many a world boots, as far as their sockets' paths are concerned.
const mostMachines = 9999

// ErrOn says that a machine of that name is on already.
var ErrOn = errors.New("it is on already")

// machine is one that is on.
type machine struct {
	spec    Machine
	root    string
	port    int
	args    []string
	env     []string
	runtime *cri.Runtime
	forget  func() // its port
	off     chan struct{}

	mu      sync.Mutex
	wanted  bool // the kubelet is to run
	process *process.Process
	changed chan struct{} // closed when wanted changes
}

// Check says in one line what keeps a machine's kubelet from starting, such as an
// unknown flag. Boot finds it later, as systemd would.
func (m *Machines) Check(ctx context.Context, spec Machine) error {
	system, err := spec.system()
	if err != nil {
		return fmt.Errorf("machine %q: %w", spec.Name, err)
	}
	settings, err := system.Kubelet()
	if err != nil {
		return fmt.Errorf("machine %q: %w", spec.Name, err)
	}
	// It reads its command line, and nothing more.
	kubelet := exec.CommandContext(ctx, filepath.Join(m.cfg.Kubernetes, program), append(arguments(settings), "--version")...)
	if out, err := kubelet.CombinedOutput(); err != nil {
		_, why, _ := strings.Cut(string(out), "err=") // klog's, in quotes or, of several lines, in <>
		why = strings.Trim(oneline.Of(why), "\"<> ")
		return fmt.Errorf("machine %q: with its arguments a kubelet does not start: %s", spec.Name, why)
	}
	return nil
}

// Boot starts a machine, and its kubelet after the machine's BootDelay. It returns ErrOn,
// an error of the machine's user data, or one of ours.
func (m *Machines) Boot(spec Machine) error {
	booted, err := m.boot(spec.withDefaults())
	if err != nil {
		return fmt.Errorf("booting machine %q: %w", spec.Name, err)
	}
	m.record("boot", spec.Name, map[string]any{"args": strings.Join(booted.args, " ")})
	m.done.Go(func() { m.supervise(booted) })
	return nil
}

func (m *Machines) boot(spec Machine) (_ *machine, err error) {
	if spec.Name == "" {
		return nil, errors.New("want a name")
	}
	system, err := spec.system()
	if err != nil {
		return nil, err
	}
	settings, err := system.Kubelet()
	if err != nil {
		return nil, err
	}
	booted := &machine{spec: spec, args: arguments(settings), wanted: true, changed: make(chan struct{}), off: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.machines[spec.Name] != nil {
		return nil, ErrOn
	}
	m.made++
	booted.root = m.root(m.made)
	if err := m.write(booted.root, spec, system); err != nil {
		return nil, err
	}
	if booted.port, err = world.FreePort(); err != nil {
		return nil, err
	}
	booted.runtime, err = cri.New(cri.Config{
		Node: spec.Name, Root: booted.root, Socket: filepath.Join(booted.root, "cri.sock"),
		Clock: m.world.Clock(), History: m.world.History(),
		Program: m.programFor, Start: m.startProgram, Port: world.FreePort, Server: m.world.Admin().Host,
		PodCIDR: m.podCIDR(), PullDelay: spec.PullDelay, StopDelay: spec.StopDelay,
	})
	if err != nil {
		return nil, err
	}
	booted.forget = m.world.Reach(booted.port)
	if booted.env, err = booted.environment(m.made, system.Hostname); err != nil {
		return nil, err
	}
	m.machines[spec.Name] = booted
	return booted, nil
}

// environment describes the kubelet's machine to it: see sim/kubernetes/kubelet.
func (b *machine) environment(boot int, hostname string) ([]string, error) {
	address := ""
	if len(b.spec.Addresses) > 0 {
		address = b.spec.Addresses[0].String()
	}
	if hostname == "" {
		hostname = b.spec.Name
	}
	id := func(parts ...any) string {
		sum := sha256.Sum256([]byte(fmt.Sprintln(parts...)))
		return fmt.Sprintf("%x", sum[:16])
	}
	text, err := json.Marshal(map[string]any{
		"root": b.root, "hostname": hostname, "runtime": "unix://" + filepath.Join(b.root, "cri.sock"),
		"port": b.port, "probes": b.runtime.ProbeAddress(), "address": address,
		"cores": b.spec.Cores, "memory": b.spec.Memory, "disk": b.spec.Disk,
		"machineID": id(b.spec.Name), "bootID": id(b.spec.Name, boot),
		"kernel": "6.8.0-generic", "os": "Ubuntu 24.04 LTS",
	})
	return []string{"NODESTORM_MACHINE=" + string(text), "GOGC=100", "GOMAXPROCS=1"}, err
}

// supervise is the machine's systemd: the kubelet runs while it is wanted.
func (m *Machines) supervise(b *machine) {
	name := b.spec.Name
	if !m.wait(b, b.spec.BootDelay) {
		return
	}
	if !b.spec.NoNetwork {
		m.done.Go(func() {
			if m.wait(b, b.spec.NetworkDelay) {
				if err := m.SetNetwork(name, true); err != nil && m.wait(b, 0) {
					m.broken("kubelet."+name, fmt.Errorf("bringing the network: %w", err))
				}
			}
		})
	}
	for first := true; ; first = false {
		wanted, changed := b.desiredState()
		if !wanted {
			if m.wait(b, 0) {
				m.stopped(name)
			}
			select {
			case <-changed:
				continue
			case <-b.off:
				return
			}
		}
		p, err := m.world.StartProgram(m.ctx, process.Spec{
			Name: "kubelet." + name, Path: filepath.Join(m.cfg.Kubernetes, program), Args: b.args, Env: b.env,
			Launch: m.world.Launch(!m.cfg.Plain),
		})
		if err != nil {
			m.broken("kubelet."+name, err)
			return
		}
		if !first {
			m.record("start", name, nil)
		}
		b.runs(p)
		<-p.Exited()
		if wanted, _ := b.desiredState(); wanted {
			m.record("exit", name, map[string]any{"error": fmt.Sprint(p.Exit())})
			if !m.wait(b, restartAfter) {
				return
			}
		}
	}
}

// wait lets virtual time pass, and reports whether the machine is still on.
func (m *Machines) wait(b *machine, d time.Duration) bool {
	if d > 0 {
		t := m.world.Clock().NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C():
		case <-b.off:
		}
	}
	select {
	case <-b.off:
		return false
	default:
		return true
	}
}

func (b *machine) desiredState() (bool, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wanted, b.changed
}

// runs notes the kubelet's process, and ends it if it is not wanted any more.
func (b *machine) runs(p *process.Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.process = p
	if !b.wanted {
		_ = p.Kill()
	}
}

// want says whether the kubelet is to run, and returns the process that runs it.
func (b *machine) want(wanted bool) *process.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wanted != wanted {
		b.wanted = wanted
		close(b.changed)
		b.changed = make(chan struct{})
	}
	return b.process
}

// Shutdown cuts a machine's power: kubelet and containers are gone at once, and its
// files too. Its Node stays.
func (m *Machines) Shutdown(name string) error {
	m.mu.Lock()
	b := m.machines[name]
	delete(m.machines, name)
	m.mu.Unlock()
	if b == nil {
		return fmt.Errorf("there is no machine %q", name)
	}
	m.record("halt", name, nil)
	b.forget()
	close(b.off)
	var killed error
	if p := b.want(false); p != nil {
		killed = p.Kill()
	}
	return errors.Join(killed, b.runtime.Close(), os.RemoveAll(b.root))
}

// startProgram runs a container's program in the world.
func (m *Machines) startProgram(c cri.Command) (cri.Process, error) {
	p, err := m.world.StartProgram(m.ctx, process.Spec{Name: c.Name, Path: c.Path, Args: c.Args, Env: c.Env, Lines: c.Line})
	if err != nil {
		m.broken(c.Name, err)
		return nil, err
	}
	return p, nil
}
