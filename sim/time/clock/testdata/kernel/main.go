// Kernel is a program that asks the kernel itself, as nothing in Go's library does, for the time, for
// waits, and for what ends them. It says what it got.
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

type (
	word = uintptr
	args = [6]word
)

func call(nr word, a ...word) (word, unix.Errno) {
	var six args
	copy(six[:], a)
	got, _, errno := unix.Syscall6(nr, six[0], six[1], six[2], six[3], six[4], six[5])
	return got, errno
}

func to[T any](v *T) word { return word(unsafe.Pointer(v)) }

func spec(d time.Duration) *unix.Timespec {
	t := unix.NsecToTimespec(int64(d))
	return &t
}

func instant(clock int32, d time.Duration) *unix.Timespec {
	var now unix.Timespec
	check(unix.ClockGettime(clock, &now))
	return spec(time.Duration(now.Nano()) + d)
}

// waits last for so long, with a descriptor that may have something to read earlier.
var waits = map[string]func(d time.Duration, fd int) (word, unix.Errno){
	"nanosleep": func(d time.Duration, _ int) (word, unix.Errno) { return call(unix.SYS_NANOSLEEP, to(spec(d)), 0) },
	"clock_nanosleep": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, to(spec(d)), 0)
	},
	"clock_nanosleep-until": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, to(instant(unix.CLOCK_MONOTONIC, d)), 0)
	},
	"clock_nanosleep-until-date": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_REALTIME, unix.TIMER_ABSTIME, to(instant(unix.CLOCK_REALTIME, d)), 0)
	},
	"ppoll": func(d time.Duration, fd int) (word, unix.Errno) {
		return call(unix.SYS_PPOLL, to(&unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}), 1, to(spec(d)), 0)
	},
	"pselect6": func(d time.Duration, fd int) (word, unix.Errno) {
		var set unix.FdSet
		set.Set(fd)
		return call(unix.SYS_PSELECT6, word(fd+1), to(&set), 0, 0, to(spec(d)), 0)
	},
	"epoll_pwait": func(d time.Duration, fd int) (word, unix.Errno) {
		events := make([]unix.EpollEvent, 7)
		return call(unix.SYS_EPOLL_PWAIT, poller(fd), to(&events[0]), 7, word(d.Milliseconds()), 0)
	},
	"epoll_pwait-closed": func(d time.Duration, fd int) (word, unix.Errno) {
		events, epoll := make([]unix.EpollEvent, 7), poller(fd)
		time.AfterFunc(d/2, func() { check(unix.Close(int(epoll))) })
		return call(unix.SYS_EPOLL_PWAIT, epoll, to(&events[0]), 7, word(d.Milliseconds()), 0)
	},
	"epoll_pwait-128": func(d time.Duration, fd int) (word, unix.Errno) { // as Go's runtime does, but another
		events := make([]unix.EpollEvent, 128)
		return call(unix.SYS_EPOLL_PWAIT, poller(fd), to(&events[0]), 128, word(d.Milliseconds()), 0)
	},
	"epoll_pwait2": func(d time.Duration, fd int) (word, unix.Errno) {
		events := make([]unix.EpollEvent, 7)
		return call(unix.SYS_EPOLL_PWAIT2, poller(fd), to(&events[0]), 7, to(spec(d)), 0)
	},
	"futex": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_FUTEX, to(new(uint32)), 128, 0, to(spec(d)))
	},
	"futex-until": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_FUTEX, to(new(uint32)), 128|9, 0, to(instant(unix.CLOCK_MONOTONIC, d)), 0, 1<<32-1)
	},
	"futex-until-date": func(d time.Duration, _ int) (word, unix.Errno) {
		return call(unix.SYS_FUTEX, to(new(uint32)), 128|256|9, 0, to(instant(unix.CLOCK_REALTIME, d)), 0, 1<<32-1)
	},
	"rt_sigtimedwait": func(d time.Duration, _ int) (word, unix.Errno) {
		set := uint64(1) << (unix.SIGUSR2 - 1)
		return call(unix.SYS_RT_SIGTIMEDWAIT, to(&set), 0, to(spec(d)), 8)
	},
}

func poller(fd int) word {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	check(err)
	check(unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN}))
	return word(epoll)
}

