// Package machines lets the instances of a fake cloud become nodes of a cluster: one that
// runs boots, its user data decides how its kubelet joins, and when it is off or gone
// its kubelet is silent. Of a cloud it knows its metadata
// service, and nothing else of its wire API; and no autoscaler.
//
//	fakecloud (instance runs) ──▶ sim/machine/cloudinit (settings) ──▶ sim/machine/node, or a real kubelet
//	                          └─▶ a container, whose cloud-init does what its user data says
//
// Who makes a Node's provider ID, lifts its taints or deletes it is the cluster's
// business: a cloud controller manager, an autoscaler, or none.
//
// It records, with source "node", actor "join" and the instance as object:
//
//	boot     the machine starts; detail: node, delay, args (the kubelet's command line)
//	nojoin   the machine runs and no Node will come; detail: reason. Of a container it is
//	         what carries out the user data that reports it.
//	halt     the machine is off or gone
package machines

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/seed"
)

// Config says what a Joiner works with. Cloud and Fleet are required.
type Config struct {
	Cloud *fakecloud.Cloud
	Fleet *node.Fleet
	// Kubelets says whose an instance is when it boots for the first time: machines
	// with real kubelets, or nil for the Fleet. Nil means that all are the Fleet's.
	Kubelets func(fakecloud.Instance) *kubelet.Machines
	// Containers are what all instances are. Over Kubelets; nil means that none is.
	Containers Containers
	// History gets the records. Nil means that they are not recorded.
	History history.Recorder
	// Seed is the run's. Each instance draws from a stream of its own.
	Seed uint64
	// Metadata is where the metadata service of the cloud begins. Empty means that of Hetzner:
	// /hetzner/v1/metadata/
	Metadata string
	// Answers are further ones of the metadata service for an instance, by whole paths, which go over those that are the same
	// for all clouds. Nil: there are none.
	Answers func(fakecloud.Instance) map[string]string
	// BootDelay is from running to the kubelet's first word, by server type. What
	// is not in it has DefaultBootDelay.
	BootDelay map[string]time.Duration
	// Jitter moves each boot delay by up to this part of itself either way. Zero
	// means DefaultJitter, below zero none.
	Jitter float64
	// Profile says how a machine behaves otherwise; a BootDelay in it goes over all
	// of the above, without jitter. Nil means node.DefaultProfile, but for BootDelay.
	Profile func(fakecloud.Instance) node.Profile
}

// Containers are machines on which user data is really carried out. Methods return at once;
// what fails is reported by them.
type Containers interface {
	// PowerOn boots a machine, for the first time or again.
	PowerOn(Container)
	// PowerOff is as if the plug had been pulled.
	PowerOff(name string)
	// Discard is a machine's end, with its disk.
	Discard(name string)
}

// Container is an instance to be booted as a container.
type Container struct {
	Name string
	// Node is what its Node will be called, as far as its user data says.
	Node string
	// ID is the instance's, as long as it has the same disk.
	ID       string
	UserData string
	// Endpoint and Token are those of kubeadm join in it; empty if it has none.
	Endpoint, Token string
	// Metadata are answers of the cloud's metadata service by URL path.
	Metadata  map[string]string
	Addresses []netip.Addr
	Cores     int
	Memory    uint64 // bytes that Linux sees
	// Profile says how it behaves otherwise. A BootDelay in it is until it gets its power.
	Profile node.Profile
}

// DefaultJitter is chosen: two servers of one type and image do not boot alike.
const DefaultJitter = 0.2

// DefaultBootDelay is how long a server of that type takes from running to its
// kubelet's first word: boot, cloud-init, download of the distribution, join. The
// figures are chosen, not measured: installing k3s or joining by kubeadm takes half a
// minute to a minute in reports, less on dedicated processors.
func DefaultBootDelay(serverType string) time.Duration {
	for prefix, d := range map[string]time.Duration{
		"ccx": 30 * time.Second, // dedicated x86
		"cpx": 35 * time.Second, // shared x86
		"cax": 40 * time.Second, // shared ARM
	} {
		if strings.HasPrefix(serverType, prefix) {
			return d
		}
	}
	return 40 * time.Second // cx and others
}

