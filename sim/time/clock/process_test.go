//go:build linux

package clock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/overlay"
)

// member is a running program of testdata.
type member struct {
	*bufio.Scanner // over its output; the first line has been read
	cmd            *exec.Cmd
	stdin          io.Closer
}

func start(t *testing.T, env, name string, args ...string) member {
	t.Helper()
	cmd := exec.Command(program(t, name), args...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	m := member{bufio.NewScanner(out), cmd, in}
	if !m.Scan() {
		t.Fatalf("%s said nothing", name)
	}
	return m
}

// pings reads n lines of a pinger that asks every second, and checks that each
// request's time was consistent, and that no time was lost while one was under
// way: all of them take n seconds and what passed in real time.
func pings(t *testing.T, d *Driver, client member, n int) {
	t.Helper()
	d.Restart()
	d.Release()
	defer d.Hold()
	began := d.Clock().Now()
	outer := time.Now()
	for i := range n {
		if !client.Scan() {
			t.Fatalf("pinger ended after %d pings", i)
		}
		var at, took int64
		var agrees bool
		if _, err := fmt.Sscan(client.Text(), &at, &agrees, &took); err != nil {
			t.Fatal(err)
		}
		if !agrees {
			t.Errorf("ping %d: the peer's time is not between the request and the reply", i)
		}
	}
	virtual, real := d.Clock().Since(began), time.Since(outer)
	t.Logf("%d pings took %s of virtual time, %s of real time: %+v", n, virtual, real, d.Figures())
	if least := time.Duration(n-2) * time.Second; virtual < least {
		t.Errorf("%d pings, one a second, took %s", n, virtual)
	}
	if d.cfg.Mode == Auto && virtual > time.Duration(n+1)*time.Second+real {
		t.Errorf("%d pings, one a second, took %s", n, virtual)
	}
	if f := d.Figures(); f.Lag.Timers < uint64(n)/2 {
		t.Errorf("%d timers measured during %d pings", f.Lag.Timers, n)
	}
}

// Two programs agree on the time while a quarter of an hour passes.
func TestOneTimeForAllPrograms(t *testing.T) {
	for mode, n := range map[Mode]int{Auto: 1000, Fixed(60): 60} {
		t.Run(mode.String(), func(t *testing.T) {
			d := testDriver(t, mode)
			server := start(t, d.Env(), "pinger")
			addr := server.Text()
			if !strings.HasPrefix(addr, "127.0.0.1:") {
				t.Errorf("a program of the world listens on %s, not on loopback only", addr)
			}
			pings(t, d, start(t, d.Env(), "pinger", addr, "1s"), n)
		})
	}
}

// The same with a server of our own, which lives by Clock.
func TestOneTimeForUs(t *testing.T) {
	d := testDriver(t, Auto)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(d.Clock().Now().UnixNano()); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	pings(t, d, start(t, d.Env(), "pinger", strings.TrimPrefix(server.URL, "http://"), "1s"), 1000)
}

// A program whose poller no thread waits for does not hold time up.
func TestProgramWithoutTimers(t *testing.T) {
	d := testDriver(t, Auto)
	start(t, d.Env(), "actor", "signal")
	d.Release()
	took := within(t, func() { d.Clock().Sleep(time.Hour) })
	t.Logf("1h in %s", took)
}

// While a program works, or waits for the kernel for a moment, time passes as real
// time does.
func TestBusyProgram(t *testing.T) {
	for _, work := range []string{"spin", "doze"} {
		t.Run(work, func(t *testing.T) {
			d := testDriver(t, Auto)
			start(t, d.Env(), "actor", work)
			began, before := rawNow(), d.page.now()
			d.Release()
			for rawNow()-began < int64(300*time.Millisecond) {
				nap := unix.NsecToTimespec(int64(10 * time.Millisecond))
				_ = unix.Nanosleep(&nap, nil)
			}
			virtual := time.Duration(d.page.now() - before)
			real := time.Duration(rawNow() - began)
			if virtual > 2*real {
				t.Errorf("%s of virtual time passed in %s of a program's work", virtual, real)
			}
		})
	}
}

// A program that sleeps when the rate changes does not sleep on at the old rate.
func TestRateWakesSleepers(t *testing.T) {
	d := testDriver(t, Fixed(1000))
	m := start(t, d.Env(), "actor", "tick", "50s")
	eventually(t, "the program sleeps", func() bool { return d.page.slots[0].wakeAt.Load() > 0 })
	d.Release()
	within(t, func() { m.Scan() })
	// At the old rate the tick would come after 50 s of real time.
	if late := d.Figures().Lag.Max; late > 1000*20*time.Second {
		t.Errorf("a tick came %s late", late)
	}
}

// A program that is killed holds nothing up: its slot is free again, also while
// it has not been waited for, and what its timers' lag was stays counted.
func TestKilledProgram(t *testing.T) {
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "tick", "1s")
	other := start(t, d.Env(), "actor", "tick", "1s")
	d.Release()
	within(t, func() {
		for range 100 {
			victim.Scan()
		}
	})
	slotOf := func(pid int) int {
		for i := range d.page.slots {
			if int(d.page.slots[i].pid.Load()) == pid {
				return i
			}
		}
		return -1
	}
	slot := slotOf(victim.cmd.Process.Pid)
	if slot < 0 {
		t.Fatal("the program has no slot")
	}
	if err := victim.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slot of a killed program is free", func() bool { return d.page.slots[slot].pid.Load() == 0 })
	d.mu.Lock()
	gone, slotLag := d.gone.total(), d.page.slots[slot].histogram()
	d.mu.Unlock()
	if gone < 90 || slotLag.total() != 0 {
		t.Errorf("%d timers remembered and %d still in the slot after 100 ticks", gone, slotLag.total())
	}
	within(t, func() { d.Clock().Sleep(time.Hour) })
	// The next program gets the slot, and all of it is new.
	next := start(t, d.Env(), "actor", "tick", "1s")
	if got := slotOf(next.cmd.Process.Pid); got != slot {
		t.Errorf("the next program has slot %d, want %d", got, slot)
	}
	within(t, func() {
		for range 100 {
			if !next.Scan() || !other.Scan() {
				t.Error("a program ended")
				return
			}
		}
	})
}

