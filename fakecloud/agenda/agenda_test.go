package agenda_test

import (
	"slices"
	"testing"
	"time"

	"nodestorm/fakecloud/agenda"
)

// What is due is taken by its time, and of one time as it was added; what is not due stays.
func TestOrder(t *testing.T) {
	var a agenda.Agenda
	if !a.Due().IsZero() {
		t.Error("something is due of nothing")
	}
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var done []int
	for k, seconds := range []time.Duration{3, 1, 2, 1, 9} {
		a.Add(start.Add(seconds*time.Second), func() { done = append(done, k) })
	}
	for at, do, ok := a.Take(start.Add(3 * time.Second)); ok; at, do, ok = a.Take(start.Add(3 * time.Second)) {
		if at.After(start.Add(3 * time.Second)) {
			t.Errorf("what is due at %s is taken", at)
		}
		do()
	}
	if !slices.Equal(done, []int{1, 3, 2, 0}) || !a.Due().Equal(start.Add(9*time.Second)) {
		t.Errorf("done %v, due %s", done, a.Due())
	}
}
