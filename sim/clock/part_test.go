//go:build linux

package clock

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/clock/disktest"
)

// named is what the figures say of the program of that name.
func named(d *Driver, name string) (p Program) {
	for _, p := range d.Figures().Programs {
		if p.Name == name {
			return p
		}
	}
	return Program{}
}

// tooLong is how long programs are held up here, in real time: a bit more than they
// may be.
const tooLong = Longest + time.Second

// A program that is stopped is named, with the figures of its own; those of the others
// stay as they are, and time waits for it.
func TestStoppedProgram(t *testing.T) {
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "tick", "1s")
	other := start(t, d.Env(), "actor", "tick", "1s")
	d.Name(victim.cmd.Process.Pid, "victim", true)
	d.Release()
	within(t, func() {
		for range 20 {
			victim.Scan()
			other.Scan()
		}
	})
	go func() { // both are read on: their pipes must not fill
		for other.Scan() {
		}
	}()
	if why := d.Figures().Distorted(); why != "" {
		t.Fatalf("before: %s", why)
	}
	began, before := rawNow(), d.page.now()
	if err := victim.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(tooLong)
	if err := victim.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	virtual, real := d.page.now()-before, rawNow()-began
	if virtual > 2*real {
		t.Errorf("%s of virtual time passed in %s of a program's stop", time.Duration(virtual), time.Duration(real))
	}
	within(t, func() {
		for range 5 {
			victim.Scan()
		}
	})
	p := named(d, "victim")
	if !p.Vital || p.Lag.Timers < 20 || p.Stopped < Longest || p.Lag.Max < Longest || int64(p.Lag.Max) > virtual+int64(time.Second) || p.Disk != 0 {
		t.Errorf("of a program that was stopped for %s: %+v", tooLong, p)
	}
	if o := named(d, "actor"); o.Vital || o.Stopped != 0 || o.Lag.Max > Longest || o.Lag.Timers < 20 {
		t.Errorf("of the other: %+v", o)
	}
	why := d.Figures().Distorted()
	if !strings.Contains(why, "victim: stopped for ") || strings.Contains(why, "actor:") {
		t.Errorf("the reason is %q", why)
	}
	// It stays named when it is gone, until the figures begin anew.
	_ = victim.cmd.Process.Kill()
	eventually(t, "its slot is free", func() bool { return d.page.slots[0].pid.Load() == 0 })
	if again := named(d, "victim"); again.Stopped != p.Stopped || again.Lag.Max != p.Lag.Max || !again.Vital {
		t.Errorf("gone, it has %+v; it had %+v", again, p)
	}
	total := d.Figures().Lag
	d.Count()
	f := d.Figures()
	if strings.Contains(f.Distorted(), "victim") || named(d, "victim").Name != "" || f.Lag.Timers < total.Timers || f.Lag.Max < Longest {
		t.Errorf("counted anew: %q, %+v", f.Distorted(), f)
	}
}

// A program that stays stopped is named all the same.
func TestStoppedForGood(t *testing.T) {
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "signal")
	d.Name(victim.cmd.Process.Pid, "victim", true)
	d.Release()
	if err := victim.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stop is seen", func() bool { return strings.Contains(d.Figures().Distorted(), "victim: stopped for ") })
}

// That we were stopped ourselves shows when we go on, also if no timer of ours was due.
func TestStoppedOurselves(t *testing.T) {
	d := testDriver(t, Auto)
	d.Release()
	if why := d.Figures().Distorted(); why != "" {
		t.Fatalf("before: %s", why)
	}
	d.mu.Lock() // what the driver does next is to look
	time.Sleep(tooLong)
	d.mu.Unlock()
	eventually(t, "the stop is seen", func() bool { return strings.Contains(d.Figures().Distorted(), "nodestorm: stopped for ") })
}

// Programs of one name are one: an operator that was restarted, say.
func TestOneName(t *testing.T) {
	d := testDriver(t, Auto)
	for range 3 {
		m := start(t, d.Env(), "actor", "lag", "3000000000", "1000")
		d.Name(m.cmd.Process.Pid, "again", true)
		within(t, func() { m.Scan() })
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
	}
	eventually(t, "all slots are free", func() bool { return d.page.slots[0].pid.Load() == 0 })
	if p := named(d, "again"); p.Lag.Timers != 6 || p.Lag.Max != 3*time.Second || !p.Vital {
		t.Errorf("three programs of a name have %+v", p)
	}
}

// While threads wait for a disk, ours or another program's, time passes as real time
// does, and the wait is theirs.
func TestDisk(t *testing.T) {
	dir, stall := disktest.New(t)
	d := testDriver(t, Auto)
	m := start(t, d.Env(), "actor", "write", filepath.Join(dir, "theirs"))
	d.Name(m.cmd.Process.Pid, "victim", true)
	stop := make(chan struct{})
	var writing sync.WaitGroup
	defer writing.Wait()
	defer close(stop)
	writing.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-d.Clock().After(time.Second / 10):
				if err := os.WriteFile(filepath.Join(dir, "ours"), []byte("line\n"), 0o600); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	d.Release()
	defer d.Hold()
	within(t, func() { m.Scan(); m.Scan(); m.Scan() })
	began := time.Now()
	stall(tooLong)
	real := time.Since(began)
	for _, name := range []string{"victim", OurName} {
		if p := named(d, name); p.Disk < Longest || p.Disk > 2*real || !p.Vital {
			t.Errorf("of a stall of %s of real time: %+v", real, p)
		}
		if why := d.Figures().Distorted(); !strings.Contains(why, name+": waited ") {
			t.Errorf("the reason is %q, without %s", why, name)
		}
	}
}

// A parent waits as for a disk until its child has begun, see vfork(2), and the child
// for a file until nobody holds a lease of it, see fcntl(2).
func TestWaitForChild(t *testing.T) {
	d := testDriver(t, Auto)
	program := filepath.Join(t.TempDir(), "program")
	release := leased(t, program)
	m := start(t, d.Env(), "actor", "run", program)
	d.Name(m.cmd.Process.Pid, "victim", true)
	d.Release()
	time.Sleep(tooLong)
	release()
	within(t, func() { m.Scan() })
	if p := named(d, "victim"); p.Disk < Longest || p.Stopped != 0 {
		t.Errorf("of a wait of %s: %+v", tooLong, p)
	}
}

// leased makes a program that nobody can start before the returned function is called.
func leased(t *testing.T, path string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("no lease of a file to be had in %s: %v", filepath.Dir(path), err)
	}
	release = sync.OnceFunc(func() { _ = f.Close() })
	t.Cleanup(release)
	return release
}

func TestParseStatus(t *testing.T) {
	for text, want := range map[string]string{
		"Name:\tState:\tT x\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t39\nnonvoluntary_ctxt_switches:\t23\n": "S 39",
		"Name:\tkarpenter\nState:\tD (disk sleep)\nvoluntary_ctxt_switches:\t7\n":                                   "D 7",
		"": "\x00 ", "\nState:\t": "\x00 ",
	} {
		if state, switches := parseStatus(text); string(state)+" "+switches != want {
			t.Errorf("%q is %c %s, want %s", text, state, switches, want)
		}
	}
}