// Programs that come and go at once, by any end, do no harm.
func TestShortPrograms(t *testing.T) {
	d := testDriver(t, Auto)
	d.Release()
	for i := range 30 {
		cmd := exec.Command(program(t, "actor"), "lag")
		cmd.Env = append(os.Environ(), d.Env())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%10) * time.Millisecond) // wherever it is by then
		if i%2 == 0 {
			_ = cmd.Process.Kill()
		}
		defer func() { _ = cmd.Wait() }() // a zombie until then
	}
	within(t, func() { d.Clock().Sleep(time.Hour) })
	eventually(t, "all slots are free", func() bool {
		for i := range d.page.slots {
			if d.page.slots[i].pid.Load() != 0 {
				return false
			}
		}
		return true
	})
}

// A slot whose program died before the driver saw it is freed, whether or not
// the program has been waited for.
func TestDeadOnArrival(t *testing.T) {
	d := testDriver(t, Auto)
	d.Release()
	for _, waited := range []bool{false, true} {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		if waited {
			_ = cmd.Wait()
		} else {
			defer func() { _ = cmd.Wait() }()
			var info unix.Siginfo
			if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
				t.Fatal(err)
			}
		}
		s := &d.page.slots[0].slot
		s.busy.Store(1)
		s.epfd.Store(4)
		s.pid.Store(int32(pid))
		eventually(t, "the slot is free", func() bool { return s.pid.Load() == 0 })
		within(t, func() { d.Clock().Sleep(time.Hour) })
	}
}

