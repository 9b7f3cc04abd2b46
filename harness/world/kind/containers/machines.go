// Package containers makes the instances of a world's cloud containers of Docker, beside the
// cluster of kind that is the world's control plane: what their user data says is carried
// out by cloud-init, kubeadm joins them, systemd runs their kubelets, containerd their pods.
//
//	instance ──▶ container ──cloud-init──▶ kubeadm join ──▶ kubelet ──▶ containerd
//	                 └── http://169.254.169.254 ──▶ a socket ──▶ our answers
//
// What a real machine has of others is ours: its power, the metadata service, the address by
// which user data calls the API server, a bootstrap token that is good there, and, once the
// Node has registered, the network plugin's configuration and the ways to other machines'
// pods.
//
// It records, with source "node", actor "join" and the instance as object:
//
//	nojoin   user data has been carried out, and has made no node; detail: reason
//
// and faults, with source "fault", actor "container" and the Node as object: see Inject.
package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kind"
	"nodestorm/sim/history"
	"nodestorm/sim/oneline"
)

// Machines are those of one world. Its methods are safe for concurrent use.
type Machines struct {
	world   *world.World
	cluster kind.Cluster
	place   kind.Place
	version string
	lead    func(hosts []string, address string) (forget func())
	ctx     context.Context // until the world ends
	end     context.CancelFunc
	done    sync.WaitGroup

	mu       sync.Mutex
	machines map[string]*machine        // by the instance's name
	leaving  map[string]<-chan struct{} // names of those discarded, until they are gone
	made     int
	joining  sync.Mutex // one changes the ways between machines at a time
}

// machine is one that has had power.
type machine struct {
	of  machines.Container
	dir string
	ctx context.Context // until it is discarded
	end context.CancelFunc
	// last is closed when what the cloud did to it last has been done: one has its turn after
	// the other.
	last   <-chan struct{}
	server *http.Server

	there bool // its container is; for who has the turn

	// Under Machines.mu.
	on     bool               // it is to have power
	hurry  context.CancelFunc // of what it waits for before it has
	cut    context.CancelFunc // of what waits for its Node while it has
	subnet string             // of its pods; empty: not known yet
	forget func()             // the way to its kubelet; nil: there is none yet
	faults []*armed
}

// New is for the machines of a world, whose control plane is the cluster: containers of the
// node image of a version of Kubernetes. Lead is to let kube-apiserver find hosts at an
// address until forget is called. The machines end with the world.
func New(ctx context.Context, w *world.World, cluster kind.Cluster, version string,
	lead func(hosts []string, address string) (forget func())) (*Machines, error) {
	place, err := cluster.Place(ctx, w.Client())
	if err != nil {
		return nil, fmt.Errorf("finding the network of cluster %q: %w", cluster.Name, err)
	}
	m := &Machines{world: w, cluster: cluster, place: place, version: version, lead: lead, machines: map[string]*machine{},
		leaving: map[string]<-chan struct{}{}}
	m.ctx, m.end = context.WithCancel(context.WithoutCancel(ctx))
	w.OnStop(m.close)
	return m, nil
}

// close ends what is done with the machines. They are removed with the cluster.
func (m *Machines) close() error {
	m.end()
	m.mu.Lock()
	var servers []*http.Server
	for _, b := range m.machines {
		servers = append(servers, b.server)
	}
	m.mu.Unlock()
	var all []error
	for _, s := range servers {
		all = append(all, s.Close())
	}
	m.done.Wait()
	return errors.Join(all...)
}

