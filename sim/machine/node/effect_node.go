package node

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/fault"
)

// TaintStays means that the agent leaves its startup taint on the Node.
type TaintStays struct {
	Agent string `json:"agent"`
}

var _ = anyNode.Add("taintStays", TaintStays{}, fault.Say(`keeps the taint of its agent "NAME"`, "agent")).Called("taint never lifted")

func (e TaintStays) keeps(agent string) bool { return e.Agent == agent }

func (e TaintStays) checkAgents(agents map[string]Agent) error {
	if agents[e.Agent].LiftAfter == 0 {
		return fmt.Errorf("agent %q is not on the node or lifts no taint", e.Agent)
	}
	return nil
}

func (e TaintStays) visible(k *kubelet, a *armed, now time.Time) bool {
	agent := k.agent(e.Agent)
	return a.Active(now) && k.node != nil && !k.registered.IsZero() &&
		!now.Before(k.created.Add(agent.LiftAfter)) && hasTaint(k.node, agent.Taint)
}

func (e TaintStays) recovered(k *kubelet, _ *armed, _ time.Time) bool {
	return k.agent(e.Agent).done == lifted
}

// NodeDeleted means that a user deletes the Node object. The kubelet lives on and
// does not create it again, unless it is restarted.
type NodeDeleted struct{}

var _ = anyNode.Add("nodeDeleted", NodeDeleted{}, fault.Say("has its Node deleted").At("SINCE")).Called("node object deleted").
	DrawsLasting("the first new simulated node has its Node deleted, from", "1m on", "3m on")

// Check implements fault.Checker.
func (NodeDeleted) Check(f fault.Fault) error { return endless(f) }

func (NodeDeleted) state() any { return new(types.UID) } // of the Node that it took

func (NodeDeleted) call(k *kubelet, a *armed, now time.Time) call {
	if *a.state.(*types.UID) != "" || !a.Active(now) {
		return call{}
	}
	return call{"deleting node", func(ctx context.Context) error { return k.deleteNode(ctx, a.state.(*types.UID)) }}
}

func (NodeDeleted) visible(_ *kubelet, a *armed, _ time.Time) bool {
	return *a.state.(*types.UID) != ""
}

func (NodeDeleted) recovered(k *kubelet, a *armed, _ time.Time) bool {
	return k.node != nil && k.node.UID != *a.state.(*types.UID)
}

// Break implements Real.
func (NodeDeleted) Break(c Container) error { return c.DeleteNode() }

// Undo implements Real.
func (NodeDeleted) Undo(Container) error { return nil }

// deleteNode deletes the Node, and notes which it was.
func (k *kubelet) deleteNode(ctx context.Context, deleted *types.UID) error {
	f := k.fleet
	f.mu.Lock()
	node := k.node
	f.mu.Unlock()
	if node == nil {
		return nil // deleted by others since the call was chosen
	}
	only := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(node.UID))}
	err := f.cfg.Client.CoreV1().Nodes().Delete(ctx, node.Name, only)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*deleted = node.UID
	k.judgeFaults(f.cfg.Clock.Now())
	return nil
}
