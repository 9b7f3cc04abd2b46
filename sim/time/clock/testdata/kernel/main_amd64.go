package main

import (
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	waits["poll"] = func(d time.Duration, fd int) (word, unix.Errno) {
		return call(unix.SYS_POLL, to(&unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}), 1, word(d.Milliseconds()))
	}
	waits["select"] = func(d time.Duration, fd int) (word, unix.Errno) {
		var set unix.FdSet
		set.Set(fd)
		left := unix.NsecToTimeval(int64(d))
		got, errno := call(unix.SYS_SELECT, word(fd+1), to(&set), 0, 0, to(&left))
		return got + word(left.Nano()), errno // nothing is left
	}
	waits["epoll_wait"] = func(d time.Duration, fd int) (word, unix.Errno) {
		events := make([]unix.EpollEvent, 7)
		return call(unix.SYS_EPOLL_WAIT, poller(fd), to(&events[0]), 7, word(d.Milliseconds()))
	}
	reals["alarm"] = func() { call(unix.SYS_ALARM, 1000) }
	clocks["time"] = func() int64 {
		var t int64
		got, errno := call(unix.SYS_TIME, to(&t))
		must(errno)
		if t != int64(got) {
			panic("two times")
		}
		return t * int64(time.Second)
	}
}
