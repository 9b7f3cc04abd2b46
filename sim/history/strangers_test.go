package history

import (
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// Very many calls of strangers are a few events, the last of which has all of them, and none is after the end.
func TestStrangers(t *testing.T) {
	for calls, want := range map[int][]uint64{0: nil, 1: {1}, 2: {1, 2}, 7: {1, 2, 4, 7}, 8: {1, 2, 4, 8}, 100_000: nil} {
		log := New(time.Time{}, clock.RealClock{})
		s := CountStrangers(log, "the way out")
		for range calls {
			s.Came()
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		s.Came()
		events := log.Events()
		if calls > 9 {
			if last := events[len(events)-1]; len(events) > 22 || last.Detail["of"] != uint64(calls) {
				t.Errorf("%d calls are %d events, the last of them %v", calls, len(events), last)
			}
			continue
		}
		if len(events) != len(want) {
			t.Errorf("%d calls are %v", calls, events)
			continue
		}
		for i, r := range events {
			if r.Source != Harness || r.Verb != Uninvited || r.Actor != "" || r.Object.String() != "listeners/the way out" || r.Detail["of"] != want[i] {
				t.Errorf("%d calls: %+v, want %d", calls, r, want[i])
			}
		}
	}
}
