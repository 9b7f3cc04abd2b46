//go:build linux

package clock

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func testDriver(t *testing.T, mode Mode) *Driver {
	t.Helper()
	d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Err(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.cfg.Path); !os.IsNotExist(err) {
			t.Errorf("the page is still there (%v)", err)
		}
	})
	return d
}

// atMost is the real time that an hour of nothing but waiting may take: it
// takes a fraction of a second, and the machine may be busy.
const atMost = time.Minute

// within fails the test if f takes more than atMost, and returns what it took.
func within(t *testing.T, f func()) time.Duration {
	t.Helper()
	began := time.Now()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(atMost):
		buf := make([]byte, 1<<20)
		t.Fatalf("not done in %s\n%s", atMost, buf[:runtime.Stack(buf, true)])
	}
	return time.Since(began)
}

// With nothing to do but to wait, an hour passes at once, and no timer is early.
func TestAutoJumps(t *testing.T) {
	d := testDriver(t, Auto)
	c := d.Clock()
	d.Release()
	took := within(t, func() {
		started, began := time.Now(), c.Now()
		ticks := c.NewTicker(7 * time.Minute)
		defer ticks.Stop()
		for i := range 20 {
			before := c.Now()
			wait := time.Duration(i*i) * time.Second
			at := <-c.After(wait)
			if passed := at.Sub(before); passed < wait {
				t.Errorf("a timer of %s fired after %s", wait, passed)
			}
			if now := c.Now(); now.Before(at) {
				t.Errorf("it is %s, before %s, when the timer fired", now, at)
			}
		}
		c.Sleep(began.Add(time.Hour).Sub(c.Now()))
		if passed := c.Since(began); passed < time.Hour {
			t.Errorf("%s passed, want 1h", passed)
		}
		if late := (<-ticks.C()).Sub(began) - 7*time.Minute; late < 0 || late > coarseGrain+time.Since(started) {
			t.Errorf("the first tick of 7m came %s late", late)
		}
	})
	f := d.Figures()
	t.Logf("1h in %s: %+v", took, f)
	if f.Mode != "auto" || f.Virtual < time.Hour || f.Wall > f.Virtual || f.Mean <= 1 || f.Max < f.Mean || f.Lag.Timers != 29 {
		t.Errorf("figures %+v", f)
	}
}

// While our own process works, time passes as real time does, whether it works
// in Go or in system calls, and also if it must wait for the driver to let it.
func TestAutoWaitsForUs(t *testing.T) {
	buf := make([]byte, 64<<10)
	compute := func() {}
	read := func() {
		f, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			_, err = unix.Read(f, buf)
		}
		if err != nil {
			t.Error(err)
		}
		_ = unix.Close(f)
	}
	for name, work := range map[string]func(){"computing": compute, "reading": read} {
		for procs := 1; procs <= 2; procs++ {
			t.Run(fmt.Sprintf("%s with GOMAXPROCS=%d", name, procs), func(t *testing.T) {
				before := runtime.GOMAXPROCS(procs)
				t.Cleanup(func() { runtime.GOMAXPROCS(before) }) // once the driver has taken its own back
				d := testDriver(t, Auto)
				began, start := rawNow(), d.page.now()
				d.Release()
				for rawNow()-began < int64(200*time.Millisecond) {
					work()
				}
				virtual := time.Duration(d.page.now() - start)
				real := time.Duration(rawNow() - began)
				if virtual > 2*real {
					t.Errorf("%s of virtual time passed in %s of work", virtual, real)
				}
			})
		}
	}
}

// After Hold has returned nothing jumps, until Release.
func TestHold(t *testing.T) {
	d := testDriver(t, Auto)
	d.Release()
	// Blocked in a system call we look idle: the driver would jump.
	for range 300 {
		nap := unix.NsecToTimespec(int64(200 * time.Microsecond))
		_ = unix.Nanosleep(&nap, nil)
		d.Hold()
		outer := rawNow()
		v0 := d.page.now()
		_ = unix.Nanosleep(&nap, nil)
		v1 := d.page.now()
		if real := rawNow() - outer; v1-v0 > real {
			t.Fatalf("held, %s passed in %s", time.Duration(v1-v0), time.Duration(real))
		}
		d.Release()
	}
	if f := d.Figures(); f.Mean < 2 {
		t.Errorf("released, time ran at %.1fx", f.Mean)
	}
}

