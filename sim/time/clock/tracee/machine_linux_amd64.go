package tracee

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// AuditArch is the machine that a guest runs on, as seccomp calls it.
const AuditArch = 0xc000003e // AUDIT_ARCH_X86_64

// clocksInVDSO are the names in the vDSO by which clocks are read, and are made to stand for our
// code; hiddenInVDSO those that then must not be found: a program without them asks the kernel, which informs us.
var (
	clocksInVDSO = []string{"__vdso_clock_gettime", "clock_gettime"}
	hiddenInVDSO = []string{"__vdso_gettimeofday", "gettimeofday", "__vdso_time", "time"}
)

var systemCall = []byte{0x0f, 0x05} // SYSCALL

func GetRegs(pid int, r *syscall.PtraceRegs) error { return syscall.PtraceGetRegs(pid, r) }

func SetRegs(pid int, r *syscall.PtraceRegs) error { return syscall.PtraceSetRegs(pid, r) }

func place(r *syscall.PtraceRegs) uintptr { return uintptr(r.Rip) }

func stack(r *syscall.PtraceRegs) uintptr { return uintptr(r.Rsp) }

func setCall(r *syscall.PtraceRegs, nr uintptr, args [6]uintptr) {
	r.Rax, r.Orig_rax = uint64(nr), ^uint64(0)
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = uint64(args[0]), uint64(args[1]), uint64(args[2]), uint64(args[3]), uint64(args[4]),
		uint64(args[5])
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Rax) }

// What the kernel has for a call that was interrupted, until it is made again or ends.
const (
	restartSys, restartNoIntr, restartNoHand, restartBlock = -512, -513, -514, -516
)

// InterruptedIn reports whether the thread was interrupted in that call.
func InterruptedIn(_ int, r *syscall.PtraceRegs, nr uint32) bool {
	if r.Orig_rax != uint64(nr) && r.Orig_rax != unix.SYS_RESTART_SYSCALL {
		return false
	}
	switch int64(r.Rax) {
	case restartSys, restartNoIntr, restartNoHand, restartBlock, -int64(unix.EINTR):
		return true
	}
	return false
}

// EndCall has the call that was interrupted return that.
func EndCall(_ int, r *syscall.PtraceRegs, value int64) {
	r.Rax, r.Orig_rax = uint64(value), ^uint64(0)
}

// MakeAgain has a call made again that would return because of the interruption.
func MakeAgain(r *syscall.PtraceRegs) (changed bool) {
	if int64(r.Orig_rax) < 0 || int64(r.Rax) != -int64(unix.EINTR) {
		return false
	}
	r.Rax = ^uint64(-restartNoIntr - 1)
	return true
}

// Caller is where the function was called from that makes the system call in which a thread is,
// as Go's does: with nothing on the stack.
func Caller(tid int) (at uint64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", tid))
	fields := strings.Fields(string(text)) // number, six arguments, stack, place
	if err != nil || len(fields) != 9 {
		return 0, false
	}
	sp, err := strconv.ParseUint(fields[7], 0, 64)
	if err != nil {
		return 0, false
	}
	data := make([]byte, 8)
	if k, err := ReadMemory(tid, sp, data); err != nil || k != len(data) {
		return 0, false
	}
	return binary.NativeEndian.Uint64(data), true
}
