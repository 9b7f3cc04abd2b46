package node

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/history"
)

// agentState is how far an agent has come with the present Node object.
type agentState struct {
	Agent
	done progress
}

type progress int

const (
	notSet progress = iota
	isSet
	lifted
)

// agent returns the agent of that name; checked profiles have it.
func (k *kubelet) agent(name string) agentState {
	for _, a := range k.agents {
		if a.Name == name {
			return a
		}
	}
	return agentState{}
}

// nextTaints are the calls that agents have to make.
func (k *kubelet) nextTaints(due *earliest) (calls []call) {
	for i := range k.agents {
		a := &k.agents[i]
		present := hasTaint(k.node, a.Taint)
		if a.done == notSet && due.reached(k.created.Add(a.SetAfter)) {
			if present {
				a.done = isSet
			} else {
				calls = append(calls, call{"setting taint of agent " + a.Name + " on node", k.changeTaint(a, isSet)})
			}
		}
		if a.done == isSet && a.LiftAfter > 0 && due.reached(k.created.Add(a.LiftAfter)) && !k.stuck(a, due) {
			if present {
				calls = append(calls, call{"lifting taint of agent " + a.Name + " from node", k.changeTaint(a, lifted)})
			} else {
				a.done = lifted
			}
		}
	}
	return calls
}

// stuck reports whether a fault keeps the agent from lifting its taint.
func (k *kubelet) stuck(agent *agentState, due *earliest) bool {
	for a, e := range forEachFault[ofAgents](k) {
		if e.keeps(agent.Name) && a.Active(due.now) {
			return true
		}
	}
	return false
}

// changeTaint writes the list of taints with the agent's in it or without. The list
// is one value to the API server, so the write names the version it is based on; on
// a conflict the Node is read again and the call is still due.
func (k *kubelet) changeTaint(agent *agentState, to progress) func(context.Context) error {
	return func(ctx context.Context) error {
		f := k.fleet
		f.mu.Lock()
		node := k.node
		f.mu.Unlock()
		if node == nil {
			return nil // deleted since the call was chosen
		}
		taints := withoutTaint(node, agent.Taint)
		if to == isSet {
			taints = append(taints, agent.Taint)
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": node.ResourceVersion},
			"spec":     map[string]any{"taints": taints},
		})
		if err != nil {
			return err
		}
		nodes := f.cfg.AgentClient(agent.Name).CoreV1().Nodes()
		after, err := nodes.Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		conflict := apierrors.IsConflict(err)
		if conflict {
			after, err = nodes.Get(ctx, node.Name, metav1.GetOptions{})
		}
		if err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		k.see(after)
		if conflict {
			return nil
		}
		agent.done = to
		now := f.cfg.Clock.Now()
		k.record(history.Event{
			At: now, Verb: map[progress]string{isSet: "taint", lifted: "untaint"}[to],
			Object: nodeObject(node.Name), Actor: agent.Name, Detail: map[string]any{"taint": agent.Taint.ToString()},
		})
		k.judgeFaults(now)
		return nil
	}
}

func hasTaint(node *corev1.Node, taint corev1.Taint) bool {
	for i := range node.Spec.Taints {
		if node.Spec.Taints[i].MatchTaint(&taint) {
			return true
		}
	}
	return false
}

// withoutTaint returns a copy of the Node's taints without those of the same key
// and effect.
func withoutTaint(node *corev1.Node, taint corev1.Taint) []corev1.Taint {
	kept := make([]corev1.Taint, 0, len(node.Spec.Taints)+1)
	for _, t := range node.Spec.Taints {
		if !t.MatchTaint(&taint) {
			kept = append(kept, t)
		}
	}
	return kept
}
