package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeping is the argument with which this program keeps another.
const keeping = "keep"

// grace is how long descendants of a command may outlive it: guards clean up when it was killed.
const grace = 10 * time.Second

// kept is what a keeper says of its command.
type kept struct {
	Status int      // -1 of one that a signal has ended
	Left   []string // what was there when the grace was over
}

// keep runs a command whose descendants become the keeper's own once their parents have died, so that
// none gets lost. It writes to file what came of the command, after ending what was left.
func keep(file string, command []string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 1
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 1
	}
	go func() {
		for s := range signals {
			_ = syscall.Kill(-cmd.Process.Pid, s.(syscall.Signal)) // the command may have ended
		}
	}()
	err := cmd.Wait()
	if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 1
	}
	what := kept{Status: cmd.ProcessState.ExitCode(), Left: ended(os.Getpid())}
	text, err := json.Marshal(what)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 1
	}
	return 0
}

// ended waits until all descendants are gone, ends those that stay, and says which those were.
func ended(pid int) (left []string) {
	for end := time.Now().Add(grace); ; time.Sleep(100 * time.Millisecond) {
		reap()
		all := descendants(pid)
		if len(all) == 0 {
			return left
		}
		if time.Now().Before(end) {
			continue
		}
		for _, p := range all {
			if left == nil || !p.killed {
				left = append(left, p.describe())
			}
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
		reapAll(pid)
		return left
	}
}

// reap takes notice of the children that have ended.
func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// reapAll waits for all that was killed, children of children too.
func reapAll(pid int) {
	for end := time.Now().Add(grace); time.Now().Before(end) && len(descendants(pid)) > 0; time.Sleep(10 * time.Millisecond) {
		reap()
		for _, p := range descendants(pid) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// process is a descendant.
type process struct {
	pid    int
	name   string // of its program's file
	killed bool
}

// descendants are those of a process, zombies left out.
func descendants(pid int) (all []process) {
	children := map[int][]process{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, path := range stats {
		text, err := os.ReadFile(path)
		begin, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if err != nil || begin < 0 || end < begin {
			continue // it is gone
		}
		fields := strings.Fields(string(text[end+1:]))
		if len(fields) < 2 {
			continue
		}
		p := process{name: string(text[begin+1 : end])}
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		if command, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")); err == nil && len(command) > 0 {
			p.name, _, _ = strings.Cut(filepath.Base(strings.SplitN(string(command), "\x00", 2)[0]), " ")
		}
		p.killed = fields[0] == "Z" || fields[0] == "X"
		children[parent] = append(children[parent], p)
	}
	for next := children[pid]; len(next) > 0; {
		p := next[0]
		next = append(next[1:], children[p.pid]...)
		if !p.killed {
			all = append(all, p)
		}
	}
	return all
}

// describe says what a process is that was left, with its ports, and whether it has a network of its own.
func (p process) describe() string {
	said := "process " + p.name
	if n := listens(p.pid); n > 0 {
		said += fmt.Sprintf(", %d ports", n)
	}
	ours, _ := os.Readlink("/proc/self/ns/net")
	if its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", p.pid)); err == nil && its != ours {
		said += ", a network namespace"
	}
	return said
}

// listens counts the TCP sockets on which a process listens.
func listens(pid int) (n int) {
	own := map[string]bool{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is right
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil {
			own[to] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && own["socket:["+f[9]+"]"] {
				n++
			}
		}
	}
	return n
}
