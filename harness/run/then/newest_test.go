package then

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
)

// Who counts as the newest and the oldest: Nodes that came since the target runs and are there,
// pods that are there, those of DaemonSets aside.
func TestNewest(t *testing.T) {
	by := func(actor string, e history.Event) history.Event { e.Actor = actor; return e }
	var events []history.Entry
	for i, e := range []history.Event{
		api("create", "nodes", "control"),
		by("karpenter", api("create", "nodeclaims", "claim")),
		api("create", "nodes", "a"), api("create", "nodes", "b"), api("create", "nodes", "c"), api("delete", "nodes", "c"),
		api("create", "pods", "web-1", "owner", "ReplicaSet/web-x"), api("create", "pods", "agent", "owner", "DaemonSet/agent"), api("create", "pods", "web-2", "owner", "ReplicaSet/web-x"), api("delete", "pods", "web-2", "gracePeriodSeconds", 0),
	} {
		events = append(events, history.Entry{Seq: uint64(i + 1), Event: e})
	}
	for _, test := range []struct{ kind, which, want string }{
		{"Node", Newest, "b"}, {"no", Oldest, "a"}, {"Pod", Newest, "web-1"}, {"pods", Oldest, "web-1"}, {"Node", "a", "a"},
		{"Deployment", Newest, "!only Nodes and pods"},
	} {
		got, err := Aged(events, "karpenter", test.kind, test.which)
		if says, fails := strings.CutPrefix(test.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %s: %v, want %q", test.which, test.kind, err, says)
			}
		} else if got != test.want || err != nil {
			t.Errorf("%s %s: %q, %v, want %q", test.which, test.kind, got, err, test.want)
		}
	}
	if _, err := Aged(events[:2], "karpenter", "Node", Newest); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("of a cluster without Nodes: %v", err)
	}
}
