package tracee

import (
	"bytes"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AuditArch is the machine that a guest runs on, as seccomp calls it. None of this was ever run on one: see tracee_linux_amd64.go.
const AuditArch = 0xc00000b7 // AUDIT_ARCH_AARCH64

var (
	clocksInVDSO = []string{"__kernel_clock_gettime"}
	hiddenInVDSO = []string{"__kernel_gettimeofday"}
)

var systemCall = []byte{0x01, 0x00, 0x00, 0xd4} // SVC #0

const generalRegisters = 1 // NT_PRSTATUS

func GetRegs(pid int, r *syscall.PtraceRegs) error {
	return unix.PtraceGetRegSetArm64(pid, generalRegisters, (*unix.PtraceRegsArm64)(unsafe.Pointer(r)))
}

func SetRegs(pid int, r *syscall.PtraceRegs) error {
	return unix.PtraceSetRegSetArm64(pid, generalRegisters, (*unix.PtraceRegsArm64)(unsafe.Pointer(r)))
}

func place(r *syscall.PtraceRegs) uintptr { return uintptr(r.Pc) }

func stack(r *syscall.PtraceRegs) uintptr { return uintptr(r.Sp) }

func setCall(r *syscall.PtraceRegs, nr uintptr, args [6]uintptr) {
	r.Regs[8] = uint64(nr)
	for i, arg := range args {
		r.Regs[i] = uint64(arg)
	}
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Regs[0]) }

// InterruptedIn reports whether the thread was interrupted in that call: this kernel has gone
// back to the call's instruction by then, unless the call ends.
func InterruptedIn(pid int, r *syscall.PtraceRegs, nr uint32) bool {
	if r.Regs[8] != uint64(nr) && r.Regs[8] != unix.SYS_RESTART_SYSCALL {
		return false
	}
	return atCall(pid, r.Pc) || int64(r.Regs[0]) == -int64(unix.EINTR) && atCall(pid, r.Pc-uint64(len(systemCall)))
}

func atCall(pid int, at uint64) bool {
	is := make([]byte, len(systemCall))
	_, err := syscall.PtracePeekText(pid, uintptr(at), is)
	return err == nil && bytes.Equal(is, systemCall)
}

// EndCall has the call that was interrupted return that.
func EndCall(pid int, r *syscall.PtraceRegs, value int64) {
	if atCall(pid, r.Pc) {
		r.Pc += uint64(len(systemCall))
	}
	r.Regs[0] = uint64(value)
}

// MakeAgain would need the call's first argument, which is gone: the interrupted call returns
// EINTR.
func MakeAgain(*syscall.PtraceRegs) (changed bool) { return false }

// Caller is not known: it is in a register, which is not passed on. All waits of a runtime before 1.21 have
// a place of their own; the others end by ptrace.
func Caller(int) (at uint64, ok bool) { return 0, false }
