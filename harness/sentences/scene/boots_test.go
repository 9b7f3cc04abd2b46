package scene

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// A fault of further nodes is for as many of them as it says.
func TestNextFaults(t *testing.T) {
	b := &Boots{coming: node.NewComing(fault.Recorder{History: history.Discard()}, clock.RealClock{})}
	b.Profile.Faults = []fault.Fault{{Name: "all"}}
	if err := b.coming.Inject(fault.Fault{Name: "second", Effect: node.NotReady{}, Plan: fault.Plan{Skip: 1, Limit: 1}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		var names []string
		for _, f := range b.Next().Faults {
			names = append(names, f.Name)
		}
		got = append(got, fmt.Sprint(names))
	}
	if !slices.Equal(got, []string{"[all]", "[all second]", "[all]"}) {
		t.Errorf("got %q", got)
	}
}
