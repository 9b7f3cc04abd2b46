package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// machineRules are for what this machine's kernel has from of old, in addition to what all have.
func machineRules() map[uint32]rule {
	return map[uint32]rule{
		unix.SYS_TIME:       {always(), readSeconds},
		unix.SYS_EPOLL_WAIT: {unlessZero(3), waitForEvents},
		unix.SYS_POLL:       {unlessZero(2), poll3},
		unix.SYS_SELECT:     {given(4), selectAtMost},
		unix.SYS_ALARM:      {unlessZero(0), inRealTime("sets a timer by alarm")},
		unix.SYS_FORK:       {always(), fork},
		unix.SYS_VFORK:      {always(), fork},
	}
}

func readSeconds(f *family, _ *guest, n *notification) response {
	now := (f.driver.page.now() + f.driver.page.wallOffset()) / int64(time.Second)
	if n.args[0] != 0 {
		if r := f.fill(n, n.args[0], now); r.err != 0 {
			return r
		}
	}
	return answer(now, 0)
}

// poll3 is poll, whose timeout is in milliseconds.
func poll3(f *family, g *guest, n *notification) response {
	w := wait{nr: uint32(n.nr), until: forever}
	if ms := int32(n.args[2]); ms >= 0 {
		w.until = f.driver.page.now() + int64(ms)*int64(time.Millisecond)
	}
	return f.await(g, n, w)
}

// selectAtMost is select, whose timeout is a timeval, which says afterwards what is left of it.
func selectAtMost(f *family, g *guest, n *notification) response {
	t, ok := f.words(n, n.args[4], 2)
	if !ok || t[0] < 0 || t[1] < 0 {
		return proceed() // it is refused
	}
	return f.await(g, n,
		wait{nr: uint32(n.nr), until: after(f.driver.page.now(), t[0], t[1]*int64(time.Microsecond)), left: uintptr(n.args[4])})
}
