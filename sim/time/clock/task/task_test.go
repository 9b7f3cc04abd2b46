//go:build linux

package task

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The threads of a program that sleeps don't run; those of one that works do.
func TestThreads(t *testing.T) {
	for name, args := range map[string][]string{"sleep": {"sleep", "100"}, "work": {"sh", "-c", "while :; do :; done"}} {
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		threads := Of(cmd.Process.Pid)
		defer threads.Close()
		eventually(t, name+" settles", func() bool {
			runs, err := threads.Run()
			if err != nil {
				t.Fatal(err)
			}
			return runs == (name == "work") && len(threads.wchan) == 1
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range 2 { // it is gone: no error, nothing left open
			if _, err := threads.Run(); err != nil {
				t.Error(err)
			}
		}
		if len(threads.wchan) != 0 {
			t.Errorf("%d threads of %s after its end", len(threads.wchan), name)
		}
	}
}

// A thread that waits for a descriptor, as ours do for the end of each program of a world, is
// known by what it sleeps in: to ask each for its state at every look was a fourteenth of the
// work of a quiet world.
func TestPollingThreadWaits(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd := []unix.PollFd{{Fd: int32(r.Fd()), Events: unix.POLLIN}}
	tid, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlock: the thread ends with it
		tid <- unix.Gettid()
		for {
			if _, err := unix.Poll(fd, -1); err != unix.EINTR {
				return
			}
		}
	}()
	defer func() {
		_ = w.Close()
		<-ended
	}()
	id := <-tid
	var last []byte
	eventually(t, "it sleeps in what is known", func() bool {
		if last, err = ReadWchan(id); err != nil {
			t.Fatal(err)
		}
		return waits(last)
	})
	if state, _ := (&Threads{pid: os.Getpid()}).status(id); state != 'S' {
		t.Errorf("a thread that sleeps in %s has state %c", last, state)
	}
}

// A kernel that does not show who sleeps is refused, not waited for.
func TestSleepShown(t *testing.T) {
	if err := SleepShown(ReadWchan); err != nil {
		t.Error(err)
	}
	hidden := func(int) ([]byte, error) { return []byte("0"), nil }
	if err := SleepShown(hidden); err == nil || !strings.Contains(err.Error(), "--clock real") {
		t.Errorf("a kernel that hides it: %v", err)
	}
	denied := func(int) ([]byte, error) { return nil, os.ErrPermission }
	if err := SleepShown(denied); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a kernel that forbids it: %v", err)
	}
}

// Our own threads are found as they come, and a driver's don't count.
func TestOwnThreads(t *testing.T) {
	own := Of(os.Getpid())
	defer own.Close()
	// locked runs f on a thread of its own, which ends with it.
	locked := func(f func()) (ended chan struct{}) {
		ended = make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread()
			f()
		}()
		return ended
	}
	runs := func() (runs bool) {
		<-locked(func() {
			defer BeDriver()()
			var err error
			if runs, err = own.Run(); err != nil {
				t.Error(err)
			}
		})
		return runs
	}
	var stop atomic.Bool
	spin := func() {
		for !stop.Load() {
		}
	}
	eventually(t, "nothing but a driver runs", func() bool { return !runs() })
	spinning := locked(func() { defer BeDriver()(); spin() })
	eventually(t, "nothing but two drivers runs", func() bool { return !runs() })
	stop.Store(true)
	<-spinning
	stop.Store(false)
	spinning = locked(spin)
	for range 10 {
		eventually(t, "a thread that spins is seen", runs)
	}
	stop.Store(true)
	<-spinning
	// Threads that come later are followed, too.
	hold := make(chan struct{})
	defer close(hold)
	for range 8 {
		locked(func() { <-hold })
	}
	eventually(t, "all threads are followed", func() bool {
		runs()
		entries, err := os.ReadDir("/proc/self/task")
		return err == nil && len(entries) == len(own.wchan)
	})
}

func TestParseStatus(t *testing.T) {
	for text, want := range map[string]string{
		"Name:\tState:\tT x\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t39\nnonvoluntary_ctxt_switches:\t23\n": "S 39",
		"Name:\tkarpenter\nState:\tD (disk sleep)\nvoluntary_ctxt_switches:\t7\n":                                   "D 7",
		"": "\x00 ", "\nState:\t": "\x00 ",
	} {
		if state, switches := ParseStatus(text); string(state)+" "+switches != want {
			t.Errorf("%q is %c %s, want %s", text, state, switches, want)
		}
	}
}

// eventually polls a condition for at most half a minute of real time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30s: %s", what)
		}
	}
}
