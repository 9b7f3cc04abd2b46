package queue

import (
	"math"
	"testing"
	"time"
)

// made is a made-up trace in seconds.
func made(busy ...float64) Trace { return Trace{Step: time.Second, Busy: busy} }

func repeated(t Trace, n int) (list []Trace) {
	for range n {
		list = append(list, t)
	}
	return list
}

// Made-up jobs whose times can be told in one's head.
func TestPredict(t *testing.T) {
	works, waits := made(2, 2, 2, 2), made(0, 0, 0, 0)
	for _, test := range []struct {
		name string
		on   Machine
		jobs []Trace
		want float64 // seconds
	}{
		{"one after the other", Machine{2, 1}, repeated(works, 3), 12},
		{"nothing is gained where all is busy", Machine{2, 2}, repeated(works, 4), 16},
		{"all is gained where all waits", Machine{2, 4}, repeated(waits, 4), 4},
		{"more processors bear more", Machine{16, 8}, repeated(works, 8), 4},
		{"but not without limit", Machine{16, 16}, repeated(works, 16), 8},
		{"one at a time has no use for more", Machine{16, 1}, repeated(works, 2), 8},
		{"the longest job holds up", Machine{16, 16}, append(repeated(works, 3), made(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), 10},
		// 2 s side by side at half the speed, then each as if alone.
		{"half busy, half waiting", Machine{2, 2}, repeated(made(2, 0), 2), 3},
		// Together 1.5 of one processor: 4 s of 1.5 times the time.
		{"a bit too much", Machine{1, 2}, repeated(made(0.75, 0.75, 0.75, 0.75), 2), 6},
		// The third begins when the first ends, at 1 s.
		{"as soon as one ends", Machine{8, 2}, []Trace{made(1), made(1, 1, 1), made(1, 1)}, 3},
		{"nothing to do", Machine{2, 2}, nil, 0},
		{"jobs without a slice", Machine{2, 2}, []Trace{{}, {Step: time.Second}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.on.Predict(test.jobs)
			if math.Abs(got.Seconds()-test.want) > 1e-6 {
				t.Errorf("%v, want %v s", got, test.want)
			}
			work, longest := test.on.Bounds(test.jobs)
			if least := max(work, longest); got < least-time.Microsecond {
				t.Errorf("%v, and the bounds are %v and %v", got, work, longest)
			}
		})
	}
}

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
		{Load{2, 0, 2}, 1},        // it cannot be told
		{Load{64, 1.4, 62.5}, 36}, //
	} {
		if got := test.load.AtOnce(); got != test.want {
			t.Errorf("%v: %d, want %d", test.load, got, test.want)
		}
	}
}

// Where slices are of others' work too, they are made less; a job has the slices of its time.
func TestTraces(t *testing.T) {
	began := time.Now()
	s := &Sampler{began: began, step: time.Second, busy: []float64{1, 2, 0.5, 2, 2, 0}}
	traces := []Trace{s.Trace(began, 2*time.Second), s.Trace(began.Add(2*time.Second), 3*time.Second), s.Trace(began.Add(time.Hour), time.Second)}
	if n := []int{len(traces[0].Busy), len(traces[1].Busy), len(traces[2].Busy)}; n[0] != 2 || n[1] != 3 || n[2] != 0 {
		t.Fatalf("%d slices", n)
	}
	if got := traces[1].Waits(); math.Abs(got-1.0/3) > 1e-9 {
		t.Errorf("it waits %.2f of its time", got)
	}
	Scale(traces, 3750*time.Millisecond) // half of what was seen
	if a, b := traces[0].Work(), traces[1].Work(); a != 1500*time.Millisecond || b != 2250*time.Millisecond || s.busy[0] != 1 {
		t.Errorf("%v and %v of work; the sampler has %v", a, b, s.busy)
	}
}

func TestParseStat(t *testing.T) {
	idle, busy, err := parseStat([]byte("cpu  100 20 30 400 50 1 2 70 9 9\ncpu0 1 2 3\n"))
	if err != nil || idle != 4500*time.Millisecond || busy != 1530*time.Millisecond {
		t.Errorf("idle %v, busy %v, %v", idle, busy, err)
	}
	for _, text := range []string{"", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"} {
		if _, _, err := parseStat([]byte(text)); err == nil {
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