// With every slot taken, the next program ends and says why; those that are
// there live on.
func TestNoSlot(t *testing.T) {
	d := testDriver(t, Fixed(60))
	for i := range d.page.slots {
		d.page.slots[i].pid.Store(int32(os.Getpid()))
	}
	out, status := failing(t, d.Env())
	if status != 125 || !strings.Contains(out, "no free slot in the clock page "+d.cfg.Path) {
		t.Errorf("exit status %d, %q", status, out)
	}
	eventually(t, "the driver has seen all slots", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.procs) == overlay.SlotCount
	})
}

// A program whose page is none ends and says so.
func TestNoPage(t *testing.T) {
	zeros := filepath.Join(t.TempDir(), "zeros")
	if err := os.WriteFile(zeros, make([]byte, overlay.PageSize), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		zeros:       "not a clock page of this version: " + zeros,
		zeros + "x": "cannot open the clock page " + zeros + "x",
	} {
		if out, status := failing(t, EnvPage+"="+path); status != 125 || !strings.Contains(out, want) {
			t.Errorf("exit status %d, %q, want 125 and %q", status, out, want)
		}
	}
}

// failing runs a program that must end by itself with an error.
func failing(t *testing.T, env string) (out string, status int) {
	t.Helper()
	cmd := exec.Command(program(t, "actor"), "tick", "1s")
	cmd.Env = append(os.Environ(), env)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	within(t, func() { _ = cmd.Run() })
	return b.String(), cmd.ProcessState.ExitCode()
}

// Without the clock in its environment a program lives in real time.
func TestProgramOutsideWorlds(t *testing.T) {
	for _, env := range []string{"NODESTORM_OTHER=1", EnvPage + "="} {
		before := time.Now().UnixNano()
		m := start(t, env, "actor", "tick", "1s")
		var at int64
		if _, err := fmt.Sscanf(m.Text(), "ready %d", &at); err != nil {
			t.Fatal(err)
		}
		if now := time.Now().UnixNano(); at < before || at > now {
			t.Errorf("with %s a program's time is %d, not in %d to %d", env, at, before, now)
		}
		first := time.Now()
		within(t, func() { m.Scan(); m.Scan() })
		if real := time.Since(first); real < time.Second {
			t.Errorf("two ticks of 1s took %s", real)
		}
	}
}

// A world may live at another time than ours, and its programs know.
func TestStart(t *testing.T) {
	began := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: Fixed(2), Start: began})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m := start(t, d.Env(), "actor", "tick", "1s")
	var at int64
	if _, err := fmt.Sscanf(m.Text(), "ready %d", &at); err != nil {
		t.Fatal(err)
	}
	if now := d.Clock().Now(); time.Unix(0, at).Before(began) || time.Unix(0, at).After(now) {
		t.Errorf("a program's time is %s, not in %s to %s", time.Unix(0, at), began, now)
	}
}

// Programs sort the lag of their timers as we do.
func TestProgramsLag(t *testing.T) {
	d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: Real})
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	var want lagHistogram
	add := func(late int64) {
		args = append(args, strconv.FormatInt(late, 10))
		want.add(late)
	}
	for _, late := range []int64{0, 1, 1023, 1024, 4095, 4096, forever} {
		add(late)
	}
	for b := range overlay.LagBuckets - 1 {
		for _, off := range []int64{-1, 0, 1} {
			add(lagUpper(b) + off)
		}
	}
	m := start(t, d.Env(), "actor", append([]string{"lag"}, args...)...)
	if !m.Scan() || m.Text() != "done" {
		t.Fatal("actor said", m.Text())
	}
	got := d.page.slots[0].histogram()
	if got != want {
		for b := range want.counts {
			if got.counts[b] != want.counts[b] {
				t.Errorf("bucket %d (up to %d ns) holds %d, want %d", b, lagUpper(b), got.counts[b], want.counts[b])
			}
		}
		if got.max != want.max {
			t.Errorf("max %d, want %d", got.max, want.max)
		}
	}
	// What was measured outlives the driver.
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n := d.Figures().Lag.Timers; n != want.total() {
		t.Errorf("%d timers after Close, want %d", n, want.total())
	}
}
