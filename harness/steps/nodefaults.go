package steps

import (
	"fmt"
	"slices"
	"time"

	"nodestorm/sim/cloudinit"
	"nodestorm/sim/history"
	"nodestorm/sim/node"
)

// registerNodeFaults has what goes wrong on the simulated nodes of machines that boot
// from now on. A "Ready node" of the cluster's own stays well.
func (s *scenario) registerNodeFaults(on sentences) {

	on.Given(`^`+number+` simulated nodes?$`, s.simulatedNodes)

	on.When(`^a machine `+name+` with a simulated kubelet boots$`, s.bootSimulated)

	on.Then(`^the node `+name+` does not register within `+span+`$`, s.nodeNeverRegisters)
	on.Then(`^the node `+name+` is Ready within `+span+`$`, s.nodeIsReady)
	on.Then(`^the node `+name+` becomes NotReady `+number+` times? within `+span+`$`, s.nodeBecomesNotReady)
	on.Then(`^the node `+name+` keeps the taint `+taint+` for `+span+`$`, s.nodeKeepsTaint)
	on.Then(`^the Node `+name+` is deleted within `+span+`$`, s.nodeDeleted)
}

// nextProfile is that of the next machine that boots.
func (s *scenario) nextProfile() node.Profile {
	p := s.profile
	p.Faults = s.nextFaults()
	return p
}

// simulatedNodes boots node-1, node-2 and so on, and does not wait for them.
func (s *scenario) simulatedNodes(n int) error {
	const most = 10_000
	if s.world == nil {
		return errNoCluster
	}
	if n > most {
		return fmt.Errorf("%d nodes: want %d at most", n, most)
	}
	for i := range n {
		if err := s.bootSimulated(fmt.Sprintf("node-%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) bootSimulated(machine string) error {
	return s.world.Fleet().Boot(node.Spec{Name: machine, Profile: s.nextProfile()})
}

func (*scenario) nodeNeverRegisters(name, d string) (observation, error) {
	booted := subject{fmt.Sprintf("no machine %q has booted with a fault that it could show", name), func(r history.Record) bool {
		return r.Source == history.Fault && r.Verb == "armed" && r.Object.Name == name
	}}
	return never(d, booted, func(r history.Record) error {
		if r.Source == history.Node && r.Verb == "register" && r.Object.Name == name {
			return fmt.Errorf("node %q has registered %s after the start", name, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}

func (*scenario) nodeIsReady(name, d string) (observation, error) {
	all := nodes{}
	return eventually(d, all, func() error { return all.ready(name, "True") })
}

// nodeBecomesNotReady counts from the Whens before it: a node that registers is not Ready
// yet, and does not become so.
func (*scenario) nodeBecomesNotReady(name string, want int, d string) (observation, error) {
	times := 0
	return within(d, func(r history.Record) bool {
		if r.Source == history.Node && r.Verb == "notready" && r.Object.Name == name {
			times++
		}
		return times >= want
	}, func() error { return fmt.Errorf("node %q has become NotReady %d times", name, times) })
}

func (*scenario) nodeKeepsTaint(name, taint, d string) (observation, error) {
	want, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return observation{}, err
	}
	all := nodes{}
	return throughout(d, all, func() error {
		n, err := all.get(name)
		if err == nil && !slices.Contains(n.taints, want.ToString()) {
			err = fmt.Errorf("node %q has the taints %v", name, n.taints)
		}
		return err
	})
}

func (*scenario) nodeDeleted(name, d string) (observation, error) {
	return within(d, func(r history.Record) bool {
		return taken(r, "nodes", "") && r.Verb == "delete" && r.Object.Name == name
	}, func() error { return fmt.Errorf("nobody deletes the Node %q", name) })
}
