package history

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestLogReportsFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("needs /dev/full: %v", err)
	}
	log := newWithFile(full, time.Time{}, clocktesting.NewFakePassiveClock(time.Now()))
	log.Record(Event{Source: Node, Verb: "register"})
	if err := log.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Close on a full disk: %v", err)
	}
	if len(log.Events()) != 1 {
		t.Error("the memory lost an event with the disk")
	}
}

// A foreign file cannot fill the memory with its numbers: reading ends at a bound, and says so.
func TestScanEndsAtTheMostPieces(t *testing.T) {
	defer func(most int) { maxStrays = most }(maxStrays)
	maxStrays = 3
	for name, step := range map[string]int{"upwards": 2, "downwards": -2} {
		var text strings.Builder
		for n := range 6 {
			fmt.Fprintf(&text, `{"seq":%d,"source":"node","verb":"register"}`+"\n", 100+step*n)
		}
		read := 0
		problems := Scan(strings.NewReader(text.String()), func(Entry) { read++ })
		if read != 4 || len(problems) != 1 || problems[0].Line != 4 || !strings.Contains(problems[0].Error(), "more than 3 pieces") {
			t.Errorf("%s: %d events, %v", name, read, problems)
		}
	}
}

// Each number is known again with the line on which it was first, wherever it stands.
func TestNumbers(t *testing.T) {
	var seen numbers
	for line, test := range []struct {
		seq   uint64
		first int
	}{{1, 0}, {2, 0}, {2, 2}, {3, 0}, {9, 0}, {10, 0}, {1, 1}, {10, 6}, {9, 5}, {5, 0}, {5, 10}, {11, 0}, {4, 0}, {3, 4}, {11, 12}, {4, 13}} {
		if got := seen.add(test.seq, line+1); got != test.first {
			t.Errorf("%d on line %d was on line %d before, want %d", test.seq, line+1, got, test.first)
		}
	}
}
