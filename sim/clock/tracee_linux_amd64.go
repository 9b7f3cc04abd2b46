package clock

import "syscall"

// The machine that a guest runs on.
const (
	auditArch   = 0xc000003e // AUDIT_ARCH_X86_64
	clockInVDSO = "__vdso_clock_gettime"
	// epollWaits are the system calls that wait for events with a timeout in milliseconds as their
	// fourth argument.
	sysEpollWait  = syscall.SYS_EPOLL_WAIT
	sysEpollPwait = syscall.SYS_EPOLL_PWAIT
)

var systemCall = []byte{0x0f, 0x05} // SYSCALL

func place(r *syscall.PtraceRegs) uintptr { return uintptr(r.Rip) }

func stack(r *syscall.PtraceRegs) uintptr { return uintptr(r.Rsp) }

func setCall(r *syscall.PtraceRegs, nr uintptr, args [6]uintptr) {
	r.Rax, r.Orig_rax = uint64(nr), ^uint64(0)
	r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9 = uint64(args[0]), uint64(args[1]), uint64(args[2]), uint64(args[3]), uint64(args[4]), uint64(args[5])
}

func result(r *syscall.PtraceRegs) int64 { return int64(r.Rax) }
