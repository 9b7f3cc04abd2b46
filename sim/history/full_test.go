package history

import (
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
