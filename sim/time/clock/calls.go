//go:build linux && (amd64 || arm64)

package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/tracee"
)

// What a guest asks of the kernel about time is one of three things: it is made virtual (a clock
// is read, something is waited for at most so long), nothing is known of it but that it
// passes in real time, and then the run is none that anything may be concluded from, or there is
// no rule here for it and it has nothing to do with time.

// rule is what is done about a system call.
type rule struct {
	when condition
	do   func(*family, *guest, *notification) response
}

// rules by the number of the call. It is filled by init, since what is done looks into it.
var rules map[uint32]rule

func init() {
	rules = map[uint32]rule{
		unix.SYS_BIND: {always(), bind},

		unix.SYS_CLOCK_GETTIME: {oneOf(0, math.MaxUint32, virtualClocks, always()), readClock},
		unix.SYS_GETTIMEOFDAY:  {always(), readTimeOfDay},

		unix.SYS_EPOLL_PWAIT:     {unlessZero(3), waitForEvents},
		unix.SYS_EPOLL_PWAIT2:    {given(3), waitAtMost(3, 0)},
		unix.SYS_PPOLL:           {given(2), waitAtMost(2, 0)},
		unix.SYS_PSELECT6:        {given(4), waitAtMost(4, 0)},
		unix.SYS_NANOSLEEP:       {always(), waitAtMost(0, 0)},
		unix.SYS_CLOCK_NANOSLEEP: {always(), sleep},
		unix.SYS_FUTEX: {oneOf(1, futexCommand,
			[]uint32{futexWait, futexWaitBitset, futexLockPI, futexWaitRequeuePI, futexLockPI2}, given(3)), waitForOthers},
		unix.SYS_RT_SIGTIMEDWAIT: {given(2), waitAtMost(2, -int64(unix.EAGAIN))},

		unix.SYS_RECVMMSG:        {given(4), inRealTime("receives messages for at most so long by recvmmsg")},
		unix.SYS_SEMTIMEDOP:      {given(3), inRealTime("waits for a semaphore by semtimedop")},
		unix.SYS_MQ_TIMEDSEND:    {given(4), inRealTime("waits by mq_timedsend")},
		unix.SYS_MQ_TIMEDRECEIVE: {given(4), inRealTime("waits by mq_timedreceive")},
		unix.SYS_IO_GETEVENTS:    {given(4), inRealTime("waits by io_getevents")},
		unix.SYS_IO_PGETEVENTS:   {given(4), inRealTime("waits by io_pgetevents")},
		unix.SYS_IO_URING_SETUP:  {always(), inRealTime("uses io_uring")},
		unix.SYS_FUTEX_WAITV:     {given(3), inRealTime("waits by futex_waitv")},
		sysFutexWait:             {given(4), inRealTime("waits by futex_wait")},
		unix.SYS_TIMERFD_SETTIME: {always(), setTimer(2, "uses timerfd")},
		unix.SYS_TIMER_CREATE:    {oneOf(0, math.MaxUint32, virtualClocks, always()), inRealTime("sets a timer by timer_create")},
		unix.SYS_SETITIMER:       {oneOf(0, math.MaxUint32, []uint32{unix.ITIMER_REAL}, given(1)), setTimer(1, "sets a timer by setitimer")},
		unix.SYS_SETSOCKOPT: {oneOf(1, math.MaxUint32, []uint32{unix.SOL_SOCKET},
			oneOf(2, math.MaxUint32, socketTimeouts, always())), setSocketTimeout},

		unix.SYS_EXECVE:   {always(), execute},
		unix.SYS_EXECVEAT: {always(), execute},
		unix.SYS_CLONE:    {unlessBit(0, unix.CLONE_THREAD), fork},
		unix.SYS_CLONE3:   {always(), fork},
	}
	maps.Copy(rules, machineRules())
}

// virtualClocks are those that give the time of day, or how long something takes. What processor
// time says is not theirs.
var virtualClocks = []uint32{
	unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE,
	unix.CLOCK_BOOTTIME, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_BOOTTIME_ALARM, unix.CLOCK_TAI,
}

// See futex(2).
const (
	futexCommand                                                              = 0x7f
	futexWait, futexLockPI, futexWaitBitset, futexWaitRequeuePI, futexLockPI2 = 0, 6, 9, 11, 13
	futexClockRealtime                                                        = 256

	sysFutexWait = 455
)

// socketTimeouts are SO_RCVTIMEO and SO_SNDTIMEO, with both sizes of time.
var socketTimeouts = []uint32{20, 21, 66, 67}

// proceed lets the kernel do it.
func proceed() response { return response{flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE} }

func answer(value int64, err unix.Errno) response { return response{value: value, err: -int32(err)} }

