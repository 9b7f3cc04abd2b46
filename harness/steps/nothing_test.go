package steps

import (
	"testing"
	"time"

	"nodestorm/sim/history"
)

// aboutNothing are observations for a world in which nothing has been.
func aboutNothing(s *scenario) map[string]observation {
	all := map[string]observation{}
	add := func(then string) func(observation, error) {
		return func(o observation, err error) {
			if err != nil {
				panic(err)
			}
			all[then] = o
		}
	}
	add("the pod is gone")(s.podGone("web", "1s"))
	add("the node is not Ready")(s.nodeNotReady("a", "1s"))
	add("the node does not register")(s.nodeNeverRegisters("a", "1s"))
	add("the node keeps a taint")(s.nodeKeepsTaint("a", "a:NoSchedule", "1s"))
	add("no more than 1 NodeClaim is created")(s.noMoreNodeClaims(1, "1s"))
	add("no more than 1 server is created")(s.noMoreServers(1, "pool1", "1s"))
	add("no running server is deleted")(s.noRunningServerDeleted("1s"))
	add("no server is deleted")(s.noServerDeleted("1s"))
	add("no machine is deleted")(s.noMachineDeleted("1s"))
	add("no pod is evicted")(s.noPodEvicted("1s"))
	add("the target size is at no time above 1")(s.targetSizeBound("pool1", 1, "1s"))
	add("the autoscaler does not scale")(s.notScaled("first", "1s"))
	add("the autoscaler reports no node without scaling")(s.truthful("1s", "first"))
	add("the installation has succeeded")(s.installed())
	add("every Node is initialized")(s.nodesInitialized("1s"))
	add("every kubelet has its serving certificate")(s.servingCertificates("1s"))
	add("logs and metrics were served")(s.kubeletsServed())
	add("all instances are of the type")(s.allOfType("cpx31"))
	add("the Node of the pod has a provider ID")(s.podsNodeHasProviderID("web"))
	return all
}

// A Then about what somebody has done fails where nobody has done it.
func TestThenOfNothing(t *testing.T) {
	s := &scenario{}
	for then, o := range aboutNothing(s) {
		ended := history.Record{Seq: 1, Virtual: 2 * time.Second, Event: history.Event{Source: history.Harness, Verb: history.Ended}}
		decided, err := judging(o, nil).stored([]history.Record{ended}, 0)
		if !decided || err == nil {
			t.Errorf("%q holds without anything to hold of, or is undecided: %t", then, decided)
		}
	}
	if s.askKubelets(t.Context(), "x", "1m") == nil {
		t.Error("who has no machines asks them")
	}
	if err := ofType(instances{{kind: "cpx31"}}, "cpx31"); err != nil {
		t.Error(err)
	}
	if ofType(instances{{kind: "cpx31"}, {kind: "cpx41"}}, "cpx31") == nil {
		t.Error("another type is not seen")
	}
}
