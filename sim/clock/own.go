//go:build linux

package clock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

// ownProcess tells whether the process that the driver runs in has work to do:
// it is not built with the clock, so Go's own figures and its threads stand in
// for a slot.
type ownProcess struct {
	epfd    int32
	samples []metrics.Sample
	threads threads
}

func newOwnProcess() (*ownProcess, error) {
	epfd, err := ownPoller()
	if err != nil {
		return nil, fmt.Errorf("looking for our own poller: %w", err)
	}
	driverThreads.Store(monitor, true)
	return &ownProcess{
		epfd:    epfd,
		samples: []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}},
		threads: threads{pid: os.Getpid()},
	}, nil
}

// ownPoller is the epoll descriptor of our own runtime: the lowest there is
// before a driver adds those of other programs.
var ownPoller = sync.OnceValues(func() (int32, error) {
	// A timer makes the runtime open its poller.
	time.AfterFunc(time.Hour, func() {}).Stop()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, err
	}
	epfd := -1
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if dest, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && dest == "anon_inode:[eventpoll]" && (epfd < 0 || fd < epfd) {
			epfd = fd
		}
	}
	if epfd < 0 {
		return 0, errors.New("no epoll descriptor in /proc/self/fd")
	}
	return int32(epfd), nil
})

// waiting reports whether a goroutine waits for a thread to run it. It may have
// lost its thread between two looks, so this is the one to look at last.
func (o *ownProcess) waiting() bool {
	metrics.Read(o.samples)
	return o.samples[0].Value.Uint64() > 0
}

var moreP sync.Mutex

// oneMoreP gives the process a P more until end: a driver keeps one for itself.
func oneMoreP() (end func()) {
	add := func(n int) {
		moreP.Lock()
		defer moreP.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	add(1)
	return func() { add(-1) }
}

// monitor is found before much has run: on a machine that has used up its IDs a thread
// that starts later may get one below the monitor's.
var monitor = monitorThread()

// monitorThread is the runtime's monitor, the first thread that it starts. It
// watches, and does nothing that the clock should wait for.
func monitorThread() int {
	entries, _ := os.ReadDir("/proc/self/task")
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return firstAfter(os.Getpid(), ids)
}

// firstAfter is the thread that came right after the main one, pid. The kernel
// counts IDs up and begins anew at the end, so it is the next above pid or, where
// there is none, the lowest; 0 if there is only pid.
func firstAfter(pid int, ids []int) (first int) {
	for _, id := range ids {
		switch above, best := id > pid, first > pid; {
		case id == pid:
		case first == 0, above && !best, above == best && id < first:
			first = id
		}
	}
	return first
}