// reals pass in real time, whatever is done about it.
var reals = map[string]func(){
	"timerfd": func() {
		fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, 0)
		check(err)
		check(unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: *spec(time.Millisecond)}, nil))
		_, err = unix.Read(fd, make([]byte, 8))
		check(err)
	},
	"timer_create": func() {
		event := [8]uint64{1: 1 << 32} // SIGEV_NONE
		_, errno := call(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, to(&event), to(new(int32)))
		must(errno)
	},
	"setitimer": func() {
		_, err := unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Value: unix.Timeval{Sec: 1000}})
		check(err)
	},
	"SO_RCVTIMEO": func() {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		check(err)
		check(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}))
	},
	"recvmmsg":        func() { call(unix.SYS_RECVMMSG, 999, 0, 0, 0, to(spec(time.Second))) },
	"semtimedop":      func() { call(unix.SYS_SEMTIMEDOP, 999, 0, 0, to(spec(time.Second))) },
	"mq_timedsend":    func() { call(unix.SYS_MQ_TIMEDSEND, 999, 0, 0, 0, to(spec(time.Second))) },
	"mq_timedreceive": func() { call(unix.SYS_MQ_TIMEDRECEIVE, 999, 0, 0, 0, to(spec(time.Second))) },
	"io_getevents":    func() { call(unix.SYS_IO_GETEVENTS, 0, 0, 0, 0, to(spec(time.Second))) },
	"io_pgetevents":   func() { call(unix.SYS_IO_PGETEVENTS, 0, 0, 0, 0, to(spec(time.Second))) },
	"io_uring":        func() { call(unix.SYS_IO_URING_SETUP, 0, 0) },
	"futex_waitv":     func() { call(unix.SYS_FUTEX_WAITV, 0, 0, 0, to(spec(time.Second)), 1) },
	"futex_wait":      func() { call(455, 0, 0, 0, 0, to(spec(time.Second)), 1) },
	"lock": func() { // with a priority that is handed on
		call(unix.SYS_FUTEX, to(new(uint32)), 128|6, 0, to(instant(unix.CLOCK_REALTIME, time.Second)))
	},
	"clock_nanosleep by CLOCK_TAI": func() {
		call(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_TAI, 0, to(spec(time.Millisecond)), 0)
	},
}

// clocks are read without the kernel's library.
var clocks = map[string]func() int64{
	"CLOCK_REALTIME":         clock(unix.CLOCK_REALTIME),
	"CLOCK_REALTIME_COARSE":  clock(unix.CLOCK_REALTIME_COARSE),
	"CLOCK_REALTIME_ALARM":   clock(unix.CLOCK_REALTIME_ALARM),
	"CLOCK_MONOTONIC":        clock(unix.CLOCK_MONOTONIC),
	"CLOCK_MONOTONIC_RAW":    clock(unix.CLOCK_MONOTONIC_RAW),
	"CLOCK_MONOTONIC_COARSE": clock(unix.CLOCK_MONOTONIC_COARSE),
	"CLOCK_BOOTTIME":         clock(unix.CLOCK_BOOTTIME),
	"CLOCK_BOOTTIME_ALARM":   clock(unix.CLOCK_BOOTTIME_ALARM),
	"CLOCK_TAI":              clock(unix.CLOCK_TAI),
	"gettimeofday": func() int64 {
		var t unix.Timeval
		_, errno := call(unix.SYS_GETTIMEOFDAY, to(&t), 0)
		must(errno)
		return t.Nano()
	},
}

func clock(id int32) func() int64 {
	return func() int64 {
		var t unix.Timespec
		_, errno := call(unix.SYS_CLOCK_GETTIME, word(id), to(&t))
		must(errno)
		return t.Nano()
	}
}

func main() {
	fmt.Println("ready")
	switch what := os.Args[1]; what {
	case "names":
		for _, names := range [][]string{slices.Sorted(maps.Keys(waits)), slices.Sorted(maps.Keys(reals))} {
			fmt.Println(strings.Join(names, ","))
		}
	case "waits": // one after the other: name, how long, what it returned, its error
		d := duration(os.Args[2])
		withoutPreemption()
		var r, w = pipe()
		for name, wait := range waits {
			began := time.Now()
			got, errno := wait(d, r)
			fmt.Println(name, time.Since(began).Nanoseconds(), got, int(errno))
		}
		_ = w
	case "events": // that come long before a wait is over
		d := duration(os.Args[2])
		for _, name := range []string{"ppoll", "pselect6", "epoll_pwait", "epoll_pwait2"} {
			r, w := pipe()
			time.AfterFunc(d/10, func() { _, err := unix.Write(w, []byte{1}); check(err) })
			began := time.Now()
			got, errno := waits[name](d, r)
			fmt.Println(name, time.Since(began).Nanoseconds(), got, int(errno))
		}
	case "clocks": // how long each says that a sleep has been
		for name, read := range clocks {
			began := read()
			time.Sleep(duration(os.Args[2]))
			fmt.Println(name, read()-began)
		}
	case "real":
		reals[os.Args[2]]()
	case "start": // another program, and wait for it
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		check(cmd.Run())
	case "become": // another program, after some that there are not
		for _, path := range []string{"/nonexistent", filepath.Dir(os.Args[2]), os.Args[2]} {
			fmt.Println(unix.Exec(path, os.Args[2:], os.Environ()))
		}
	}
}

// withoutPreemption keeps signals of Go's scheduler from the thread, as they are kept from programs of
// other languages: one ends a sleep in the kernel, and a busy machine is enough for one.
func withoutPreemption() {
	runtime.LockOSThread()
	var set unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGURG - 1)
	check(unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil))
}

func pipe() (r, w int) {
	var fds [2]int
	check(unix.Pipe2(fds[:], unix.O_CLOEXEC))
	return fds[0], fds[1]
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	check(err)
	return d
}

func must(errno unix.Errno) {
	if errno != 0 {
		panic(errno)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