// PowerOn boots a machine, which is new unless there is one of that name.
func (m *Machines) PowerOn(of machines.Container) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.machines[of.Name]
	if b == nil {
		err := check(of)
		if err == nil {
			b, err = m.newMachine(of)
		}
		if err != nil {
			m.world.Died("machine."+of.Name, err)
			return
		}
		m.machines[of.Name] = b
	}
	ctx, cut := context.WithCancel(b.ctx)
	early, hurry := context.WithCancel(ctx)
	b.on, b.hurry, b.cut = true, hurry, cut
	after := m.seq()
	m.enqueue(b, func() error {
		since := time.Now()
		if b.there {
			if err := m.cluster.PowerOn(ctx, of.Name); err != nil {
				return err
			}
		} else if err := m.boot(ctx, early, b); err != nil || !b.there {
			return err
		}
		m.done.Go(func() { m.console(ctx, b, since) })
		m.done.Go(func() { m.connect(ctx, b, after) })
		return nil
	})
}

// PowerOff is as if the plug had been pulled.
func (m *Machines) PowerOff(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.machines[name]
	if b == nil || !b.on {
		return
	}
	b.on = false
	b.hurry()
	cut := b.cut
	m.enqueue(b, func() error {
		if cut(); !b.there {
			return nil
		}
		return m.cluster.PowerOff(b.ctx, name)
	})
}

// Discard is a machine's end, with its disk.
func (m *Machines) Discard(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.machines[name]
	if b == nil {
		return
	}
	delete(m.machines, name)
	b.on = false
	b.hurry()
	m.enqueue(b, func() error {
		b.end()
		m.reach(b, "")
		err := b.server.Close()
		if b.there {
			err = errors.Join(err, m.cluster.Discard(m.ctx, name))
		}
		return errors.Join(err, os.RemoveAll(b.dir))
	})
	m.leaving[name] = b.last // another may get the name
}

// enqueue does something to a machine after all that is being done to it. The caller holds m.mu.
func (m *Machines) enqueue(b *machine, do func() error) {
	before, done := b.last, make(chan struct{})
	b.last = done
	m.done.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		if m.ctx.Err() != nil {
			return
		}
		if err := do(); err != nil {
			m.broken(b, err)
		}
	})
}

// broken ends the world, for the rig did not do what it has to: the run proves nothing then.
// What fails because the world ends, or the machine, is none.
func (m *Machines) broken(b *machine, err error) {
	if m.ctx.Err() != nil || b.ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return
	}
	select {
	case <-m.world.Done():
	default:
		m.world.Died("machine."+b.of.Name, err)
	}
}

// newMachine has a folder and the metadata service of a machine. The caller holds m.mu.
func (m *Machines) newMachine(of machines.Container) (_ *machine, err error) {
	m.made++
	b := &machine{of: of, last: m.leaving[of.Name], dir: filepath.Join(m.cluster.Dir, "m", strconv.Itoa(m.made))}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, err
	}
	socket := filepath.Join(b.dir, kind.MetadataSocket)
	if len(socket) > 107 { // sun_path of unix(7) with its final NUL
		return nil, fmt.Errorf("the socket %s is %d bytes: want at most 107; a shorter XDG_STATE_HOME makes it so", socket, len(socket))
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("serving metadata: %w", err)
	}
	b.ctx, b.end = context.WithCancel(m.ctx)
	b.server = &http.Server{Handler: m.metadata(b), ReadHeaderTimeout: time.Minute}
	m.done.Go(func() { _ = b.server.Serve(l) }) // until it is closed
	return b, nil
}

// metadata are the cloud's answers to a machine, and what it says when its user data has
// been carried out.
func (m *Machines) metadata(b *machine) http.Handler {
	const most = 4 << 10 // of what it says
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+kind.BootedPath, func(_ http.ResponseWriter, req *http.Request) {
		said, _ := io.ReadAll(io.LimitReader(req.Body, most)) // what has arrived
		if said := oneline.Of(strings.ToValidUTF8(string(said), "")); said != "" {
			m.world.History().Record(history.Event{
				Source: history.Node, Verb: "nojoin", Actor: "join", Object: history.Object{Resource: "instances", Name: b.of.Name},
				Detail: map[string]any{"reason": "its user data has made no node of it; it said last: " + said},
			})
		}
	})
	mux.HandleFunc("GET /", func(rw http.ResponseWriter, req *http.Request) {
		answer, found := b.of.Metadata[req.URL.Path]
		if !found {
			http.NotFound(rw, req)
			return
		}
		_, _ = io.WriteString(rw, answer)
	})
	return mux
}

