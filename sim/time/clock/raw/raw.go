//go:build linux

// Package raw makes the system calls of a clock's driver, which are thousands a second that
// never block. Made the ordinary way, each would wake the runtime's monitor in a process that
// is idle otherwise, and the driver would see threads run that only watch it.
package raw

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func Pread(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
	return int(n), Error(errno)
}

// Links is the number of a file's hard links.
func Links(fd int) (int, error) {
	var s unix.Stat_t
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&s)), 0)
	return int(s.Nlink), Error(errno)
}

// Usage is what who, RUSAGE_SELF or RUSAGE_THREAD, has used.
func Usage(who int) (u unix.Rusage) {
	_, _, _ = unix.RawSyscall(unix.SYS_GETRUSAGE, uintptr(who), uintptr(unsafe.Pointer(&u)), 0)
	return u
}

// Poll returns how many of the descriptors, of which there must be one, have an
// event now.
func Poll(fds []unix.PollFd) (int, error) { return PollFor(fds, 0) }

// PollFor is Poll, which waits for an event for at most so long, without giving the driver's P
// away.
func PollFor(fds []unix.PollFd, wait time.Duration) (int, error) {
	ts := unix.NsecToTimespec(int64(wait))
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	return int(n), Error(errno)
}

// Tgkill sends a thread a signal, or none, which finds out whether it is there.
func Tgkill(pid, tid int, signal unix.Signal) error {
	_, _, errno := unix.RawSyscall(unix.SYS_TGKILL, uintptr(pid), uintptr(tid), uintptr(signal))
	return Error(errno)
}

func Ioctl(fd int, request uint, arg unsafe.Pointer) error {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	return Error(errno)
}

func Write(fd int, b []byte) {
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
}

// Pause sleeps without giving the driver's P away.
func Pause(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

func Error(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
