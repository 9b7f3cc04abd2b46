package replay

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/run"
	"nodestorm/harness/sentences"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/kind/plane"
	"nodestorm/sim/time/clock"
)

// Cluster is what the clusters of worlds are made of.
type Cluster string

const (
	// Simulated are programs on loopback, in any time. The zero value is, too.
	Simulated Cluster = "sim"
	// Kind are containers of Docker, in real time.
	Kind Cluster = run.Kind
)

// ParseCluster reads the name of one.
func ParseCluster(name string) (Cluster, error) {
	switch c := Cluster(name); c {
	case Simulated, Kind:
		return c, nil
	}
	return "", fmt.Errorf("cluster %q: want %s (programs on this machine, in virtual time), or %s (containers of Docker, in real time)",
		name, Simulated, Kind)
}

// Set reads the value of a command line flag.
func (c *Cluster) Set(name string) (err error) {
	*c, err = ParseCluster(name)
	return err
}

// Type is what help calls the value.
func (c *Cluster) Type() string { return "CLUSTER" }

func (c Cluster) String() string {
	if c == "" {
		return string(Simulated)
	}
	return string(c)
}

// Machines is what the instances of worlds' clouds are.
type Machines string

const (
	// SimulatedMachines are kubelets of ours, or real ones as processes. The zero value is, too.
	SimulatedMachines Machines = "sim"
	// Containers are machines that join by their user data, beside a cluster of kind.
	Containers Machines = run.Containers
)

// Set reads the value of a command line flag.
func (m *Machines) Set(name string) error {
	switch of := Machines(name); of {
	case SimulatedMachines, Containers:
		*m = of
		return nil
	}
	return fmt.Errorf("machines %q: want %s, or %s (of Docker, which carry out the instances' user data)",
		name, SimulatedMachines, Containers)
}

// Type is what help calls the value.
func (m *Machines) Type() string { return "MACHINES" }

func (m Machines) String() string {
	if m == "" {
		return string(SimulatedMachines)
	}
	return string(m)
}

// factory is how such machines are made; nil means that they are simulated.
func (m Machines) factory() func(context.Context, *world.World) (sentences.Machines, error) {
	if m != Containers {
		return nil
	}
	return func(ctx context.Context, w *world.World) (sentences.Machines, error) { return plane.Machines(ctx, w) }
}

// Lacks says what the machine lacks for such clusters, and the command that brings it.
func (c Cluster) Lacks(ctx context.Context) error {
	if c != Kind {
		return nil
	}
	if err := kind.CheckDocker(ctx); err != nil {
		return err
	}
	return kind.CheckImage(ctx, builds.Kubernetes.Version)
}

// start is how such clusters start; nil is the world's own way.
func (c Cluster) start() world.StartControlPlane {
	if c != Kind {
		return nil
	}
	return plane.Start(builds.Kubernetes.Version)
}

// controlPlane are the words of steps about programs that in a cluster of kind are none of
// the world's.
var controlPlane = regexp.MustCompile(`^the program "((?:\w+-)?(?:etcd|kube-apiserver|kube-controller-manager|kube-scheduler))" is `)

// simulatedOnly are steps whose machines cannot be containers.
var simulatedOnly = regexp.MustCompile(`^a node agent |^a vSphere$|simulated nodes? ` +
	`(registers? without its taints|registers with the provider ID |is NotReady for half of every |keeps the taint of its agent )`)

// checkMachines reports whether the instances of the scenario's cloud can be containers.
func (r Request) checkMachines() error {
	if r.Machines != Containers {
		return nil
	}
	if r.Cluster != Kind {
		return fmt.Errorf("--cloud-machines %s: they join a cluster of kind, in real time: want --cluster %s", Containers, Kind)
	}
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		has := cloud.Implied(r.Target.Provider) || requirements.System(pickle) != ""
		for _, step := range pickle {
			// mutant: simulated machines' steps are played on containers
			if simulatedOnly.MatchString(step.Text) {
				return fmt.Errorf("--cloud-machines %s: %q is of simulated machines only", Containers, step.Text)
			}
		}
		if !has {
			return fmt.Errorf("--cloud-machines %s: the scenario has no cloud with instances; Karpenter's has some with --cloud %s",
				Containers, builds.Instances)
		}
		return nil
	})
}

// CheckCluster reports whether the request's kind of cluster can do what the scenario wants
// of it. It needs Record, Features, Target and what says how worlds start.
func (r Request) CheckCluster() error {
	if err := r.checkMachines(); err != nil {
		return err
	}
	if r.Cluster != Kind {
		return nil
	}
	// mutant: a cluster of kind may be one in virtual time
	if r.World.Clock != clock.Real {
		return errors.New("a cluster of kind has real time only: use --clock real, or leave it out")
	}
	if r.ControlPlane.Chosen() {
		return errors.New("a cluster of kind has a control plane of its own: leave out --kubernetes")
	}
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		if first := requirements.FirstKubernetes(pickle); first != "" {
			return fmt.Errorf("a cluster of kind is of %s from the start: %s needs a simulated cluster", builds.Kubernetes,
				strings.TrimSpace(r.Record.ID))
		}
		for _, step := range pickle {
			if m := controlPlane.FindStringSubmatch(step.Text); m != nil {
				return fmt.Errorf("%s is in a container of kind's, where no step can end it: %s needs a simulated cluster",
					m[1], strings.TrimSpace(r.Record.ID))
			}
		}
		return nil
	})
}
