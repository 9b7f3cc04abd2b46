package sentences

import (
	"fmt"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// aboutNothing are observations for a world in which nothing has been.
func aboutNothing() map[string]observation {
	all := map[string]observation{}
	for _, then := range []string{
		`the pod "web" is gone within 1s`,
		`the node "a" is not Ready within 1s`,
		`the node "a" does not register within 1s`,
		`the node "a" keeps the taint "a:NoSchedule" for 1s`,
		`no more than 1 NodeClaim is created within 1s`,
		`no more than 1 server of the group "pool1" is created within 1s`,
		`no running server is deleted within 1s`,
		`no server is deleted within 1s`,
		`no machine is deleted within 1s`,
		`no pod is evicted within 1s`,
		`the target size of the group "pool1" is at no time above 1 within 1s`,
		`the autoscaler does not scale the MachineDeployment "first" within 1s`,
		`the autoscaler reports no node as removed for 1s without scaling the MachineDeployment "first"`,
		`the installation has succeeded`,
		`every Node is initialized within 1s`,
		`every kubelet has its serving certificate within 1s`,
		`logs and metrics were served`,
		`all instances are of the type "cpx31"`,
		`the Node of the pod "web" has the provider ID of its server`,
	} {
		o, ok, err := knownObservers().find(then, "")
		if !ok || err != nil {
			panic(fmt.Sprintf("%s: %t, %v", then, ok, err))
		}
		all[then] = o
	}
	return all
}

// A Then about what somebody has done fails where nobody has done it.
func TestThenOfNothing(t *testing.T) {
	s := &scenario{}
	for said, o := range aboutNothing() {
		ended := history.Record{Seq: 1, Virtual: 2 * time.Second, Event: history.Event{Source: history.Harness, Verb: history.Ended}}
		judged := &then{judge: judging(o, nil), own: ended.Seq}
		judged.take(ended)
		if !judged.decided || judged.err == nil {
			t.Errorf("%q holds without anything to hold of, or is undecided: %t", said, judged.decided)
		}
	}
	if s.askKubelets(t.Context(), "x", "1m") == nil {
		t.Error("who has no machines asks them")
	}
}
