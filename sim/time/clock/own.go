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

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/task"
)

// ownProcess reports whether the process that the driver runs in has work to do:
// it is not built with the clock, so Go's own figures and its threads stand in
// for a slot.
type ownProcess struct {
	epfd    int32
	samples []metrics.Sample
	threads task.Threads
}

func newOwnProcess() (*ownProcess, error) {
	epfd, err := ownPoller()
	if err != nil {
		return nil, fmt.Errorf("looking for our own poller: %w", err)
	}
	return &ownProcess{
		epfd:    epfd,
		samples: []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/running:goroutines"}},
		threads: task.Of(os.Getpid()),
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

// works reports whether any goroutine but the driver's has run since switches was
// taken, or wants to.
//
// One that moves from thread to thread could be missed by a look at one after the
// other. So the scheduler must know of none, then no thread may run, and none have
// gone to sleep since. The runtime's monitor counts as any thread does: others may
// wait for a lock that it is about to give back.
func (o *ownProcess) works(switches int64) (bool, error) {
	metrics.Read(o.samples)
	if o.samples[0].Value.Uint64() > 0 || o.samples[1].Value.Uint64() > uint64(task.Drivers()) {
		return true, nil
	}
	if runs, err := o.threads.Run(); err != nil || runs {
		return runs, err
	}
	// mutant: work of our own that moves from thread to thread is overlooked
	return o.switches() != switches, nil
}

// switches is how often threads of the process other than the calling one have given
// up their processor.
func (o *ownProcess) switches() int64 {
	given := func(who int) int64 {
		u := raw.Usage(who)
		return u.Nvcsw + u.Nivcsw
	}
	for ours := given(unix.RUSAGE_THREAD); ; {
		all := given(unix.RUSAGE_SELF)
		// The calling thread may have lost its processor just now, and make up for another's switch.
		before := ours
		if ours = given(unix.RUSAGE_THREAD); ours == before {
			return all - ours
		}
	}
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
