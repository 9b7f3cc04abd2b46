package story

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
)

// A foreign file cannot fill the memory, and what is left out of its story is told.
func TestStoryEndsAtTheMostRecords(t *testing.T) {
	defer func(most int) { maxRecords = most }(maxRecords)
	maxRecords = 3
	told := From(Run{}, func(each func(history.Record)) []string {
		for seq := range 5 {
			each(history.Record{Seq: uint64(seq + 1), Event: history.Event{Source: history.Node, Verb: "register"}})
		}
		return nil
	})
	if problems := strings.Join(told.Run.Problems, "; "); len(told.Events) != 3 || !strings.Contains(problems, "more than 3 records") || !strings.Contains(problems, "the last 2") {
		t.Errorf("%d records, %s", len(told.Events), problems)
	}
}
