package sentences

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/world/memory"
	"nodestorm/sim/machine/node"
)

var simulatedNodes = regexp.MustCompile(`^` + number + ` simulated nodes?$`)

// registerNodeFaults has what goes wrong on the simulated nodes of machines that boot
// from now on. A "Ready node" of the cluster's own stays well.
func (s *scenario) registerNodeFaults(on sentences) {

	on.Given(simulatedNodes.String(), s.simulatedNodes)

	on.When(`^a machine `+name+` with a simulated kubelet boots$`, s.bootSimulated)

	observe(on, then.Nodes)
}

// nextProfile is that of the next machine that boots.
func (s *scenario) nextProfile() node.Profile {
	p := s.profile
	p.Faults = s.nextFaults()
	return p
}

// Nodes is how many simulated nodes the steps ask for, with the machines that the node groups
// they declare begin with. What is wrong with a table is for others to tell.
func Nodes(steps []*messages.PickleStep) (n int) {
	for _, step := range steps {
		if m := simulatedNodes.FindStringSubmatch(step.Text); m != nil {
			some, err := strconv.ParseUint(m[1], 10, 31)
			if err != nil { // too many to count
				some = math.MaxInt32
			}
			n += int(some)
		}
		switch table := tableOf(step); {
		case table == nil:
		case step.Text == nodesWords:
			n += len(table.Rows) - 1
		case step.Text == groupsWords:
			groups, _ := groupsOf(table)
			for _, g := range groups {
				n += g.min
			}
		}
	}
	return n
}

// simulatedNodes boots node-1, node-2 and so on, and does not wait for them.
func (s *scenario) simulatedNodes(n int) error {
	if s.world == nil {
		return errNoCluster
	}
	if err := memory.Check(n); err != nil { // not asked before in a world that stays
		return err
	}
	for i := range n {
		if err := s.bootSimulated(fmt.Sprintf("node-%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

// injectNode does a fault to the machine of a Node, which may be none of the fleet's.
func (s *scenario) injectNode(name string, f node.Fault) error {
	if s.containers != nil && s.containers.Has(name) {
		return s.containers.Inject(name, f)
	}
	return s.world.Fleet().Inject(name, f)
}

func (s *scenario) bootSimulated(machine string) error {
	return s.world.Fleet().Boot(node.Spec{Name: machine, Profile: s.nextProfile()})
}
