// Package process supervises the programs of a world: each in its own process
// group, its output in a file, and gone when we are. It knows nothing of what
// the programs are.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"nodestorm/reports/redact"
)

// Spec is a program to run.
type Spec struct {
	Name string   // how errors call it: "kube-scheduler"
	Path string   // of the program
	Args []string // without the program's name
	Env  []string // all of it: nothing of ours is added
	Dir  string   // folder that it runs in; empty is ours
	// Host is what the machine is called that it finds itself on, see NamesHosts; empty: as this one is.
	Host string
	Log  string // file for stdout and stderr, which are added to it
	// Hide are secrets that must not be in the output, in addition to those that Env has by
	// their names: they are removed before the output is written.
	Hide []string
	// Lines, if given, is called with every line of the output as well.
	Lines func([]byte)
	// Launch starts it in place of its own Start. Nil means that.
	Launch func(*exec.Cmd) error
	// Elsewhere runs it as something else than a process of ours, such as a container, with
	// its output to out; Dir, Launch and Stdout are not looked at then. The context bounds the
	// start only. Nil means a process of ours.
	Elsewhere func(ctx context.Context, spec Spec, out io.Writer) (Running, error)
	// Stdout, if given, is called with every line of stdout, which the log then lacks.
	Stdout func([]byte)

	// Ready reports nil once the program serves; it is asked every 20 ms.
	// Nil means ready once started.
	Ready func(context.Context) error
	// ReadyWithin bounds the wait in real time; zero means a minute.
	ReadyWithin time.Duration
}

// Running is what a Process stands for.
type Running interface {
	// PID is its number on this machine, and its process group's; 0 if it has none.
	PID() int
	// Signal sends a signal to all of it.
	Signal(syscall.Signal) error
	// Ended reports whether it has, also if it has not been waited for yet.
	Ended() bool
	// Wait returns when nothing of it is left and all output is written. It is called once.
	Wait() End
}

// End is how a program ended.
type End struct {
	Status string // "exit status 1", "signal: killed"
	// Code is the exit status of a program, or 128 and the number of the signal that ended
	// it, as shells have it.
	Code int
	// Lost says why nothing is known of it; nil where it is.
	Lost *LostError
}

// LostError says that the runner of a program no longer reports on it: that is no end of its own.
type LostError struct {
	Name string // the program's
	By   string // who ran it: "Docker"
	Err  error
}

func (e *LostError) Error() string { return fmt.Sprintf("%s has lost %s: %v", e.By, e.Name, e.Err) }
func (e *LostError) Unwrap() error { return e.Err }

// Process is a running program. Its methods are safe for concurrent use.
type Process struct {
	spec   Spec
	run    Running
	exited chan struct{}
	ending atomic.Bool

	// What follows is valid once exited is closed.
	end   End
	err   error // of its output
	asked bool  // to end, before it did
}

// ExitError says that a program ended by itself.
type ExitError struct {
	Name   string
	Status string // "exit status 1", "signal: killed"
	Cause  string // the line of its output that says why, empty if none does
	Tail   string // its last lines
	Log    string // where the rest is
}

// Ended is how a program ended that logged to the file.
func Ended(name, status, log string) *ExitError {
	return &ExitError{Name: name, Status: status, Cause: lastWords(log), Tail: Tail(log), Log: log}
}

// Error has what matters in its first line.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("%s ended (%s)", e.Name, e.Status)
	if e.Cause != "" {
		text += ": " + e.Cause
	}
	return fmt.Sprintf("%s\nits last lines, of %s:\n%s", text, e.Log, indent(e.Tail))
}

// NotReadyError says that a program runs but did not become ready in time.
type NotReadyError struct {
	Name   string
	After  time.Duration
	Last   error // what the last look said
	Tail   string
	Log    string
	Killed error // stopping it; nil when it is gone
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("%s was not ready after %s (%v); its last lines, of %s:\n%s", e.Name, e.After, e.Last, e.Log, indent(e.Tail))
}

func (e *NotReadyError) Unwrap() error { return e.Last }

