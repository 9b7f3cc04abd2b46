package playing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/sim/time/clock"
)

// CompleteClusters are the values of --cluster.
var CompleteClusters = cobra.FixedCompletions([]string{string(replay.Simulated), string(replay.Kind)}, cobra.ShellCompDirectiveNoFileComp)

// ChooseCluster has worlds be made of clusters of that kind from now on. What a real
// cluster cannot do is said here.
func (s *Session) ChooseCluster(c *cobra.Command, of replay.Cluster) error {
	s.Cluster = of
	if of != replay.Kind {
		return nil
	}
	if c.Flags().Changed("clock") && s.World.Clock != clock.Real {
		return exit.UsageError(fmt.Errorf("--clock %s: a cluster of kind has real time only, and no thousands of nodes: leave "+
			"--clock out, or take --cluster %s", s.World.Clock, replay.Simulated))
	}
	if s.KubernetesName != "" {
		return exit.UsageError(fmt.Errorf("--cluster %s: a cluster of kind has a control plane of its own, leave out --kubernetes", of))
	}
	s.World.Clock = clock.Real
	s.Remark("clusters are made with kind: all durations are real time, nothing is shortened")
	return nil
}

// AddMachines adds the flag of what the instances of clouds are.
func (s *Session) AddMachines(c *cobra.Command) {
	c.Flags().Var(&s.Machines, "cloud-machines",
		"the cloud's machines in a kind cluster: sim, or containers that join by user data (`MACHINES`)")
	s.RenamedFlag(c, "machines", "cloud-machines")
	_ = c.RegisterFlagCompletionFunc("cloud-machines",
		cobra.FixedCompletions([]string{string(replay.SimulatedMachines), string(replay.Containers)}, cobra.ShellCompDirectiveNoFileComp))
}

// CheckMachines says that containers are asked for where there is nothing for them to join.
func (s *Session) CheckMachines(clusters ...replay.Cluster) error {
	if s.Machines == replay.Containers && !slices.Contains(clusters, replay.Kind) {
		return exit.UsageError(fmt.Errorf("--cloud-machines %s: they join a cluster of kind, in real time: want --cluster %s",
			s.Machines, replay.Kind))
	}
	return nil
}

// ParseClusters reads --cluster of verify: one, or two to be compared.
func ParseClusters(names []string) (list []replay.Cluster, err error) {
	for _, name := range names {
		c, err := replay.ParseCluster(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if len(list) == 0 || len(list) > 2 || len(list) == 2 && list[0] == list[1] {
		return nil, fmt.Errorf("--cluster %s: want %s, %s, or both to compare them", strings.Join(names, ","), replay.Simulated, replay.Kind)
	}
	return list, nil
}