// inRealTime names what passes in real time only.
func inRealTime(what string) func(*family, *guest, *notification) response {
	return func(f *family, g *guest, _ *notification) response {
		f.named(g, what)
		return proceed()
	}
}

// setTimer is of no interest if the timer is stopped: the argument is where it says how often and
// when first.
func setTimer(arg int, what string) func(*family, *guest, *notification) response {
	return func(f *family, g *guest, n *notification) response {
		if t, ok := f.words(n, n.args[arg], 4); !ok || t[2] != 0 || t[3] != 0 {
			f.named(g, what)
		}
		return proceed()
	}
}

// readClock answers in the kernel's place who has asked it and not the vDSO.
func readClock(f *family, g *guest, n *notification) response {
	// mutant: a clock that is asked of the kernel returns the real time
	if g.inVDSO(n.at) {
		return proceed() // it is on behalf of our code, which wants to know the real time
	}
	now := f.driver.page.now()
	switch uint32(n.args[0]) {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM:
		now += f.driver.page.wallOffset()
	case unix.CLOCK_TAI:
		now += f.driver.page.wallOffset() + leapSeconds()
	}
	return f.fill(n, n.args[1], now/int64(time.Second), now%int64(time.Second))
}

func readTimeOfDay(f *family, _ *guest, n *notification) response {
	now := f.driver.page.now() + f.driver.page.wallOffset()
	if n.args[1] != 0 { // a time zone, which no program here has
		if r := f.fill(n, n.args[1], 0); r.err != 0 {
			return r
		}
	}
	if n.args[0] == 0 {
		return answer(0, 0)
	}
	return f.fill(n, n.args[0], now/int64(time.Second), now%int64(time.Second)/int64(time.Microsecond))
}

// leapSeconds is by how much TAI is ahead of the time of day, as far as this machine knows, in ns.
func leapSeconds() int64 {
	var tai, wall unix.Timespec
	if unix.ClockGettime(unix.CLOCK_TAI, &tai) != nil || unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil {
		return 0
	}
	return time.Duration(tai.Nano() - wall.Nano()).Round(time.Second).Nanoseconds()
}

// fill writes into the memory of who has asked, if he still waits for the answer.
func (f *family) fill(n *notification, at uint64, words ...int64) response {
	var data []byte
	for _, w := range words {
		data = binary.NativeEndian.AppendUint64(data, uint64(w))
	}
	if !f.stillThere(n) {
		return answer(0, unix.ESRCH) // no thread waits for it
	}
	if k, err := tracee.WriteMemory(int(n.tid), at, data); err != nil || k != len(data) {
		if err != nil && !errors.Is(err, unix.EFAULT) {
			f.fail(fmt.Errorf("answering process %d, which asks for the time: %w", n.tid, err))
		}
		return answer(0, unix.EFAULT)
	}
	return answer(0, 0)
}

// words reads from the memory of who has asked.
func (f *family) words(n *notification, at uint64, count int) ([]int64, bool) {
	data := make([]byte, 8*count)
	k, err := tracee.ReadMemory(int(n.tid), at, data)
	if err != nil && !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.ESRCH) {
		f.fail(fmt.Errorf("reading for how long process %d waits: %w", n.tid, err))
	}
	if err != nil || k != len(data) || !f.stillThere(n) {
		return nil, false // the kernel will not find it either, or no thread is there to wait
	}
	words := make([]int64, count)
	for i := range words {
		words[i] = int64(binary.NativeEndian.Uint64(data[8*i:]))
	}
	return words, true
}

// waitForEvents is epoll_wait.
func waitForEvents(f *family, g *guest, n *notification) response {
	return f.awaitEvents(g, n, g.isRuntimesPoller(n))
}

// awaitEvents is epoll_wait, whose timeout is in milliseconds, of Go's runtime or of other code.
func (f *family) awaitEvents(g *guest, n *notification, runtimes bool) response {
	w := wait{nr: uint32(n.nr), until: int64(forever), signal: runtimes}
	if ms := int32(n.args[3]); ms >= 0 {
		w.until = f.driver.page.now() + int64(ms)*int64(time.Millisecond)
	}
	return f.await(g, n, w)
}

// waitAtMost is a call whose argument says how long it may last, a timespec's address, and which
// then returns that value.
func waitAtMost(arg int, value int64) func(*family, *guest, *notification) response {
	return func(f *family, g *guest, n *notification) response {
		if g.isRuntimes(n) {
			return proceed()
		}
		t, ok := f.words(n, n.args[arg], 2)
		if !ok || t[0] < 0 || t[1] < 0 || t[1] >= int64(time.Second) {
			return proceed() // it is refused
		}
		return f.await(g, n, wait{nr: uint32(n.nr), until: after(f.driver.page.now(), t[0], t[1]), value: value})
	}
}

