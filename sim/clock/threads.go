//go:build linux

package clock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// threads are those of a process. The kernel knows which of them want to run
// also while the process can't tell: one that returns from epoll_wait with an
// event, or from a system call, may lose its processor to another program
// before it says so in its slot.
type threads struct {
	pid   int
	dir   int         // descriptor of /proc/PID/task; 0 until the first look
	wchan map[int]int // by thread ID, descriptors of /proc/PID/task/TID/wchan
}

// run reports whether a thread runs, or would if it had a processor. Drivers'
// own threads don't count.
func (t *threads) run() (bool, error) {
	for tid, fd := range t.wchan {
		// What a thread sleeps in, or "0" if it does not: much less work for the
		// kernel than its stat.
		var buf [64]byte
		n, err := pread(fd, buf[:])
		if err != nil { // it has ended
			_ = unix.Close(fd)
			delete(t.wchan, tid)
			continue
		}
		if _, driver := driverThreads.Load(tid); !driver && n == 1 && buf[0] == '0' {
			return true, nil
		}
	}
	// A folder has a link for itself, one for its name, and one a subfolder.
	if t.dir > 0 {
		if n, err := links(t.dir); err == nil && n == len(t.wchan)+2 {
			return false, nil
		}
	}
	return true, t.list() // there are new ones: look again
}

func (t *threads) list() error {
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

func (t *threads) close() {
	for _, fd := range t.wchan {
		_ = unix.Close(fd)
	}
	if t.dir > 0 {
		_ = unix.Close(t.dir)
	}
	t.wchan, t.dir = nil, 0
}

// sleepShown is nil if the kernel shows that a thread sleeps. One that hides it
// would hold every world at the speed of real time.
func sleepShown(wchan func(tid int) ([]byte, error)) error {
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
	return fmt.Errorf("the kernel does not show what threads sleep in (/proc/PID/task/TID/wchan is %q for a sleeping one); use --clock real", last)
}

// sleepWithin is how long a thread may take to sleep in a read, in real time: no
// machine is that busy.
const sleepWithin = 5 * time.Second

func readWchan(tid int) ([]byte, error) {
	return os.ReadFile(filepath.Join("/proc/self/task", strconv.Itoa(tid), "wchan"))
}

// load is /proc/loadavg, which tells in one read that nobody runs, where that is
// so: on a machine with nothing else to do.
type load struct{ fd int }

func openLoad() (load, error) {
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return load{}, fmt.Errorf("opening /proc/loadavg: %w", err)
	}
	return load{fd}, nil
}

// onlyUs reports whether the calling thread is the only one of the machine that
// runs or wants to: the 4th field is "running/existing"; see proc_loadavg(5).
func (l load) onlyUs() (bool, error) {
	var buf [64]byte
	n, err := pread(l.fd, buf[:])
	if err != nil {
		return false, fmt.Errorf("reading /proc/loadavg: %w", err)
	}
	return bytes.Contains(buf[:n], []byte(" 1/")), nil
}

// driverThreads are the IDs of the threads on which drivers run.
var driverThreads sync.Map

// beDriverThread marks the calling thread, which must be locked, until end.
func beDriverThread() (end func()) {
	tid := unix.Gettid()
	driverThreads.Store(tid, true)
	return func() { driverThreads.Delete(tid) }
}
