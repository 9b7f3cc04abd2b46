package world_test

import (
	"strings"
	"testing"

	"nodestorm/harness/world/process"
	"nodestorm/sim/time/clock"
)

// A world ends because of the program that was there first, also where the end of one that needs
// it is noticed before.
func TestDeathNoticedLate(t *testing.T) {
	w := start(t, config(t, clock.Real))
	var started []*process.Process
	for _, name := range []string{"storage", "its client"} {
		p, err := w.StartComponent(t.Context(), process.Spec{Name: name, Path: "/bin/sleep", Args: []string{"1000"}})
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, p)
	}
	for _, i := range []int{1, 0} {
		if err := started[i].Signal(9); err != nil {
			t.Fatal(err)
		}
		<-started[i].Exited()
	}
	<-w.Done()
	if err := w.Err(); !strings.HasPrefix(err.Error(), "storage ended") {
		t.Errorf("the world ended because of %v, want storage, without which its client ends", err)
	}
}
