package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

var ciliumTaint = corev1.Taint{Key: "node.cilium.io/agent-not-ready", Value: "true", Effect: corev1.TaintEffectNoSchedule}

func cilium(set, lift time.Duration) []Agent {
	return []Agent{{Name: "cilium", Taint: ciliumTaint, SetAfter: set, LiftAfter: lift}}
}

func taints(node *corev1.Node) string {
	var list []string
	for _, t := range node.Spec.Taints {
		list = append(list, t.ToString())
	}
	return strings.Join(list, " ")
}

func TestAgentSetsAndLiftsItsTaint(t *testing.T) {
	other := corev1.Taint{Key: ciliumTaint.Key, Effect: corev1.TaintEffectNoExecute} // same key, other effect
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Taints: []corev1.Taint{other},
			Profile: Profile{BootDelay: 30 * time.Second, Agents: cilium(time.Second, 90*time.Second)}})
		w.at(31*time.Second - 1)
		same(t, "before", taints(w.node()), other.ToString())
		w.at(31 * time.Second)
		same(t, "set", taints(w.node()), other.ToString()+" "+ciliumTaint.ToString())
		w.at(120*time.Second - 1)
		same(t, "still set", taints(w.node()), other.ToString()+" "+ciliumTaint.ToString())
		w.at(120 * time.Second)
		same(t, "lifted", taints(w.node()), other.ToString())
		w.at(time.Hour)
		sameTimes(t, "taint events", w.when("taint", "a"), 31*time.Second)
		sameTimes(t, "untaint events", w.when("untaint", "a"), 120*time.Second)
		sameTimes(t, "writes", w.written("patch", "nodes", "", "a"), 31*time.Second, 120*time.Second)
		for _, e := range w.events {
			if e.Verb == "taint" {
				same(t, "actor", e.Actor, "cilium")
				same(t, "detail", e.Detail["taint"], any(ciliumTaint.ToString()))
			}
		}
	})
}

func TestAgentOfARegisteredTaintOnlyLifts(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Taints: []corev1.Taint{ciliumTaint}, Profile: Profile{Agents: cilium(0, 10*time.Second)}})
		w.at(time.Minute)
		sameTimes(t, "writes", w.written("patch", "nodes", "", "a"), 10*time.Second)
		same(t, "taints", taints(w.node()), "")
	})
}

func TestAgentHasNothingToLiftWhenAnotherClientDid(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Agents: cilium(0, 10*time.Second)}})
		w.at(5 * time.Second)
		node := w.node()
		node.Spec.Taints = nil
		if _, err := w.client.CoreV1().Nodes().Update(context.Background(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(time.Minute)
		sameTimes(t, "writes", w.written("patch", "nodes", "", "a"), 0)
	})
}

func TestAgentWithoutLiftAfterKeepsItsTaint(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Agents: cilium(0, 0)}})
		w.at(time.Hour)
		same(t, "taints", taints(w.node()), ciliumTaint.ToString())
	})
}

// TestAgentTriesAgainOnConflict lets another client write first, twice.
func TestAgentTriesAgainOnConflict(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		others := 0
		w.client.PrependReactor("patch", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if a.GetSubresource() == "status" || others == 2 {
				return false, nil, nil
			}
			others++
			node, err := w.server.Get(a.GetResource(), "", "a")
			if err != nil {
				return true, nil, err
			}
			changed := node.(*corev1.Node)
			changed.Spec.Taints = append(changed.Spec.Taints, corev1.Taint{Key: fmt.Sprintf("other-%d", others), Effect: corev1.TaintEffectNoSchedule})
			return false, nil, w.server.Update(a.GetResource(), changed, "")
		})
		w.boot(Spec{Name: "a", Profile: Profile{Agents: cilium(5*time.Second, 0)}})
		w.at(5 * time.Second)
		same(t, "taints", taints(w.node()), "other-1:NoSchedule other-2:NoSchedule "+ciliumTaint.ToString())
		same(t, "failures", w.fleet.Stats().Failures, 0)
	})
}

// TestAgentsOfASecondNode: the object is deleted and created again under its name, and
// the agents begin anew with it.
func TestAgentsOfASecondNode(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Agents: cilium(time.Second, 10*time.Second)}})
		w.at(time.Minute)
		if err := w.client.CoreV1().Nodes().Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.client.CoreV1().Nodes().Create(context.Background(), kwokNode("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(2 * time.Minute)
		sameTimes(t, "taint events", w.when("taint", "a"), time.Second, 61*time.Second)
		sameTimes(t, "untaint events", w.when("untaint", "a"), 10*time.Second, 70*time.Second)
		same(t, "Ready", readyCondition(w.node()).Status, corev1.ConditionTrue)
	})
}
