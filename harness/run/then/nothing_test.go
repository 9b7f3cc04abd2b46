package then

import (
	"os"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// aboutNothing are observations for a world in which nothing has been.
func aboutNothing(t *testing.T) map[string]Observation {
	thens, err := os.ReadFile("testdata/nothing.txt") // a live judge has them, too
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Observation{}
	for then := range strings.Lines(string(thens)) {
		o, ok, err := Find(strings.TrimSpace(then), "")
		if !ok || err != nil {
			t.Fatalf("%s: %t, %v", then, ok, err)
		}
		all[then] = o
	}
	return all
}

// A Then about an act fails where the act never occurred.
func TestThenOfNothing(t *testing.T) {
	for said, o := range aboutNothing(t) {
		ended := history.Entry{Seq: 1, Virtual: 2 * time.Second, Event: history.Event{Source: history.Harness, Verb: history.Ended}}
		judged := &stored{Judge: NewJudge(o, nil), own: ended.Seq}
		judged.add(ended)
		if !judged.decided || judged.err == nil {
			t.Errorf("%q holds without anything to hold of, or is undecided: %t", said, judged.decided)
		}
	}
}