// Joiner is at work from New to Close.
type Joiner struct {
	cfg  Config
	stop func()

	mu       sync.Mutex
	machines map[int64]*machine
}

// machine is an instance that has run.
type machine struct {
	// spec is how its kubelet joins; empty name: it never will.
	spec     node.Spec
	real     kubelet.Machine   // the same for a real one
	kubelets *kubelet.Machines // nil: the Fleet's
	up       bool
	// container is what it is instead; nil: none.
	container *Container
}

// New watches the cloud from now on, and boots what runs already.
func New(cfg Config) (*Joiner, error) {
	if cfg.Cloud == nil || cfg.Fleet == nil {
		return nil, errors.New("join: Config wants a Cloud and a Fleet")
	}
	if cfg.Jitter > 1 {
		return nil, fmt.Errorf("join: Jitter is %g: want at most 1, or below zero for none", cfg.Jitter)
	}
	if cfg.Jitter == 0 {
		cfg.Jitter = DefaultJitter
	}
	for name, d := range cfg.BootDelay {
		if d < 0 {
			return nil, fmt.Errorf("join: BootDelay of %q is %s: want zero or more", name, d)
		}
	}
	if cfg.Metadata == "" {
		cfg.Metadata = "/hetzner/v1/metadata/"
	}
	if cfg.History == nil {
		cfg.History = history.Discard()
	}
	j := &Joiner{cfg: cfg, machines: map[int64]*machine{}}
	j.stop = cfg.Cloud.Watch(j.changed)
	for _, i := range cfg.Cloud.Instances() {
		if i.State == fakecloud.Running {
			j.mu.Lock()
			if j.machines[i.ID] == nil {
				j.boot(i)
			}
			j.mu.Unlock()
		}
	}
	return j, nil
}

// Close stops watching. The nodes stay with the fleet.
func (j *Joiner) Close() { j.stop() }

// changed follows an instance's life. A machine that stops works until it is off, and
// one that is being deleted until it is gone: either may yet fail.
func (j *Joiner) changed(c fakecloud.Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, m := c.Instance, j.machines[c.Instance.ID]
	switch c.To {
	case fakecloud.Running:
		switch {
		case m == nil:
			j.boot(i)
		case c.From == fakecloud.Stopping || !m.up: // a restart
			j.halt(i, m)
			j.powerOn(i, m)
		}
	case fakecloud.Off:
		// mutant: an instance that is off keeps its kubelet
		j.halt(i, m)
	case fakecloud.Rebuilding, fakecloud.Gone:
		j.halt(i, m)
		delete(j.machines, i.ID)
		// mutant: a container stays when its instance is gone
		if m != nil && m.container != nil {
			j.cfg.Containers.Discard(m.container.Name)
		}
	}
}

// boot is a machine's first: cloud-init reads its user data. The caller holds j.mu.
func (j *Joiner) boot(i fakecloud.Instance) {
	m := &machine{}
	j.machines[i.ID] = m
	if j.cfg.Containers != nil {
		m.container = j.container(i)
		j.powerOn(i, m)
		return
	}
	spec, system, args, err := j.spec(i)
	if err != nil {
		j.record(i, "nojoin", map[string]any{"reason": err.Error()})
		return
	}
	m.spec, m.real = spec, j.real(i, spec, system)
	if j.cfg.Kubelets != nil {
		m.kubelets = j.cfg.Kubelets(i)
	}
	j.powerOn(i, m, args...)
}

