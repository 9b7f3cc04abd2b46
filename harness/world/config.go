package world

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// Config of a World. Out is required, and Kubernetes or Start.
type Config struct {
	// Out is the run's folder, which must exist: history.ndjson and logs/ go there.
	Out string
	// Wishes are for the world's own cluster.
	ClusterOptions
	// Start is how clusters start, in real time only. Nil means as programs on loopback,
	// which Kubernetes, ControlPlane and ClientQPS are for.
	Start StartControlPlane
	// Kubernetes is a folder with etcd, kube-apiserver, kube-controller-manager,
	// kube-scheduler and the kubelet, built with the clock overlay unless Plain or Clock
	// says otherwise. What ControlPlane has may be missing.
	Kubernetes string
	// Plain says that Kubernetes was built without the clock: in virtual time its programs
	// are guests, see clock.Driver.Start.
	Plain bool
	// ControlPlane is a folder with some of these programs as another has built
	// them, of another release say: they come in place of Kubernetes' own, and live in
	// the world's time as guests, see clock.Driver.Start. Empty means none.
	ControlPlane string
	// Version is the release that the control plane is of, "v1.33.5"; empty is that of
	// Kubernetes.
	Version string
	Clock   clock.Mode
	// Seed is what all randomness of the simulated nodes derives from.
	Seed uint64
	// ClientQPS is how many calls a second kube-controller-manager and
	// kube-scheduler allow themselves. Zero keeps the release's defaults, 20 and
	// 50: ten thousand pods then take eight minutes.
	ClientQPS int
	// Nodes configures the simulated nodes; the world fills in its clients,
	// clock, history and seed.
	Nodes node.Config
	// Calls, if given, gets each call to the world's own API server that is audited, in
	// their order: its line of the audit log, only during the call, and the event of it.
	Calls func(line []byte, call history.Event)
	// Progress gets a few words on what happens while the world starts.
	Progress func(string)
}

func (c Config) check() error {
	if c.Start != nil {
		if c.Clock.Virtual() {
			return errors.New("the world's cluster is not of programs with the clock: it needs --clock real")
		}
		return nil
	}
	for _, name := range ControlPlanePrograms {
		path, _ := c.program(name)
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("no %s for the world; see nodestorm doctor: %w", name, err)
		}
	}
	return nil
}

// Controllers are the programs of a control plane that are clients of its kube-apiserver.
var Controllers = []string{controllerManager, scheduler}

// ControlPlanePrograms are those that a control plane is made of.
var ControlPlanePrograms = append([]string{"etcd", apiServer}, Controllers...)

// program is where a program of the control plane is, and whether it was built with the clock.
func (c Config) program(name string) (path string, builtWithClock bool) {
	if c.ControlPlane != "" {
		path = filepath.Join(c.ControlPlane, name)
		if _, err := os.Stat(path); err == nil {
			return path, false
		}
	}
	// mutant: a plain Kubernetes is started as if it had the clock
	return filepath.Join(c.Kubernetes, name), !c.Plain
}
