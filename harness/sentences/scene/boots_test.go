package scene

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// A fault of further nodes is for as many of them as it says.
func TestNextFaults(t *testing.T) {
	b := &Boots{}
	life := func(plan fault.Plan) *fault.Life {
		return new(fault.Recorder{History: history.Discard()}.Arm("f", "", plan, time.Now(), fault.About{}))
	}
	b.Profile.Faults = []node.Fault{{Name: "all"}}
	b.further = []furtherFault{{node.Fault{Name: "second"}, life(fault.Plan{Skip: 1, Limit: 1})}}
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