// powerOn starts the kubelet of a machine that has one. The caller holds j.mu.
func (j *Joiner) powerOn(i fakecloud.Instance, m *machine, args ...string) {
	if m.container != nil {
		j.cfg.Containers.PowerOn(*m.container)
		m.up = true
		j.record(i, "boot", map[string]any{"node": m.container.Node, "delay": m.container.Profile.BootDelay.String()})
		return
	}
	if m.spec.Name == "" {
		return
	}
	start := func() error { return j.cfg.Fleet.Boot(m.spec) }
	if m.kubelets != nil {
		start = func() error { return m.kubelets.Boot(m.real) }
	}
	if err := start(); err != nil {
		if m.kubelets != nil && !errors.Is(err, kubelet.ErrOn) { // its user data has been read: it is the rig that fails
			j.cfg.History.Record(history.Death("kubelet."+m.spec.Name, err))
		} else {
			j.record(i, "nojoin", map[string]any{"reason": err.Error()})
		}
		return
	}
	m.up = true
	detail := map[string]any{"node": m.spec.Name, "delay": m.spec.Profile.BootDelay.String()}
	if len(args) > 0 {
		detail["args"] = strings.Join(args, " ")
	}
	j.record(i, "boot", detail)
}

// halt cuts a machine's power. The caller holds j.mu.
func (j *Joiner) halt(i fakecloud.Instance, m *machine) {
	if m == nil || !m.up {
		return
	}
	m.up = false
	if m.container != nil {
		j.cfg.Containers.PowerOff(m.container.Name)
		j.record(i, "halt", map[string]any{"node": m.container.Node})
		return
	}
	stop := j.cfg.Fleet.Shutdown
	if m.kubelets != nil {
		stop = m.kubelets.Shutdown
	}
	if err := stop(m.spec.Name); err != nil {
		return // it went with its Node
	}
	j.record(i, "halt", map[string]any{"node": m.spec.Name})
}

func (j *Joiner) record(i fakecloud.Instance, verb string, detail map[string]any) {
	j.cfg.History.Record(history.Event{
		Source: history.Node, Verb: verb, Actor: "join", Detail: detail,
		Object: history.Object{Resource: "instances", Name: i.Name},
	})
}

// delay is how long this boot takes.
func (j *Joiner) delay(i fakecloud.Instance) time.Duration {
	d, given := j.cfg.BootDelay[i.Type]
	if !given {
		d = DefaultBootDelay(i.Type)
	}
	return seed.Vary(seed.Stream(j.cfg.Seed, "join", "boot", i.Name), d, max(0, j.cfg.Jitter))
}

// settings are what the instance's user data says, and the kubelet's command line.
func (j *Joiner) settings(i fakecloud.Instance) (*cloudinit.System, cloudinit.Kubelet, error) {
	config, err := cloudinit.Parse(i.UserData)
	if err != nil {
		return nil, cloudinit.Kubelet{}, err
	}
	system, err := config.Boot(j.machine(i))
	if err != nil {
		return nil, cloudinit.Kubelet{}, err
	}
	k, err := system.Kubelet()
	return system, k, err
}

// machine is what the user data meets: the metadata service has those names of
// Hetzner's documentation whose answers are one line.
func (j *Joiner) machine(i fakecloud.Instance) cloudinit.Machine {
	metadata := map[string]string{
		"hostname": i.Name, "instance-id": strconv.FormatInt(i.ID, 10),
	}
	if i.PublicIPv4.IsValid() {
		metadata["public-ipv4"] = i.PublicIPv4.String()
	}
	on := cloudinit.Machine{Name: i.Name, Metadata: map[string]string{}}
	j.cfg.Cloud.View(func(tx *fakecloud.Tx) {
		if image := tx.Images.Get(i.Image); image != nil {
			on.RPM = rpm(image.OSFlavor)
		}
	})
	for _, l := range j.cfg.Cloud.Catalogue().Locations {
		if l.Name == i.Location {
			metadata["region"], metadata["availability-zone"] = l.NetworkZone, l.Datacenter
		}
	}
	for name, value := range metadata {
		on.Metadata[j.cfg.Metadata+name] = value
	}
	if j.cfg.Answers != nil {
		maps.Copy(on.Metadata, j.cfg.Answers(i))
	}
	if t := j.cfg.Cloud.Catalogue().ServerType(i.Type); t != nil {
		on.Cores = t.Cores
	}
	return on
}

// rpm reports whether an image's packages are RPMs.
func rpm(flavor string) bool {
	switch flavor {
	case "alma", "centos", "fedora", "opensuse", "rocky":
		return true
	}
	return false
}
