package story

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
)

// A foreign file cannot fill the memory, and what is left out of its story is reported.
func TestStoryEndsAtTheMostEvents(t *testing.T) {
	defer func(most int) { maxEvents = most }(maxEvents)
	maxEvents = 3
	s := From(Run{}, func(each func(history.Entry)) []string {
		for seq := range 5 {
			each(history.Entry{Seq: uint64(seq + 1), Event: history.Event{Source: history.Node, Verb: "register"}})
		}
		return nil
	})
	if problems := strings.Join(s.Run.Problems, "; "); len(s.Events) != 3 || !strings.Contains(problems, "more than 3 events") || !strings.Contains(problems, "the last 2") {
		t.Errorf("%d events, %s", len(s.Events), problems)
	}
}
