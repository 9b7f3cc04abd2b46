package overlay

// edit replaces the one place where old stands in a file of the standard library.
type edit struct{ file, old, new string }

// edits are all that a program needs to live in virtual time. Each is as small
// as it can be; what they call is in runtime/nodestorm.go.txt.
//
// The runtime's own business keeps raw time: preemption and the retaking of Ps
// in system calls (sysmon), and the starvation test of sync.Mutex.
var edits = []edit{
	// Time as the program reads it.
	{"runtime/time_nofake.go", "func nanotime() int64 {\n\treturn nanotime1()\n}", "func nanotime() int64 {\n\treturn stormNow()\n}"},
	{"runtime/timestub.go", "sec, nsec = walltime()", "sec, nsec = stormWall()"},
	{"runtime/proc.go", "\tgoenvs()\n\tsecure()\n", "\tgoenvs()\n\tstormInit()\n\tsecure()\n"},
	// Virtual waits become real ones in the poller, and only there.
	{"runtime/netpoll_epoll.go", "linux.EpollWait(epfd, events[:], int32(len(events)), waitms)",
		"stormEpollWait(epfd, events[:], waitms, delay)"},
	{"runtime/netpoll_epoll.go", "\tnetpollEventFd = uintptr(efd)\n}", "\tnetpollEventFd = uintptr(efd)\n\tstormPoller(epfd, efd)\n}"},
	// Whether there is anything to do.
	{"runtime/proc.go", "\tsched.npidle.Add(1)\n", "\tsched.npidle.Add(1)\n\tstormBusy()\n"},
	{"runtime/proc.go", "\t\tsched.npidle.Add(-1)\n", "\t\tsched.npidle.Add(-1)\n\t\tstormBusy()\n"},
	// How late timers fire.
	{"runtime/time.go", "\tt.unlockAndRun(now, bubble)\n\tassertLockHeld(&ts.mu) // t is unlocked now",
		"\tstormLag(now - t.when)\n\tt.unlockAndRun(now, bubble)\n\tassertLockHeld(&ts.mu) // t is unlocked now"},
	// Raw time.
	{"runtime/proc.go", "if retake(now) != 0 {", "if retake(nanotime1()) != 0 {"},
	// A P at work for 10 ms is else taken in its next system call, however short, and the
	// program looks idle in it: one that naps or reads a disk 1 ms at a time, say.
	{"runtime/proc.go", "\t\t\tsysretake = true\n", ""},
	{"runtime/sema.go", "func internal_sync_nanotime() int64 {\n\treturn nanotime()\n}",
		"func internal_sync_nanotime() int64 {\n\treturn nanotime1()\n}"},
	// On loopback only.
	{"net/tcpsock_posix.go", "internetSocket(ctx, sl.network, laddr, nil, syscall.SOCK_STREAM, proto, \"listen\"",
		"internetSocket(ctx, sl.network, stormLoopback(sl.network, laddr), nil, syscall.SOCK_STREAM, proto, \"listen\""},
}

// On amd64 time.now is assembly: it keeps its code under another name, and the
// portable time.now of the other architectures takes its place.
var editsAMD64 = []edit{
	{"runtime/timestub.go", "//go:build !faketime && !windows && !(linux && amd64) && !plan9", "//go:build !faketime && !windows && !plan9"},
	{"runtime/timeasm.go", "//go:linkname time_now time.now\nfunc time_now() (sec int64, nsec int32, mono int64)",
		"func stormUnixNow() (sec int64, nsec int32, mono int64)"},
	{"runtime/time_linux_amd64.s", "TEXT time·now<ABIInternal>(SB)", "TEXT runtime·stormUnixNow<ABIInternal>(SB)"},
}

// unixTime is how a program without a clock page gets the wall time.
var unixTime = map[string]string{
	"amd64": "sec, nsec, _ := stormUnixNow()\n\t\treturn sec, nsec",
	"arm64": "return walltime()",
}
