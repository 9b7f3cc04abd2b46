//go:build linux

package clock

import (
	"math"
	"testing"
	"time"
)

// manual is a clock that moves when the test says so and fires then.
type manual struct {
	*virtualClock
	t *testing.T
}

func newManual(t *testing.T) manual {
	p := testPage(t, time.Now())
	p.set(0, 0)
	return manual{&virtualClock{page: p}, t}
}

func (m manual) step(d time.Duration) {
	m.page.set(m.page.now()+int64(d), 0)
	m.fire()
}

// received are the values in the channel now.
func received(c <-chan time.Time) (n int) {
	for {
		select {
		case <-c:
			n++
		default:
			return n
		}
	}
}

func TestTimerFiresOnce(t *testing.T) {
	c := newManual(t)
	began := c.Now()
	timer := c.NewTimer(time.Second)
	c.step(time.Second - 1)
	if n := received(timer.C()); n != 0 {
		t.Fatal("a timer fired early")
	}
	c.step(1)
	select {
	case at := <-timer.C():
		if at.Sub(began) != time.Second {
			t.Errorf("a timer of 1s fired at %s", at.Sub(began))
		}
	default:
		t.Fatal("a timer did not fire when it was due")
	}
	c.step(time.Hour)
	if n := received(timer.C()); n != 0 {
		t.Error("a timer fired twice")
	}
	if timer.Stop() {
		t.Error("Stop of a timer that has fired and been received: true")
	}
}

func TestTimerStopAndReset(t *testing.T) {
	c := newManual(t)
	timer := c.NewTimer(time.Second)
	if !timer.Stop() {
		t.Error("Stop of an active timer: false")
	}
	if timer.Stop() {
		t.Error("Stop of a stopped timer: true")
	}
	c.step(time.Hour)
	if n := received(timer.C()); n != 0 {
		t.Error("a stopped timer fired")
	}
	if timer.Reset(time.Second) {
		t.Error("Reset of a stopped timer: true")
	}
	if !timer.Reset(2 * time.Second) {
		t.Error("Reset of an active timer: false")
	}
	c.step(time.Second)
	if n := received(timer.C()); n != 0 {
		t.Error("a timer fired at its time before Reset")
	}
	c.step(time.Second)
	// It has fired, and was not received: as with Go 1.23's timers it counts
	// as not fired, so that `if !t.Stop() { <-t.C() }` doesn't hang.
	if !timer.Stop() {
		t.Error("Stop of a timer whose value was not received: false")
	}
	if n := received(timer.C()); n != 0 {
		t.Error("a stale value after Stop")
	}
	timer.Reset(0)
	c.step(0)
	if !timer.Reset(time.Second) {
		t.Error("Reset of a timer whose value was not received: false")
	}
	if n := received(timer.C()); n != 0 {
		t.Error("a stale value after Reset")
	}
	c.step(time.Second)
	if n := received(timer.C()); n != 1 {
		t.Errorf("%d values after Reset and its time, want 1", n)
	}
}

func TestTimerExtremes(t *testing.T) {
	c := newManual(t)
	never, past := c.NewTimer(math.MaxInt64), c.NewTimer(math.MinInt64)
	ticker := c.NewTicker(math.MaxInt64)
	c.step(0)
	if n := received(past.C()); n != 1 {
		t.Error("a timer of less than nothing did not fire at once")
	}
	c.step(24 * 365 * time.Hour)
	if received(never.C()) != 0 || received(ticker.C()) != 0 {
		t.Error("a timer of 292 years fired")
	}
	defer func() {
		if recover() == nil {
			t.Error("NewTicker(0) does not panic")
		}
	}()
	c.NewTicker(0)
}

func TestTicker(t *testing.T) {
	c := newManual(t)
	began := c.Now()
	ticker := c.NewTicker(10 * time.Second)
	for i := 1; i <= 3; i++ {
		c.step(10 * time.Second)
		select {
		case at := <-ticker.C():
			if want := time.Duration(i) * 10 * time.Second; at.Sub(began) != want {
				t.Errorf("tick %d at %s, want %s", i, at.Sub(began), want)
			}
		default:
			t.Fatalf("no tick %d", i)
		}
	}
	// A slow receiver misses ticks, and a late tick does not move the next.
	c.step(35 * time.Second)
	if n := received(ticker.C()); n != 1 {
		t.Errorf("%d ticks for a slow receiver, want 1", n)
	}
	c.step(5*time.Second - 1)
	if n := received(ticker.C()); n != 0 {
		t.Error("a tick before its time")
	}
	c.step(1)
	if n := received(ticker.C()); n != 1 {
		t.Error("no tick at its time after a late one")
	}
	ticker.Stop()
	c.step(time.Hour)
	if n := received(ticker.C()); n != 0 {
		t.Error("a stopped ticker ticks")
	}
	if n := c.lag.total(); n != 5 {
		t.Errorf("%d ticks, want 5: those that were missed are none", n)
	}
}

func TestAfterFunc(t *testing.T) {
	c := newManual(t)
	ran := make(chan struct{}, 2)
	f := c.AfterFunc(time.Second, func() { ran <- struct{}{} })
	stopped := c.AfterFunc(time.Second, func() { t.Error("a stopped AfterFunc ran") })
	if !stopped.Stop() {
		t.Error("Stop before the time: false")
	}
	c.step(time.Second)
	<-ran
	if f.Stop() {
		t.Error("Stop after it ran: true")
	}
	if f.Reset(time.Minute) {
		t.Error("Reset after it ran: true")
	}
	c.step(time.Minute)
	<-ran
	// It runs in a goroutine of its own, which may use the clock.
	done := make(chan struct{})
	c.AfterFunc(0, func() {
		c.NewTimer(time.Second).Stop()
		close(done)
	})
	c.step(0)
	<-done
}

// Many timers fire in any order of their making, each once and when it is due.
func TestManyTimers(t *testing.T) {
	c := newManual(t)
	const n = 500
	timers := make([]interface{ C() <-chan time.Time }, n)
	for i := range timers {
		timers[i] = c.NewTimer(time.Duration(i*7919%n) * time.Second)
	}
	c.fire()
	for s := range n {
		for i, timer := range timers {
			want := 0
			if i*7919%n == s {
				want = 1
			}
			if got := received(timer.C()); got != want {
				t.Fatalf("timer %d of %d s has %d values after %d s, want %d", i, i*7919%n, got, s, want)
			}
		}
		c.step(time.Second)
	}
	if len(c.timers) != 0 || c.next() != forever {
		t.Errorf("%d timers are left", len(c.timers))
	}
}

// How late timers fire is measured.
func TestTimerLag(t *testing.T) {
	c := newManual(t)
	c.NewTimer(time.Second)
	c.NewTicker(time.Second)
	c.step(1200 * time.Millisecond)
	got := c.lag.figures()
	if got.Timers != 2 || got.Max != 200*time.Millisecond {
		t.Errorf("%+v, want 2 timers, 200ms late", got)
	}
}