// boot gives a new machine its power, after its delay unless early ends before.
func (m *Machines) boot(ctx, early context.Context, b *machine) error {
	cutOff, delay := m.atBoot(b)
	if !wait(early, b.of.Profile.BootDelay+delay) {
		return nil
	}
	if err := m.admit(ctx, b.of.Token); err != nil {
		return err
	}
	if err := m.cluster.Boot(ctx, m.place, m.version, kind.Machine{
		Name: b.of.Name, Dir: b.dir, ID: b.of.ID, UserData: b.of.UserData, Endpoint: b.of.Endpoint, Addresses: b.of.Addresses,
		Cores: b.of.Cores, Memory: b.of.Memory, CutOff: cutOff,
	}); err != nil {
		return err
	}
	b.there = true
	m.booted(b)
	return nil
}

func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// admit makes a token of user data's one that opens the cluster, as kubeadm token create
// does. What is no token is left to kubeadm join to refuse.
func (m *Machines) admit(ctx context.Context, token string) error {
	id, secret, _ := strings.Cut(token, ".")
	if len(id) != 6 || len(secret) != 16 {
		return nil
	}
	object := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}
	_, err := m.world.Client().CoreV1().Secrets(object.Namespace).Create(ctx, object, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making the bootstrap token of its user data: %w", err)
	}
	return nil
}

// console keeps what a machine says from then on in the run's logs.
func (m *Machines) console(ctx context.Context, b *machine, since time.Time) {
	file, err := os.OpenFile(m.world.LogFile("machine."+b.of.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.broken(b, err)
		return
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, "docker", "logs", "--follow", "--since", since.Format(time.RFC3339Nano), m.cluster.Container(b.of.Name))
	cmd.Stdout, cmd.Stderr = file, file
	_ = cmd.Run() // until the machine has no power
	if ctx.Err() == nil {
		m.ended(b)
	}
}

// ended reports a machine that has lost its power without a call.
func (m *Machines) ended(b *machine) {
	m.mu.Lock()
	on := b.on
	m.mu.Unlock()
	if !on {
		return
	}
	if err := kind.CheckDocker(m.ctx); err != nil {
		m.broken(b, err)
		return
	}
	m.broken(b, fmt.Errorf("the container %s has ended by itself", m.cluster.Container(b.of.Name)))
}

// join makes a machine and all others find each other's pods.
func (m *Machines) join(ctx context.Context, b *machine, here string) error {
	m.joining.Lock()
	defer m.joining.Unlock()
	type end struct{ name, subnet, address string }
	var ends []end
	m.mu.Lock()
	for name, other := range m.machines {
		if other.on && other.subnet != "" && name != b.of.Name {
			ends = append(ends, end{name: name, subnet: other.subnet})
		}
	}
	m.mu.Unlock()
	var err error
	for _, there := range ends {
		if there.address, err = m.cluster.Address(ctx, m.place, there.name); err != nil || there.address == "" {
			continue // it is ending
		}
		if err := m.cluster.Lead(ctx, b.of.Name, there.subnet, there.address); err != nil {
			return err
		}
		if err := m.cluster.Lead(ctx, there.name, b.subnet, here); err != nil && m.hasPower(there.name) {
			return err
		}
	}
	return nil
}

// hasPower reports whether a machine has power.
func (m *Machines) hasPower(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.machines[name]
	return b != nil && b.on
}

// runOn runs a command on a machine.
func (m *Machines) runOn(b *machine, command ...string) error {
	_, err := m.cluster.RunOn(b.ctx, b.of.Name, command...)
	return err
}
