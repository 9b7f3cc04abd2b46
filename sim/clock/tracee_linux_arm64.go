package clock

import "syscall"

// The machine that a guest runs on.
const (
	auditArch   = 0xc00000b7 // AUDIT_ARCH_AARCH64
	clockInVDSO = "__kernel_clock_gettime"
	// There is one system call that waits for events with a timeout in milliseconds.
	sysEpollWait  = syscall.SYS_EPOLL_PWAIT
	sysEpollPwait = syscall.SYS_EPOLL_PWAIT
)

var systemCall = []byte{0x01, 0x00, 0x00, 0xd4} // SVC #0

func place(r *syscall.PtraceRegs) uintptr { return uintptr(r.Pc) }

func stack(r *syscall.PtraceRegs) uintptr { return uintptr(r.Sp) }

func setCall(r *syscall.PtraceRegs, nr uintptr, args [6]uintptr) {
	r.Regs[8] = uint64(nr)
	for i, arg := range args {
		r.Regs[i] = uint64(arg)
	}
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Regs[0]) }
