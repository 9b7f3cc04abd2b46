package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/cloudinit"
	"nodestorm/sim/history"
	"nodestorm/sim/node"
)

// registerNodeFaults has what goes wrong on the simulated nodes of machines that boot
// from now on. A "Ready node" of the cluster's own stays well.
func (s *scenario) registerNodeFaults(on sentences) {
	on.Given(`^further simulated nodes never register$`, s.neverRegister)
	on.Given(`^further simulated nodes register `+span+` late$`, s.registerLate)
	on.Given(`^further simulated nodes are NotReady for `+span+`, from `+span+` after they are Ready$`, s.notReadyAfterReady)
	on.Given(`^further simulated nodes are NotReady for `+span+` once a pod `+name+` runs on them$`, s.notReadyOncePodRuns)
	on.Given(`^further simulated nodes flap every `+span+`$`, s.flap)
	on.Given(`^the agents of further simulated nodes never lift their taint$`, s.agentsNeverLift)
	on.Given(`^the Nodes of further simulated machines are deleted `+span+` after they are Ready$`, s.nodesDeleted)

	on.When(`^a machine `+name+` with a simulated kubelet boots$`, s.bootSimulated)

	on.Then(`^the node `+name+` does not register within `+span+`$`, s.nodeNeverRegisters)
	on.Then(`^the node `+name+` is Ready within `+span+`$`, s.nodeIsReady)
	on.Then(`^the node `+name+` becomes NotReady `+number+` times? within `+span+`$`, s.nodeBecomesNotReady)
	on.Then(`^the node `+name+` keeps the taint `+taint+` for `+span+`$`, s.nodeKeepsTaint)
	on.Then(`^the Node `+name+` is deleted within `+span+`$`, s.nodeDeleted)
}

// further adds a fault to the profile of machines that boot from now on.
func (s *scenario) further(f node.Fault) {
	f.Name = f.Effect.String()
	s.profile.Faults = append(s.profile.Faults, f)
}

func (s *scenario) neverRegister() { s.further(node.Fault{Effect: node.NeverRegisters{}}) }

func (s *scenario) registerLate(late string) error {
	d, err := duration(late)
	if err != nil {
		return err
	}
	s.further(node.Fault{Effect: node.RegistersLate{By: d}})
	return nil
}

func (s *scenario) notReadyAfterReady(lasts, after string) error {
	d, err := duration(lasts)
	if err != nil {
		return err
	}
	at, err := duration(after)
	if err != nil {
		return err
	}
	s.further(node.Fault{Effect: node.NotReady{}, When: node.NodeReady(), At: at, For: d})
	return nil
}

func (s *scenario) notReadyOncePodRuns(lasts, pod string) error {
	d, err := duration(lasts)
	if err != nil {
		return err
	}
	s.further(node.Fault{Effect: node.NotReady{}, When: node.PodRunning(namespace, pod), For: d})
	return nil
}

func (s *scenario) flap(every string) error {
	d, err := duration(every)
	if err != nil {
		return err
	}
	s.further(node.Fault{Effect: node.Flapping{Period: d}})
	return nil
}

func (s *scenario) agentsNeverLift() error {
	if len(s.profile.Agents) == 0 {
		return errors.New(`there is no node agent yet: say "a node agent …" before`)
	}
	for _, a := range s.profile.Agents {
		s.profile.Faults = append(s.profile.Faults, node.Fault{Name: "taint of " + a.Name, Effect: node.TaintNeverLifted{Agent: a.Name}})
	}
	return nil
}

func (s *scenario) nodesDeleted(after string) error {
	at, err := duration(after)
	if err != nil {
		return err
	}
	s.further(node.Fault{Effect: node.NodeObjectDeleted{}, When: node.NodeReady(), At: at})
	return nil
}

func (s *scenario) bootSimulated(machine string) error {
	return s.world.Fleet().Boot(node.Spec{Name: machine, Profile: s.profile})
}

func (s *scenario) nodeNeverRegisters(ctx context.Context, name, window string) error {
	booted := subject{fmt.Sprintf("no machine %q has booted with a fault that it could show", name), func(r history.Record) bool {
		return r.Source == history.Fault && r.Verb == "armed" && r.Object.Name == name
	}}
	return s.never(ctx, window, booted, func(r history.Record) error {
		if r.Source == history.Node && r.Verb == "register" && r.Object.Name == name {
			return fmt.Errorf("node %q has registered %s after the start", name, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}

func (s *scenario) nodeIsReady(ctx context.Context, name, window string) error {
	return s.eventually(ctx, window, func(ctx context.Context) error {
		_, err := s.ready(ctx, name, corev1.ConditionTrue)
		return err
	})
}

// nodeBecomesNotReady counts from the Whens before it: a node that registers is not Ready
// yet, and does not become so.
func (s *scenario) nodeBecomesNotReady(ctx context.Context, name string, want int, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	times := 0
	_, err = s.within(ctx, d, s.asked, func(r history.Record) bool {
		if r.Source == history.Node && r.Verb == "notready" && r.Object.Name == name {
			times++
		}
		return times >= want
	})
	if errors.Is(err, errWindow) {
		return fmt.Errorf("node %q has become NotReady %d times", name, times)
	}
	return err
}

func (s *scenario) nodeKeepsTaint(ctx context.Context, name, taint, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	want, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	clock := s.world.Clock()
	for end := clock.Now().Add(d); clock.Now().Before(end); {
		n, err := s.world.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !hasTaint(n, want) {
			return fmt.Errorf("node %q has the taints %v", name, n.Spec.Taints)
		}
		if err := s.pass(ctx, "1s"); err != nil {
			return err
		}
	}
	return nil
}

func hasTaint(n *corev1.Node, want corev1.Taint) bool {
	for _, t := range n.Spec.Taints {
		if t.MatchTaint(&want) {
			return true
		}
	}
	return false
}

func (s *scenario) nodeDeleted(ctx context.Context, name, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	_, err = s.within(ctx, d, s.asked, func(r history.Record) bool {
		return r.Source == history.API && r.Verb == "delete" && r.Object.Resource == "nodes" && r.Object.Name == name && r.Code < 300
	})
	if errors.Is(err, errWindow) {
		return fmt.Errorf("nobody deletes the Node %q", name)
	}
	return err
}