// Holds count, and don't overtake each other: with one of them open, a fixed
// rate is 1x.
func TestHoldsCount(t *testing.T) {
	d := testDriver(t, Fixed(60))
	rate := func() int64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.page.header.settings[d.page.header.seq.Load()&1].milli
	}
	for i := range 2000 {
		both := []func(){d.Hold, d.Release}
		var done sync.WaitGroup
		done.Go(both[i%2])
		done.Go(both[1-i%2])
		done.Wait()
		if got := rate(); got != 1000 {
			t.Fatalf("held, time runs at %d/1000", got)
		}
	}
	d.Release()
	if got := rate(); got != 60_000 {
		t.Errorf("released, time runs at %d/1000", got)
	}
}

func TestFixed(t *testing.T) {
	for _, mode := range []Mode{Fixed(60), Fixed(0.5), Real} {
		t.Run(mode.String(), func(t *testing.T) {
			d := testDriver(t, mode)
			c := d.Clock()
			restarted := rawNow()
			d.Restart()
			outer := rawNow()
			d.Release()
			held := rawNow() - restarted // time at 1x is in the figures too
			wait := time.Duration(mode.factor * float64(50*time.Millisecond))
			before := d.page.now()
			at := <-c.After(wait)
			passed := d.page.now() - before
			real := rawNow() - outer
			if passed < int64(wait) || d.clock.wall(before).Add(wait).After(at) {
				t.Errorf("a timer of %s fired after %s", wait, time.Duration(passed))
			}
			if most := float64(real) * mode.factor; float64(passed) > most+1000 {
				t.Errorf("%s passed in %s", time.Duration(passed), time.Duration(real))
			}
			f := d.Figures()
			fastest := mode.factor + max(0, 1-mode.factor)*float64(held)/float64(f.Wall)
			if f.Mean > fastest*1.001 || f.Mode != mode.String() || f.Lag.Timers != 1 {
				t.Errorf("figures %+v", f)
			}
		})
	}
}

// Two worlds of one process don't keep each other from jumping.
func TestTwoDrivers(t *testing.T) {
	var both sync.WaitGroup
	for range 2 {
		d := testDriver(t, Auto)
		both.Go(func() {
			d.Release()
			d.Clock().Sleep(time.Hour)
		})
	}
	within(t, both.Wait)
}

// A window covers its own span only, and takes nothing from the driver's figures.
func TestWindow(t *testing.T) {
	d := testDriver(t, Fixed(60))
	d.Restart()
	d.Release()
	c, w := d.Clock(), d.Window()
	for range 2 {
		<-c.After(3 * time.Second)
		if f := w.Next(); f.Lag.Timers != 1 || f.Virtual < 3*time.Second || f.Mean < 59 || f.Mean > 61 {
			t.Errorf("figures %+v", f)
		}
	}
	if f := w.Next(); f.Lag.Timers != 0 || f.Lag.Max != 0 {
		t.Errorf("figures %+v of a span without a timer", f)
	}
	if f := d.Figures(); f.Lag.Timers != 2 || f.Virtual < 6*time.Second {
		t.Errorf("figures %+v of all", f)
	}
}

// Restart begins the figures anew; Close keeps them, and Clock stays readable.
func TestRestartAndClose(t *testing.T) {
	d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock")})
	if err != nil {
		t.Fatal(err)
	}
	d.Release()
	c := d.Clock()
	within(t, func() { c.Sleep(time.Minute) })
	if f := d.Figures(); f.Lag.Timers != 1 || f.Virtual < time.Minute {
		t.Errorf("figures %+v, want a timer and a minute", f)
	}
	d.Hold()
	d.Restart()
	if f := d.Figures(); f.Lag.Timers != 0 || f.Virtual > time.Second+f.Wall {
		t.Errorf("figures %+v after Restart", f)
	}
	d.Release()
	within(t, func() { c.Sleep(time.Minute) })
	for d.Figures().Wall < 2*window {
		c.Sleep(time.Second)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	f := d.Figures()
	if f.Lag.Timers == 0 || f.Virtual < time.Minute || f.Max < f.Mean {
		t.Errorf("figures %+v after Close", f)
	}
	var sum float64
	for _, s := range f.Shares {
		sum += s.Part
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("shares %+v make %g", f.Shares, sum)
	}
	before := c.Now()
	if c.Since(before) < 0 {
		t.Error("time goes back after Close")
	}
	d.Hold()
	d.Release()
}
