package sentences

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/sim/history"
)

// Who counts as the newest and the oldest: Nodes that came since the target runs and are there,
// pods that are there, those of DaemonSets aside.
func TestNewest(t *testing.T) {
	by := func(actor string, e history.Event) history.Event { e.Actor = actor; return e }
	var records []history.Record
	for i, e := range []history.Event{
		api("create", "nodes", "control"),
		by("karpenter", api("create", "nodeclaims", "claim")),
		api("create", "nodes", "a"), api("create", "nodes", "b"), api("create", "nodes", "c"), api("delete", "nodes", "c"),
		api("create", "pods", "web-1", "owner", "ReplicaSet/web-x"), api("create", "pods", "agent", "owner", "DaemonSet/agent"), api("create", "pods", "web-2", "owner", "ReplicaSet/web-x"), api("delete", "pods", "web-2", "gracePeriodSeconds", 0),
	} {
		records = append(records, history.Record{Seq: uint64(i + 1), Event: e})
	}
	for _, test := range []struct{ kind, which, want string }{
		{"Node", newest, "b"}, {"no", oldest, "a"}, {"Pod", newest, "web-1"}, {"pods", oldest, "web-1"}, {"Node", "a", "a"},
		{"Deployment", newest, "!only Nodes and pods"},
	} {
		got, err := aged(records, "karpenter", test.kind, test.which)
		if says, fails := strings.CutPrefix(test.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %s: %v, want %q", test.which, test.kind, err, says)
			}
		} else if got != test.want || err != nil {
			t.Errorf("%s %s: %q, %v, want %q", test.which, test.kind, got, err, test.want)
		}
	}
	if _, err := aged(records[:2], "karpenter", "Node", newest); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("of a cluster without Nodes: %v", err)
	}
}

// In a scenario that was drawn there need be no newest or oldest object to do something to. Who
// names one, or wrote the scenario, means that it is there.
func TestNobody(t *testing.T) {
	_, none := aged(nil, "karpenter", "Node", newest)
	gone := fmt.Errorf("deleting: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web"))
	for _, test := range []struct {
		drawn bool
		ref   string
		err   error
		want  bool
	}{
		{true, "Node/$newest", none, true},
		{true, "Pod/$oldest", gone, true},
		{true, "Pod/web", gone, false},
		{true, "Pod/$oldest", errors.New("refused"), false},
		{true, "Pod/$oldest", nil, false},
		{false, "Node/$newest", none, false},
	} {
		if got := (&scenario{drawn: test.drawn}).nobody(test.ref, test.err); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
