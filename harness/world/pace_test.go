package world

import (
	"testing"
	"time"

	"nodestorm/sim/time/lag"
)

// What changes is recorded; what stays as it is is recorded again after a while only.
func TestPace(t *testing.T) {
	span := func(factor float64, late time.Duration) lag.Figures {
		return lag.Figures{Virtual: time.Duration(factor * float64(paceEvery)), Wall: paceEvery, Mean: factor, Lag: lag.Spread{P99: late / 2, Max: late}}
	}
	var p pace
	for n, test := range []struct {
		f    lag.Figures
		kept bool
	}{
		{span(1, time.Millisecond), true}, {span(1.1, time.Millisecond), false}, {span(40, 5*time.Millisecond), true}, {span(41, 5*time.Millisecond), false},
		{span(1, 5*time.Millisecond), true}, {span(1, 90*time.Millisecond), true},
	} {
		if kept := p.isNew(test.f); kept != test.kept {
			t.Errorf("span %d is recorded: %t", n, kept)
		}
	}
	spans := 1
	for ; !p.isNew(span(1, 90*time.Millisecond)); spans++ {
	}
	if spans != int(paceKept/paceEvery) {
		t.Errorf("a steady pace is recorded after %d spans", spans)
	}
	detail := paceEvent(span(40, 5*time.Millisecond)).Detail
	if detail["seconds"] != 10.0 || detail["factor"] != 40.0 || detail["lagP99Ms"] != 2.5 || detail["lagMaxMs"] != 5.0 {
		t.Errorf("detail %v", detail)
	}
}
