//go:build linux

package clock

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
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
		threads := threads{pid: cmd.Process.Pid}
		defer threads.close()
		eventually(t, name+" settles", func() bool {
			runs, err := threads.run()
			if err != nil {
				t.Fatal(err)
			}
			return runs == (name == "work") && len(threads.wchan) == 1
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range 2 { // it is gone: no error, nothing left open
			if _, err := threads.run(); err != nil {
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
		if last, err = readWchan(id); err != nil {
			t.Fatal(err)
		}
		return waits(last)
	})
	if state, _ := (&threads{pid: os.Getpid()}).status(id); state != 'S' {
		t.Errorf("a thread that sleeps in %s has state %c", last, state)
	}
}

// A kernel that does not show who sleeps is refused, not waited for.
func TestSleepShown(t *testing.T) {
	if err := sleepShown(readWchan); err != nil {
		t.Error(err)
	}
	hidden := func(int) ([]byte, error) { return []byte("0"), nil }
	if err := sleepShown(hidden); err == nil || !strings.Contains(err.Error(), "--clock real") {
		t.Errorf("a kernel that hides it: %v", err)
	}
	denied := func(int) ([]byte, error) { return nil, os.ErrPermission }
	if err := sleepShown(denied); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a kernel that forbids it: %v", err)
	}
}

// Our own threads are found as they come, and a driver's don't count.
func TestOwnThreads(t *testing.T) {
	own := threads{pid: os.Getpid()}
	defer own.close()
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
			defer beDriverThread()()
			var err error
			if runs, err = own.run(); err != nil {
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
	eventually(t, "nobody but a driver runs", func() bool { return !runs() })
	spinning := locked(func() { defer beDriverThread()(); spin() })
	eventually(t, "nobody but two drivers runs", func() bool { return !runs() })
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

// Work that goes from goroutine to goroutine, and so from thread to thread, is seen at every look.
func TestOwnWorkMoves(t *testing.T) {
	own, err := newOwnProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer own.threads.close()
	var there, back [2]int // pipes, whose ends block
	for _, pipe := range []*[2]int{&there, &back} {
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
	}
	var players sync.WaitGroup
	play := func(from, to int) {
		defer unix.Close(to)
		for ball := make([]byte, 1); ; {
			if n, err := unix.Read(from, ball); n != 1 || err != nil {
				return
			}
			if _, err := unix.Write(to, ball); err != nil {
				return
			}
		}
	}
	players.Go(func() { play(there[0], back[1]) })
	players.Go(func() { play(back[0], there[1]) })
	if _, err := unix.Write(there[1], []byte{1}); err != nil {
		t.Fatal(err)
	}
	missed := 0
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		runtime.LockOSThread() // and never unlock: the thread ends with what is set here
		defer beDriverThread()()
		defer oneMoreP()()
		for range 20_000 {
			works, err := own.works(own.switches())
			if err != nil {
				t.Error(err)
			}
			if !works {
				missed++
			}
		}
	}()
	<-looked
	_, _ = unix.Close(there[0]), unix.Close(back[0])
	players.Wait()
	if missed > 0 {
		t.Errorf("%d looks of 20,000 saw nobody work", missed)
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
