package world

import (
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/sim/history"
)

// What the race detector says of one race is one event; the rest of the output is none.
func TestRaces(t *testing.T) {
	log := history.New(time.Unix(0, 0), testclock.NewFakePassiveClock(time.Unix(0, 0)))
	see := races(log, "cluster-autoscaler")
	for line := range strings.Lines(`I0101 00:00:01.500000       1 static_autoscaler.go:287] Starting main loop
==================
WARNING: DATA RACE
Read at 0x00c000126330 by goroutine 7:
  runtime.mapaccess1_faststr()
      runtime/map_faststr_swiss.go:12 +0x0
  example.org/delays.(*Processor).Candidates.func1()
      example.org/delays/processor.go:66 +0x44
  main.main()
      example.org/main.go:8 +0x3c

Previous write at 0x00c000126330 by goroutine 6 (running):
  example.org/delays.(*Processor).RegisterScaleDown()
      example.org/delays/processor.go:105 +0x84

Goroutine 7 (running) created at:
  main.main()
      example.org/main.go:7 +0x3c
==================
==================
a line of the program's own
Found 1 data race(s)
`) {
		see([]byte(strings.TrimSuffix(line, "\n")))
	}
	events := log.Events()
	if len(events) != 1 {
		t.Fatalf("there are %d events: %v", len(events), events)
	}
	const want = "read in example.org/delays.(*Processor).Candidates.func1 (processor.go:66), write in example.org/delays.(*Processor).RegisterScaleDown (processor.go:105)"
	if r := events[0]; r.Source != history.Logged || r.Verb != raced || r.Actor != "cluster-autoscaler" || r.Detail["message"] != want {
		t.Errorf("it says %+v, want %q", r, want)
	}
}
