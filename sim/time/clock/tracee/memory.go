//go:build linux

package tracee

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadMemory reads from what a thread's process has at an address, and returns how many bytes
// of data there are. An address that is none is unix.EFAULT, a thread that has ended unix.ESRCH.
func ReadMemory(tid int, at uint64, data []byte) (int, error) {
	return throughMemory(tid, at, data, unix.ProcessVMReadv, os.O_RDONLY, (*os.File).ReadAt)
}

// WriteMemory is [ReadMemory] in the other direction.
func WriteMemory(tid int, at uint64, data []byte) (int, error) {
	return throughMemory(tid, at, data, unix.ProcessVMWritev, os.O_WRONLY, (*os.File).WriteAt)
}

type (
	vmCall   func(pid int, here []unix.Iovec, there []unix.RemoteIovec, flags uint) (int, error)
	fileCall func(f *os.File, data []byte, at int64) (int, error)
)

// throughMemory does it by the file for it where a container's seccomp profile, as that of
// Docker 20.10, refuses the call that costs less.
func throughMemory(tid int, at uint64, data []byte, call vmCall, flag int, byFile fileCall) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	here := []unix.Iovec{{Base: unsafe.SliceData(data)}}
	here[0].SetLen(len(data))
	n, err := call(tid, here, []unix.RemoteIovec{{Base: uintptr(at), Len: len(data)}}, 0)
	// mutant: memory that a profile refuses to read is not read
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
		return n, err
	}
	if at > math.MaxInt64 {
		return 0, unix.EFAULT
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", tid), flag, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, unix.ESRCH
	}
	if err != nil {
		return 0, err
	}
	n, err = byFile(f, data, int64(at))
	if errors.Is(err, unix.EIO) {
		err = unix.EFAULT
	}
	return n, errors.Join(err, f.Close())
}
