//go:build linux

// Package task knows the threads of processes: which of them want to run, are stopped or wait
// for a disk, as the kernel shows it.
package task

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
)

// Threads are those of a process. The kernel knows which of them want to run
// also while the process does not: one that returns from epoll_wait with an
// event, or from a system call, may lose its processor to another program
// before it says so in its slot.
type Threads struct {
	pid   int
	dir   int         // descriptor of /proc/PID/task; 0 until the first look
	wchan map[int]int // by thread ID, descriptors of /proc/PID/task/TID/wchan
	stays map[int]stay
}

// stay is for how long a thread has been stopped (state T) or frozen, or has waited for a disk
// (state D): neither by its own will.
type stay struct {
	state    byte
	switches string // how often it had given up its processor when it began
	since    int64  // virtual
}

// Of are the threads of the process with that ID.
func Of(pid int) Threads { return Threads{pid: pid} }

// Run reports whether a thread runs, would if it had a processor, was stopped or frozen, or
// waits for a disk. Drivers' own threads don't count.
func (t *Threads) Run() (bool, error) {
	runs := false
	t.each(func(tid int, wchan []byte) bool {
		switch {
		case string(wchan) == "0", bytes.HasPrefix(wchan, InSeccomp), heldUp(wchan):
			runs = true
		case !waits(wchan):
			state, _ := t.status(tid)
			runs = state == 'R' || stuck(state)
		}
		return !runs
	})
	if runs {
		return true, nil
	}
	if t.complete() {
		return false, nil
	}
	return true, t.list() // there are new ones: look again
}

// Follow looks who is stopped or waits for a disk, and returns for how long in virtual
// time, which is now, the one and the other have been going on.
func (t *Threads) Follow(now int64) (stopped, disk int64) {
	if !t.complete() {
		_ = t.list() // Run reports it
	}
	var stays map[int]stay
	t.each(func(tid int, wchan []byte) bool {
		if string(wchan) == "0" || waits(wchan) {
			return true
		}
		state, switches := t.status(tid)
		if state != 0 && heldUp(wchan) {
			state = 'T'
		}
		if !stuck(state) {
			return true
		}
		s := stay{state, switches, now}
		if before, ok := t.stays[tid]; ok && before.state == state && before.switches == switches {
			s.since = before.since
		}
		if stays == nil {
			stays = map[int]stay{}
		}
		stays[tid] = s
		if state == 'D' {
			disk = max(disk, now-s.since)
		} else {
			stopped = max(stopped, now-s.since)
		}
		return true
	})
	t.stays = stays
	return stopped, disk
}

// StayFrom forgets what of the stays that go on was before.
func (t *Threads) StayFrom(now int64) {
	for tid, s := range t.stays {
		s.since = now
		t.stays[tid] = s
	}
}

// each calls f with what each thread sleeps in, or "0" if it does not, until f is
// false: much less work for the kernel than its status.
func (t *Threads) each(f func(tid int, wchan []byte) bool) {
	for tid, fd := range t.wchan {
		var buf [64]byte
		n, err := raw.Pread(fd, buf[:])
		if err != nil { // it has ended
			_ = unix.Close(fd)
			delete(t.wchan, tid)
			continue
		}
		if _, driver := driverThreads.Load(tid); !driver && !f(tid, buf[:n]) {
			return
		}
	}
}

// complete reports whether all threads that the process has now are known.
func (t *Threads) complete() bool {
	if t.dir <= 0 {
		return false
	}
	// A folder has a link for itself, one for its name, and one a subfolder.
	n, err := raw.Links(t.dir)
	return err == nil && n == len(t.wchan)+2
}

// waiting are the beginnings of what threads of Go programs sleep in by their own
// will: for other threads, events, time, pipes, children, and, as ours do for the end of
// each program of a world, for one descriptor. A thread that sleeps in
// anything else has to be asked for its state, which is ten times as much work.
var waiting = [][]byte{
	[]byte("futex_"), []byte("ep_poll"), []byte("do_epoll_wait"), []byte("hrtimer_nanosleep"), []byte("do_nanosleep"),
	[]byte("pipe_"), []byte("anon_pipe_read"), []byte("do_wait"),
	// mutant: each thread that polls is asked for its state
	[]byte("poll_schedule_timeout"), []byte("do_sys_poll"), []byte("do_poll"),
}

// InSeccomp is what a guest's thread sleeps in until its wait may begin.
var InSeccomp = []byte("seccomp_")

func waits(wchan []byte) bool {
	for _, w := range waiting {
		if bytes.HasPrefix(wchan, w) {
			return true
		}
	}
	return false
}

// heldUp reports whether a thread sleeps where the kernel takes those that are stopped or frozen (see
// cgroup.freeze in cgroups(7)): of the latter its state says that it sleeps.
func heldUp(wchan []byte) bool {
	return bytes.HasPrefix(wchan, []byte("get_signal")) || bytes.HasPrefix(wchan, []byte("do_freezer_trap"))
}

