//go:build linux

package clock

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/task"
)

// Work that goes from goroutine to goroutine, and so from thread to thread, is seen at every look.
func TestOwnWorkMoves(t *testing.T) {
	own, err := newOwnProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer own.threads.Close()
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
		defer task.BeDriver()()
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
		t.Errorf("%d looks of 20,000 saw no thread work", missed)
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
