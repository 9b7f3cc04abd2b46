//go:build linux && (amd64 || arm64)

// Package tracee changes programs before their first instruction, by ptrace: they read their time
// from a clock page, and report the system calls that have to do with time. It also knows what a
// machine and a Go program's file say about that. When a wait ends is package clock's business.
package tracee

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tracee is a program that was started under ptrace and has not run its first instruction
// yet. The thread that started it, and no other, may do something to it.
type Tracee struct {
	pid  int
	regs syscall.PtraceRegs
	err  error         // the first; then nothing is done any more
	late []unix.Signal // that it is to get when it begins
}

// Stopped waits for a child that was just started to stop at its first instruction.
func Stopped(pid int) (*Tracee, error) {
	t := &Tracee{pid: pid}
	if _, err := t.await(); err != nil {
		return nil, err
	}
	// It ends with us until it is let go.
	t.err = syscall.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL)
	if t.err == nil {
		t.err = GetRegs(pid, &t.regs)
	}
	return t, t.err
}

// Held is a thread that the calling one holds at its first instruction.
func Held(tid int) *Tracee {
	t := &Tracee{pid: tid}
	t.err = GetRegs(tid, &t.regs)
	return t
}

// Late are signals that it is to get when it begins.
func (t *Tracee) Late() []unix.Signal { return t.late }

func (t *Tracee) await() (status syscall.WaitStatus, err error) {
	for {
		_, err := syscall.Wait4(t.pid, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case !status.Stopped():
			return 0, fmt.Errorf("it ended (wait status %#x) before it began", uint32(status))
		default:
			return status, nil
		}
	}
}

// call has it make a system call, and returns what came of that.
func (t *Tracee) call(what string, nr uintptr, args ...uintptr) uintptr {
	if t.err != nil {
		return 0
	}
	got, err := t.try(nr, args...)
	if err != nil {
		t.err = fmt.Errorf("%s in a program that is to live in virtual time: %w", what, err)
	}
	return got
}

func (t *Tracee) try(nr uintptr, args ...uintptr) (uintptr, error) {
	at := place(&t.regs)
	was := make([]byte, len(systemCall))
	if _, err := syscall.PtracePeekText(t.pid, at, was); err != nil {
		return 0, err
	}
	if _, err := syscall.PtracePokeText(t.pid, at, systemCall); err != nil {
		return 0, err
	}
	regs := t.regs
	var six [6]uintptr
	copy(six[:], args)
	setCall(&regs, nr, six)
	if err := SetRegs(t.pid, &regs); err != nil {
		return 0, err
	}
	if err := t.step(); err != nil {
		return 0, err
	}
	if err := GetRegs(t.pid, &regs); err != nil {
		return 0, err
	}
	_, err := syscall.PtracePokeText(t.pid, at, was)
	if err := errors.Join(err, SetRegs(t.pid, &t.regs)); err != nil {
		return 0, err
	}
	if got := result(&regs); got < 0 && got > -4096 {
		return 0, syscall.Errno(-got)
	}
	return uintptr(result(&regs)), nil
}

// step has it do one instruction, whatever else it is to stop for.
func (t *Tracee) step() error {
	for {
		if err := syscall.PtraceSingleStep(t.pid); err != nil {
			return err
		}
		status, err := t.await()
		if err != nil {
			return err
		}
		switch signal := status.StopSignal(); {
		case status>>16 != 0: // an interruption that was asked for before
		case signal == unix.SIGTRAP:
			return nil
		default:
			t.late = append(t.late, signal)
		}
	}
}

// room is where its stack will grow later, a few pages below its end: what a system call
// reads can be there, until the next one.
func (t *Tracee) room() uintptr { return (stack(&t.regs) - 8192) &^ 15 }

// leave puts data there, and returns where.
func (t *Tracee) leave(data []byte) uintptr {
	at := t.room()
	t.poke(at, data)
	return at
}

func (t *Tracee) poke(at uintptr, data []byte) {
	if t.err == nil {
		_, t.err = syscall.PtracePokeData(t.pid, at, data)
	}
}

func (t *Tracee) peek(at uintptr, size int) []byte {
	data := make([]byte, size)
	if t.err == nil {
		_, t.err = syscall.PtracePeekData(t.pid, at, data)
	}
	return data
}

// text is a string as C has it.
func text(s string) []byte { return append(slices.Clone([]byte(s)), 0) }