// after is so many seconds and ns later, or forever.
func after(now, s, ns int64) int64 {
	if s >= (forever-now)/int64(time.Second)-1 {
		return forever
	}
	return now + s*int64(time.Second) + ns
}

// sleep is clock_nanosleep.
func sleep(f *family, g *guest, n *notification) response {
	clock, absolute := uint32(n.args[0]), n.args[1]&unix.TIMER_ABSTIME != 0
	switch {
	case clock != unix.CLOCK_REALTIME && clock != unix.CLOCK_MONOTONIC && clock != unix.CLOCK_BOOTTIME:
		if clock == unix.CLOCK_TAI || clock == unix.CLOCK_REALTIME_ALARM || clock == unix.CLOCK_BOOTTIME_ALARM {
			f.named(g, "sleeps by a clock that is none of the usual ones")
		}
		return proceed() // what counts processor time does
	case !absolute:
		return waitAtMost(2, 0)(f, g, n)
	}
	t, ok := f.words(n, n.args[2], 2)
	if !ok || t[0] < 0 || t[1] < 0 || t[1] >= int64(time.Second) {
		return proceed()
	}
	return f.awaitInstant(g, n, clock, t, 0)
}

// waitForOthers is futex.
func waitForOthers(f *family, g *guest, n *notification) response {
	if g.isRuntimes(n) {
		return proceed()
	}
	switch op := uint32(n.args[1]); op & futexCommand {
	case futexWait:
		return waitAtMost(3, -int64(unix.ETIMEDOUT))(f, g, n)
	case futexWaitBitset:
		clock := uint32(unix.CLOCK_MONOTONIC)
		if op&futexClockRealtime != 0 {
			clock = unix.CLOCK_REALTIME
		}
		t, ok := f.words(n, n.args[3], 2)
		if !ok || t[0] < 0 || t[1] < 0 || t[1] >= int64(time.Second) {
			return proceed()
		}
		return f.awaitInstant(g, n, clock, t, -int64(unix.ETIMEDOUT))
	}
	return inRealTime("waits for a lock that hands on its priority, for at most so long")(f, g, n)
}

// awaitInstant is a wait until an instant by a clock.
func (f *family) awaitInstant(g *guest, n *notification, clock uint32, t []int64, value int64) response {
	var its unix.Timespec
	if err := unix.ClockGettime(int32(clock), &its); err != nil {
		f.fail(err)
	}
	now := f.driver.page.now()
	until := after(0, t[0], t[1])
	if clock == unix.CLOCK_REALTIME && until < forever {
		until -= f.driver.page.wallOffset()
	}
	if until <= now {
		if value < 0 {
			return answer(0, unix.Errno(-value))
		}
		return answer(value, 0)
	}
	// The kernel's own clock, by which it waits, must not be there first. That of the day may
	// have been set right a little since the world began.
	if ours := now + f.wallOffset(clock); its.Nano()-ours > int64(fineGrain) {
		f.named(g, "waits until an instant by a clock that in truth is ahead of the virtual one")
	}
	return f.await(g, n, wait{nr: uint32(n.nr), until: until, value: value})
}

func (f *family) wallOffset(clock uint32) int64 {
	if clock == unix.CLOCK_REALTIME {
		return f.driver.page.wallOffset()
	}
	return 0
}

// await lets a wait begin, and notes until when it may last.
func (f *family) await(g *guest, n *notification, w wait) response {
	if m := f.driver.cfg.Mode; !w.signal && w.until < forever && m.factor > 0 && m.factor < 1 {
		f.named(g, "waits for at most so long in a way whose real length counts, and time is to be slower than that")
	}
	g.wait(int(n.tid), w)
	return proceed()
}

// setSocketTimeout is of no interest if the timeout is none.
func setSocketTimeout(f *family, g *guest, n *notification) response {
	if t, ok := f.words(n, n.args[3], 2); !ok || t[0] != 0 || t[1] != 0 {
		f.named(g, "has a socket's calls last for at most so long (SO_RCVTIMEO, SO_SNDTIMEO)")
	}
	return proceed()
}

func bind(_ *family, _ *guest, n *notification) response {
	if err := onLoopback(int(n.tid), n.args[1], int(n.args[2])); err != nil {
		return answer(0, unix.EACCES) // rather than that others hear it
	}
	return proceed()
}

// fork is how a process begins. Threads are none of our business.
func fork(f *family, _ *guest, n *notification) response {
	if n.nr == unix.SYS_CLONE3 {
		if flags, ok := f.words(n, n.args[0], 1); ok && flags[0]&unix.CLONE_THREAD != 0 {
			return proceed()
		}
	}
	f.forked.Store(true)
	return proceed()
}