// Start runs the program and waits until it is ready, see [Process.AwaitReady].
func Start(ctx context.Context, spec Spec) (*Process, error) {
	p, err := Spawn(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := p.AwaitReady(ctx, time.After); err != nil {
		return nil, err
	}
	return p, nil
}

// Spawn runs the program and does not wait until it is ready. The context bounds the start of
// one that runs Elsewhere.
func Spawn(ctx context.Context, spec Spec) (*Process, error) {
	out, err := os.OpenFile(spec.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	p := &Process{spec: spec, exited: make(chan struct{})}
	var output io.Writer = out
	if spec.Lines != nil {
		output = io.MultiWriter(out, Lines(spec.Lines))
	}
	output, flush := hiding(output, append(redact.Secrets(spec.Env), spec.Hide...))
	if spec.Elsewhere != nil {
		p.run, err = spec.Elsewhere(ctx, spec, output)
	} else {
		p.run, err = start(spec, output, output != io.Writer(out))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", spec.Name, err), out.Close())
	}
	go func() {
		p.end = p.run.Wait()
		p.err = errors.Join(flush(), out.Close())
		p.asked = p.ending.Load()
		close(p.exited)
	}()
	return p, nil
}

// program is a process of ours, with its group.
type program struct{ cmd *exec.Cmd }

// start starts one. Where its output is copied, a child of it may hold that open.
func start(spec Spec, output io.Writer, copied bool) (Running, error) {
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append([]string{}, spec.Env...) // nil would be ours
	cmd.Dir = spec.Dir
	if copied {
		cmd.WaitDelay = time.Second
	}
	cmd.Stdout, cmd.Stderr = output, output
	if spec.Stdout != nil {
		// mutant: what is on stdout is in the log, too
		cmd.Stdout, cmd.WaitDelay = Lines(spec.Stdout), time.Second
	}
	cmd.SysProcAttr = attributes()
	launch := (*exec.Cmd).Start
	if spec.Launch != nil {
		launch = spec.Launch
	}
	return program{cmd}, fork(func() error {
		if spec.Host != "" {
			return onHost(spec.Host, func() error { return launch(cmd) })
		}
		return launch(cmd)
	})
}

func (p program) PID() int { return p.cmd.Process.Pid }

func (p program) Signal(s syscall.Signal) error { return syscall.Kill(-p.PID(), s) }

func (p program) Ended() bool { return ended(p.PID()) }

func (p program) Wait() End {
	awaitEnd(p.PID())
	err := p.cmd.Wait()
	// What it started ends with it, while the group's number is still its own.
	_ = p.Signal(syscall.SIGKILL)
	state := p.cmd.ProcessState
	end := End{Status: state.String(), Code: state.ExitCode()}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		end.Code = 128 + int(s.Signal())
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		end.Status += ", " + err.Error()
	}
	return end
}

// askEvery is how often a program is asked whether it is ready.
const askEvery = 20 * time.Millisecond

// AwaitReady waits until the program is ready. It returns an *ExitError if the program
// ends instead, a *NotReadyError if time runs out; in both cases nothing is left running.
// What passes between two questions passes by after, such as [time.After].
func (p *Process) AwaitReady(ctx context.Context, after func(time.Duration) <-chan time.Time) error {
	if p.spec.Ready == nil {
		return nil
	}
	within := p.spec.ReadyWithin
	if within == 0 {
		within = time.Minute
	}
	began := time.Now() // before the bound begins, so that no less passes
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for last := error(nil); ; {
		err := p.spec.Ready(ctx)
		if err == nil && p.run.Ended() {
			<-p.exited // another process answered on its port
		}
		select {
		case <-p.exited:
			return p.Exit()
		default:
		}
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-p.exited:
			return p.Exit()
		case <-after(askEvery):
			continue
		case <-ctx.Done():
		}
		killed := p.Kill()
		if errors.Is(ctx.Err(), context.Canceled) {
			return fmt.Errorf("starting %s: %w", p.spec.Name, errors.Join(context.Cause(ctx), killed))
		}
		return &NotReadyError{Name: p.spec.Name, After: min(within, time.Since(began)), Last: last, Tail: Tail(p.spec.Log), Log: p.spec.Log,
			Killed: killed}
	}
}

// Name is the Spec's.
func (p *Process) Name() string { return p.spec.Name }

// PID is the process ID, and the process group's.
func (p *Process) PID() int { return p.run.PID() }

// Code is the exit status of a program that has ended, or 128 and the number of the
// signal that ended it, as shells have it.
func (p *Process) Code() int { return p.end.Code }

// Exited is closed when the program has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit is how the program ended: nil while it runs, and if it ended because of
// Stop or Kill.
func (p *Process) Exit() error {
	select {
	case <-p.exited:
	default:
		return nil
	}
	if p.asked {
		return nil
	}
	if p.end.Lost != nil {
		return p.end.Lost
	}
	status := p.end.Status
	if p.err != nil {
		status += ", " + p.err.Error()
	}
	return Ended(p.spec.Name, status, p.spec.Log)
}

// Stop asks the program to end, waits for grace of real time, and kills what is
// left of its process group.
func (p *Process) Stop(grace time.Duration) error {
	_ = p.Terminate() // gone already is fine: Kill looks again
	select {
	case <-p.exited:
	case <-time.After(grace):
	}
	return p.Kill()
}

// Terminate asks the program to end, and does not wait for it.
func (p *Process) Terminate() error {
	p.ending.Store(true)
	return p.Signal(syscall.SIGTERM)
}

// killWithin bounds, in real time, how long a killed program may take to be gone:
// on a full machine, or behind a disk that stands still, that is no instant.
const killWithin = time.Minute

// Kill ends the whole process group at once and waits until the program is gone.
func (p *Process) Kill() error {
	p.ending.Store(true)
	err := p.Signal(syscall.SIGKILL)
	select {
	case <-p.exited:
		return nil
	case <-time.After(killWithin):
		return errors.Join(err, fmt.Errorf("%s (process %d) is still there %s after SIGKILL: %s", p.spec.Name, p.PID(), killWithin,
			state(p.PID())))
	}
}

// Signal sends a signal to the whole process group. One that is gone is fine.
func (p *Process) Signal(s syscall.Signal) error {
	select {
	case <-p.exited: // so has its group, and the number may be another's
		return nil
	default:
	}
	if err := p.run.Signal(s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s (process group %d): %w", s, p.spec.Name, p.PID(), err)
	}
	return nil
}
