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
	if len(log.Records()) != 1 {
		t.Error("the memory lost a record with the disk")
	}
}

// A foreign file cannot fill the memory: reading ends at a bound, and says so.
func TestReadEndsAtTheMostRecords(t *testing.T) {
	defer func(most int) { maxRecords = most }(maxRecords)
	maxRecords = 3
	var text strings.Builder
	for seq := range 5 {
		fmt.Fprintf(&text, `{"seq":%d,"source":"node","verb":"register"}`+"\n", seq+1)
	}
	records, problems := Read(strings.NewReader(text.String()))
	if len(records) != 3 || len(problems) != 1 || problems[0].Line != 4 || !strings.Contains(problems[0].Error(), "more than 3 records") {
		t.Errorf("%d records, %v", len(records), problems)
	}
}