// stuck reports whether a thread in that state can't go on though nothing of its own
// holds it up: stopped (T, or t by a debugger), or waiting for a disk (D).
func stuck(state byte) bool { return state == 'D' || state == 'T' || state == 't' }

// status is a thread's state and how often it has given up its processor by itself,
// see proc_pid_status(5); 0 of one that has ended.
func (t *Threads) status(tid int) (state byte, switches string) {
	fd, err := unix.Open(filepath.Join("/proc", strconv.Itoa(t.pid), "task", strconv.Itoa(tid), "status"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, ""
	}
	var buf [4096]byte
	n, err := raw.Pread(fd, buf[:])
	_ = unix.Close(fd)
	if err != nil {
		return 0, ""
	}
	return ParseStatus(string(buf[:n]))
}

func ParseStatus(text string) (state byte, switches string) {
	if _, after, ok := strings.Cut(text, "\nState:\t"); ok && after != "" {
		state = after[0]
	}
	_, after, _ := strings.Cut(text, "\nvoluntary_ctxt_switches:\t")
	switches, _, _ = strings.Cut(after, "\n")
	return state, switches
}

func (t *Threads) list() error {
	path := filepath.Join("/proc", strconv.Itoa(t.pid), "task")
	entries, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil // it has ended
	}
	if err != nil {
		return err
	}
	if t.wchan == nil {
		t.wchan = map[int]int{}
		if t.dir, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("reading the threads of process %d: %w", t.pid, err)
		}
	}
	for _, e := range entries {
		tid, err := strconv.Atoi(e.Name())
		if _, known := t.wchan[tid]; known || err != nil {
			continue
		}
		fd, err := unix.Open(filepath.Join(path, e.Name(), "wchan"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading what thread %d of process %d does: %w", tid, t.pid, err)
		}
		t.wchan[tid] = fd
	}
	return nil
}

func (t *Threads) Close() {
	for _, fd := range t.wchan {
		_ = unix.Close(fd)
	}
	if t.dir > 0 {
		_ = unix.Close(t.dir)
	}
	t.wchan, t.dir = nil, 0
}

// SleepShown is nil if the kernel shows that a thread sleeps. One that hides it
// would hold every world at the speed of real time.
func SleepShown(wchan func(tid int) ([]byte, error)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	tid, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlock: the thread ends with it
		tid <- unix.Gettid()
		var b [1]byte
		_, _ = unix.Read(int(r.Fd()), b[:]) // Fd makes it blocking
	}()
	defer func() {
		_ = w.Close()
		<-ended
	}()
	id := <-tid
	var last []byte
	for deadline := time.Now().Add(sleepWithin); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if last, err = wchan(id); err != nil {
			return fmt.Errorf("reading what a thread sleeps in: %w", err)
		}
		if string(last) != "0" {
			return nil
		}
	}
	return fmt.Errorf("the kernel does not show what threads sleep in (/proc/PID/task/TID/wchan is %q for "+
		"a sleeping one); use --clock real", last)
}

// sleepWithin is how long a thread may take to sleep in a read, in real time: no
// machine is that busy.
const sleepWithin = 5 * time.Second

func ReadWchan(tid int) ([]byte, error) {
	return os.ReadFile(filepath.Join("/proc/self/task", strconv.Itoa(tid), "wchan"))
}

// Load is /proc/loadavg, which says in one read that no thread runs, where that is
// so: on a machine with nothing else to do.
type Load struct{ fd int }

func OpenLoad() (Load, error) {
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Load{}, fmt.Errorf("opening /proc/loadavg: %w", err)
	}
	return Load{fd}, nil
}

// OnlyUs reports whether the calling thread is the only one of the machine that
// runs or wants to: the 4th field is "running/existing"; see proc_loadavg(5).
func (l Load) OnlyUs() (bool, error) {
	var buf [64]byte
	n, err := raw.Pread(l.fd, buf[:])
	if err != nil {
		return false, fmt.Errorf("reading /proc/loadavg: %w", err)
	}
	return bytes.Contains(buf[:n], []byte(" 1/")), nil
}

// Close ends the looks.
func (l Load) Close() error { return unix.Close(l.fd) }

// driverThreads are the IDs of the threads on which drivers run, and drivers is how many there are.
var (
	driverThreads sync.Map
	drivers       atomic.Int64
)

// Drivers is how many driver threads there are.
func Drivers() int64 { return drivers.Load() }

// BeDriver marks the calling thread, which must be locked, until end.
func BeDriver() (end func()) {
	tid := unix.Gettid()
	driverThreads.Store(tid, true)
	drivers.Add(1)
	return func() {
		drivers.Add(-1)
		driverThreads.Delete(tid)
	}
}
