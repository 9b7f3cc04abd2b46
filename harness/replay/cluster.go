package replay

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/kind"
	"nodestorm/harness/kind/plane"
	"nodestorm/harness/run"
	"nodestorm/harness/target"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
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
	return "", fmt.Errorf("cluster %q: want %s (programs on this machine, in virtual time), or %s (containers of Docker, in real time)", name, Simulated, Kind)
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

// Lacks says what the machine lacks for such clusters, and the command that brings it.
func (c Cluster) Lacks(ctx context.Context) error {
	if c != Kind {
		return nil
	}
	if err := kind.CheckDocker(ctx); err != nil {
		return err
	}
	return kind.CheckImage(ctx, target.Kubernetes.Version)
}

// start is how such clusters start; nil is the world's own way.
func (c Cluster) start() world.StartControlPlane {
	if c != Kind {
		return nil
	}
	return plane.Start(target.Kubernetes.Version)
}

// controlPlane are the words of steps about programs that in a cluster of kind are none of
// the world's.
var controlPlane = regexp.MustCompile(`^the program "((?:\w+-)?(?:etcd|kube-apiserver|kube-controller-manager|kube-scheduler))" is `)

// CheckCluster tells whether the request's kind of cluster can do what the scenario wants
// of it. It needs Record, Features and what says how worlds start.
func (r Request) CheckCluster() error {
	if r.Cluster != Kind {
		return nil
	}
	if r.Clock != clock.Real {
		return errors.New("a cluster of kind has real time only: use --clock real, or leave it out")
	}
	if r.ControlPlane != "" {
		return errors.New("a cluster of kind has a control plane of its own: unset KUBEBUILDER_ASSETS")
	}
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		for _, step := range pickle {
			if m := controlPlane.FindStringSubmatch(step.Text); m != nil {
				return fmt.Errorf("%s is in a container of kind's, where nobody ends it: %s needs a simulated cluster", m[1], strings.TrimSpace(r.Record.ID))
			}
		}
		return nil
	})
}
