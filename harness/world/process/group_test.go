//go:build linux

package process_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/world/process"
)

// eventually polls a condition, for so long that only one that never comes takes it.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 2m: %s", what)
		}
	}
}

// state is the letter of /proc/PID/stat, or 0 when there is no such process.
func state(pid int) byte {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[0]
}

// started starts a shell with a child, both of which ignore SIGTERM if deaf.
func started(t *testing.T, deaf bool) *process.Process {
	t.Helper()
	script := "sleep 1000 & wait"
	if deaf {
		script = "trap '' TERM; " + script
	}
	spec := shell(t, script)
	spec.Ready = both(t)
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// both is ready once the shell and its one child are there.
func both(t *testing.T) func(context.Context) error {
	return func(context.Context) error {
		if all := running(t); len(all) != 2 {
			return fmt.Errorf("%v: want the shell and its child", all)
		}
		return nil
	}
}

// Kill, and Stop of what does not listen, end the children too.
func TestWholeGroupEnds(t *testing.T) {
	for name, end := range map[string]func(*process.Process) error{
		"kill": (*process.Process).Kill,
		"stop": func(p *process.Process) error { return p.Stop(50 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p := started(t, true)
			if err := end(p); err != nil || p.Exit() != nil {
				t.Errorf("ending: %v; exit %v", err, p.Exit())
			}
			gone(t)
		})
	}
}

// Who ends by itself leaves no children behind either, and Stop after it does not
// hide how it ended.
func TestEndsByItself(t *testing.T) {
	spec := shell(t, "sleep 1000 & echo bye; exit 7")
	spec.Lines = func([]byte) {} // the child holds the output open
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	gone(t) // the child too
	if err := p.Stop(time.Minute); err != nil {
		t.Error(err)
	}
	var exit *process.ExitError
	if !errors.As(p.Exit(), &exit) || exit.Status != "exit status 7" || exit.Tail != "bye" {
		t.Errorf("exit %v", p.Exit())
	}
}

// Another program's answer on a program's port is not its own.
func TestReadyByAnother(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	spec := shell(t, "echo $$ > "+pid+"; echo address in use; exit 1")
	spec.Ready = func(context.Context) error {
		for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(pid) // not there before the program is
			if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && (state(n) == 'Z' || state(n) == 0) {
				return nil
			}
		}
		return errors.New("it does not end")
	}
	_, err := process.Start(t.Context(), spec)
	var exit *process.ExitError
	if !errors.As(err, &exit) || exit.Status != "exit status 1" {
		t.Errorf("error %v, want that it ended", err)
	}
}

// A look that takes as long as there is time is named as well.
func TestReadyHangs(t *testing.T) {
	spec := shell(t, "sleep 1000")
	spec.ReadyWithin = 100 * time.Millisecond
	spec.Ready = func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("asking http://127.0.0.1:1: %w", http.ErrHandlerTimeout)
	}
	_, err := process.Start(t.Context(), spec)
	if err == nil || !errors.Is(err, http.ErrHandlerTimeout) {
		t.Errorf("error %v does not hold the last look's", err)
	}
}

// Children outlive the goroutine and the thread that asked for them.
func TestThreadThatStarts(t *testing.T) {
	var p *process.Process
	var err error
	spec := shell(t, "sleep 1000")
	tid := onThread(func() { p, err = process.Start(t.Context(), spec) })
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the thread is gone", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(tid))
		return os.IsNotExist(err)
	})
	// A death signal would have been sent by now; let it arrive.
	select {
	case <-p.Exited():
		t.Errorf("the child ended with the thread: %v", p.Exit())
	case <-time.After(100 * time.Millisecond):
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
}

// onThread runs f on a thread that ends after it, and returns the thread's ID. The
// main thread, which Go never ends, is kept busy until then.
func onThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(done)
		if tid = syscall.Gettid(); tid == os.Getpid() {
			defer runtime.UnlockOSThread()
			tid = onThread(f)
			return
		}
		f()
	}()
	<-done
	return tid
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if got := process.Tail(path); !strings.Contains(got, "no log") || !strings.Contains(got, path) {
		t.Errorf("tail of nothing: %q", got)
	}
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("line %d %s", i, strings.Repeat("x", 300)))
	}
	for n, want := range map[int]int{1: 1, 5: 5, 2000: 6} { // 6 whole lines are in 2 KiB
		if err := os.WriteFile(path, []byte(strings.Join(lines[:n], "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(process.Tail(path), "\n")
		if len(got) != want || !slices.Equal(got, lines[n-len(got):n]) {
			t.Errorf("of %d lines, the tail is %d: %.30q", n, len(got), got)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("short\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(process.Tail(path), "short"); got != 12 {
		t.Errorf("%d short lines, want 12", got)
	}
}

func TestLines(t *testing.T) {
	var got []string
	w := process.Lines(func(line []byte) { got = append(got, string(line)) })
	for _, part := range []string{"one\ntw", "o\n", "\n", "thr", "", "ee", "\nfour"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write(%q) = %d, %v", part, n, err)
		}
	}
	if want := []string{"one", "two", "", "three"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
	// Of a line without end only the beginning is kept.
	got = nil
	mega := strings.Repeat("y", 1<<20)
	for range 9 {
		_, _ = w.Write([]byte(mega))
	}
	_, _ = w.Write([]byte("\nnext\n"))
	if len(got) != 2 || len(got[0]) != 8<<20 || !strings.HasPrefix(got[0], "foury") || got[1] != "next" {
		t.Errorf("%d lines, the first of %d bytes", len(got), len(got[0]))
	}
	// Writers at once don't mix their lines.
	got = nil
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				_, _ = w.Write([]byte("a whole line\n"))
			}
		})
	}
	writers.Wait()
	if len(got) != 800 || slices.ContainsFunc(got, func(l string) bool { return l != "a whole line" }) {
		t.Errorf("%d lines of 8 writers", len(got))
	}
}
