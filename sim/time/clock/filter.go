//go:build linux && (amd64 || arm64)

package clock

import (
	"slices"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/tracee"
)

// condition is what the kernel looks at before it reports a system call to us: a part of a seccomp
// filter that ends in report or allow.
type condition []unix.SockFilter

const (
	loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	give     = unix.BPF_RET | unix.BPF_K
	// What a filter reads, see seccomp(2).
	callNumber, callArch, callPlace = 0, 4, 8
)

var (
	report = unix.SockFilter{Code: give, K: unix.SECCOMP_RET_USER_NOTIF}
	allow  = unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW}
)

// lower is where the lower half of an argument is; the upper one follows.
func lower(arg int) uint32 { return uint32(16 + 8*arg) }

// jump goes over as many instructions as yes or no says.
func jump(test uint16, k uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: k}
}

// always reports every call.
func always() condition { return condition{report} }

// unlessZero reports calls whose argument, of 32 bits, is not 0.
func unlessZero(arg int) condition {
	return condition{{Code: loadWord, K: lower(arg)}, jump(unix.BPF_JEQ, 0, 1, 0), report, allow}
}

// given reports calls whose argument, an address, is not null.
func given(arg int) condition {
	return condition{
		{Code: loadWord, K: lower(arg)}, jump(unix.BPF_JEQ, 0, 0, 2),
		{Code: loadWord, K: lower(arg) + 4}, jump(unix.BPF_JEQ, 0, 1, 0),
		report, allow,
	}
}

// oneOf reports calls whose argument, as far as the mask goes, is one of the values, and for which
// the rest holds.
func oneOf(arg int, mask uint32, values []uint32, rest condition) condition {
	c := condition{{Code: loadWord, K: lower(arg)}, {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}}
	for i, v := range values {
		c = append(c, jump(unix.BPF_JEQ, v, len(values)-i, 0))
	}
	return append(append(c, allow), rest...)
}

// unlessBit reports calls whose argument lacks a bit.
func unlessBit(arg int, bit uint32) condition {
	return condition{{Code: loadWord, K: lower(arg)}, jump(unix.BPF_JSET, bit, 0, 1), allow, report}
}

// elsewhere lets calls through that are made in those places.
func elsewhere(places []uint64, rest condition) (c condition) {
	for _, p := range places {
		c = append(c,
			unix.SockFilter{Code: loadWord, K: callPlace}, jump(unix.BPF_JEQ, uint32(p), 0, 3),
			unix.SockFilter{Code: loadWord, K: callPlace + 4}, jump(unix.BPF_JEQ, uint32(p>>32), 0, 1),
			allow)
	}
	return append(c, rest...)
}

// x32 is the bit of call numbers that have a meaning of their own.
const x32 = 0x40000000

// filterCode reports the calls that there are rules for, but not of those that Go's runtime makes
// in places of its own, and of all calls of other machines' kind.
func filterCode(own []uint64) []unix.SockFilter {
	code := []unix.SockFilter{
		{Code: loadWord, K: callArch}, jump(unix.BPF_JEQ, tracee.AuditArch, 1, 0), report,
		{Code: loadWord, K: callNumber}, jump(unix.BPF_JGE, x32, 0, 1), report,
	}
	for _, nr := range sortedRules() {
		c := rules[nr].when
		if nr == unix.SYS_NANOSLEEP || nr == unix.SYS_FUTEX {
			c = elsewhere(own, c)
		}
		code = append(append(code, jump(unix.BPF_JEQ, nr, 0, len(c))), c...)
	}
	return append(code, allow)
}

func sortedRules() (numbers []uint32) {
	for nr := range rules {
		numbers = append(numbers, nr)
	}
	slices.Sort(numbers)
	return numbers
}
