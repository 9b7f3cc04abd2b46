//go:build linux

package clock

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/disktest"
	"nodestorm/sim/time/lag"
)

// named is what the figures say of the program of that name.
func named(d *Driver, name string) (p lag.Program) {
	for _, p := range d.Figures().Programs {
		if p.Name == name {
			return p
		}
	}
	return lag.Program{}
}

// tooLong is how long programs are held up here, in real time: a bit more than they
// may be.
const tooLong = lag.Longest + time.Second

// A program that is stopped is named, with the figures of its own; those of the others
// stay as they are, and time waits for it.
func TestStoppedProgram(t *testing.T) {
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "tick", "1s")
	other := start(t, d.Env(), "actor", "tick", "1s")
	d.Name(victim.cmd.Process.Pid, "victim")
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
	if p.Lag.Timers < 20 || p.Stopped < lag.Longest || p.Lag.Max < lag.Longest || int64(p.Lag.Max) > virtual+int64(time.Second) || p.Disk != 0 {
		t.Errorf("of a program that was stopped for %s: %+v", tooLong, p)
	}
	if o := named(d, "actor"); o.Stopped != 0 || o.Lag.Max > lag.Longest || o.Lag.Timers < 20 {
		t.Errorf("of the other: %+v", o)
	}
	why := d.Figures().Distorted()
	if !strings.Contains(why, "victim: stopped for ") || strings.Contains(why, "actor:") {
		t.Errorf("the reason is %q", why)
	}
	// It stays named when it is gone, until the figures begin anew.
	_ = victim.cmd.Process.Kill()
	eventually(t, "its slot is free", func() bool { return d.page.slots[0].pid.Load() == 0 })
	if again := named(d, "victim"); again.Stopped != p.Stopped || again.Lag.Max != p.Lag.Max {
		t.Errorf("gone, it has %+v; it had %+v", again, p)
	}
	total := d.Figures().Lag
	d.Count()
	f := d.Figures()
	if strings.Contains(f.Distorted(), "victim") || named(d, "victim").Name != "" || f.Lag.Timers < total.Timers || f.Lag.Max < lag.Longest {
		t.Errorf("counted anew: %q, %+v", f.Distorted(), f)
	}
}

// A program that stays stopped is named all the same.
func TestStoppedForGood(t *testing.T) {
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "signal")
	d.Name(victim.cmd.Process.Pid, "victim")
	d.Release()
	if err := victim.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stop is seen", func() bool { return strings.Contains(d.Figures().Distorted(), "victim: stopped for ") })
}

// stopMe is set in the process that TestStoppedOurselves stops: one more of this test.
const stopMe = "NODESTORM_TEST_STOP_ME"

// That we were stopped ourselves shows when we go on, wherever the driver was, and
// also if no timer of ours was due.
func TestStoppedOurselves(t *testing.T) {
	if os.Getenv(stopMe) != "" {
		stoppedOurselves(t)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), atMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestStoppedOurselves$")
	cmd.Env = append(os.Environ(), stopMe+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	const stop = time.Second / 4
	for i := range 10 {
		lines.Scan()
		if lines.Text() != "ready" {
			t.Fatalf("it says %q", lines.Text())
		}
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if s == syscall.SIGSTOP {
				time.Sleep(stop)
			}
		}
		fmt.Fprintln(in)
		lines.Scan()
		// A thread at work is stopped at its next interrupt.
		if seen, err := time.ParseDuration(lines.Text()); err != nil || seen < stop/2 {
			t.Errorf("stop %d, of %s, is %q, %v", i, stop, lines.Text(), err)
		}
	}
	_ = in.Close()
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// stoppedOurselves says for how long it was stopped, for each line that it reads. Its
// driver spends most of its time in jumps: they have many threads to look at.
func stoppedOurselves(t *testing.T) {
	for range 300 {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
	d := testDriver(t, Auto)
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			asked <- struct{}{}
		}
	}()
	d.Release()
	fmt.Println("ready")
	for {
		select {
		case _, more := <-asked:
			if !more {
				return
			}
			d.Clock().Sleep(time.Second) // what the driver does next is to look
			fmt.Println(named(d, OurName).Stopped)
			d.Count()
			fmt.Println("ready")
		case <-d.Clock().After(time.Second):
		}
	}
}

// Programs of one name are one: an operator that was restarted, say.
func TestOneName(t *testing.T) {
	d := testDriver(t, Auto)
	for range 3 {
		m := start(t, d.Env(), "actor", "lag", "3000000000", "1000")
		d.Name(m.cmd.Process.Pid, "again")
		within(t, func() { m.Scan() })
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
	}
	eventually(t, "all slots are free", func() bool { return d.page.slots[0].pid.Load() == 0 })
	if p := named(d, "again"); p.Lag.Timers != 6 || p.Lag.Max != 3*time.Second {
		t.Errorf("three programs of a name have %+v", p)
	}
}

// While threads wait for a disk, ours or another program's, time passes as real time
// does, and the wait is theirs.
func TestDisk(t *testing.T) {
	dir, stall := disktest.New(t)
	d := testDriver(t, Auto)
	m := start(t, d.Env(), "actor", "write", filepath.Join(dir, "theirs"))
	d.Name(m.cmd.Process.Pid, "victim")
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
		if p := named(d, name); p.Disk < lag.Longest || p.Disk > 2*real {
			t.Errorf("of a stall of %s of real time: %+v", real, p)
		}
		if why := d.Figures().Distorted(); !strings.Contains(why, name+": waited ") {
			t.Errorf("the reason is %q, without %s", why, name)
		}
	}
}

// A parent waits as for a disk until its child has begun, see vfork(2), and the child
// for a file until no process holds a lease of it, see fcntl(2).
func TestWaitForChild(t *testing.T) {
	d := testDriver(t, Auto)
	program := filepath.Join(t.TempDir(), "program")
	release := leased(t, program)
	m := start(t, d.Env(), "actor", "run", program)
	d.Name(m.cmd.Process.Pid, "victim")
	d.Release()
	time.Sleep(tooLong)
	release()
	within(t, func() { m.Scan() })
	if p := named(d, "victim"); p.Disk < lag.Longest || p.Stopped != 0 {
		t.Errorf("of a wait of %s: %+v", tooLong, p)
	}
}

// leased makes a program that cannot be started before the returned function is called.
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
