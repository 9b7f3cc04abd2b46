package queue

import (
	"testing"
	"time"
)

// A machine of which one knows that one job leaves too little for a second bears one.
func TestAtOnce(t *testing.T) {
	for _, test := range []struct {
		load Load
		want int
	}{
		{Load{2, 1.3, 0.6}, 1},    // two processors, and a world of today
		{Load{2, 0.5, 1.5}, 3},    // one that mostly waits
		{Load{16, 1.4, 14.5}, 9},  // sixteen
		{Load{16, 1.4, 0.5}, 1},   // on which others work
		{Load{2, 1.3, 14}, 1},     // of which we may use two
		{Load{2, 2.4, 0}, 1},      //
		{Load{2, 0, 2}, 1},        // it cannot be determined
		{Load{64, 1.4, 62.5}, 36}, //
	} {
		if got := test.load.AtOnce(); got != test.want {
			t.Errorf("%v: %d, want %d", test.load, got, test.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	idle, err := parseStat([]byte("cpu  100 20 30 400 50 1 2 70 9 9\ncpu0 1 2 3\n"))
	if err != nil || idle != 4500*time.Millisecond {
		t.Errorf("idle %v, %v", idle, err)
	}
	for _, text := range []string{"", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"} {
		if _, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// What this machine says can be read.
func TestThisMachine(t *testing.T) {
	m, err := NewMeter()
	if err != nil {
		t.Fatal(err) // nodestorm runs on Linux, which has /proc/stat
	}
	l, err := m.Load()
	if err != nil || l.Processors < 1 {
		t.Errorf("%+v, %v", l, err)
	}
}
