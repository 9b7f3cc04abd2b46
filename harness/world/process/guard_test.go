//go:build linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// script runs the guard's script for dir with the owner's last words, and with
// a kill that only notes what it was asked to do; all processes are the folder's.
func script(t *testing.T, dir, words string) (killed []string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "killed")
	cmd := exec.Command("/bin/sh", "-c", "kill() { echo \"$*\" >> '"+log+"'; }\ngrep() { :; }\n"+guardScript, "guard", dir)
	cmd.Stdin = strings.NewReader(words)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// Only what is the ID of a process that could be ours is killed: -1 would be
// everybody, and -0 the guard itself.
func TestGuardKillsIDsOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `it's "here" $(now)`)
	if err := os.MkdirAll(filepath.Join(dir, "pids"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, content := range []string{"4711\n", "4712", "", "\n", "1\n", "0\n", "01\n", "-1\n", "-4713\n", "4714 4715\n", "etcd\n", "47x\n", "4716\n4717\n"} {
		if err := os.WriteFile(filepath.Join(dir, "pids", "p"+strconv.Itoa(i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := script(t, dir, "")
	slices.Sort(got)
	if want := []string{"-KILL -4711", "-KILL -4712", "-KILL -4716"}; !slices.Equal(got, want) {
		t.Errorf("killed %q, want %q", got, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
}

// An owner that cleans up by itself says so; any other words are as good as none.
func TestGuardReadsItsWord(t *testing.T) {
	for words, stays := range map[string]bool{"kept\n": true, "": false, "ke": false, "kep\n": false} {
		dir := filepath.Join(t.TempDir(), "world")
		if err := os.MkdirAll(filepath.Join(dir, "pids"), 0o700); err != nil {
			t.Fatal(err)
		}
		script(t, dir, words)
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("after %q, the folder: %v", words, err)
		}
	}
}

// The guard ends and the folder goes with Close, whatever the folder is called
// and wherever it was named from.
func TestGuardClose(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(parent)
	for _, dir := range []string{filepath.Join(parent, "plain"), "relative", `with 'quotes" and spaces`, "-dash"} {
		g, err := NewGuard(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !filepath.IsAbs(g.PIDFile("etcd")) || !strings.HasPrefix(g.PIDFile("etcd"), parent) {
			t.Errorf("the guard of %q watches %s", dir, g.PIDFile("etcd"))
		}
		pid := g.cmd.Process.Pid
		if err := g.Close(); err != nil {
			t.Errorf("closing the guard of %q: %v", dir, err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the guard of %q is still there: %v", dir, err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A folder named from here is removed here when the owner is gone, although the
// guard lives elsewhere.
func TestGuardOfRelativeFolder(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(parent)
	g, err := NewGuard("world")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.stdin.Close(); err != nil { // as the kernel does for a dead owner
		t.Fatal(err)
	}
	if err := g.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(parent, "world")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
}

// Containers of an owner that is gone are removed with the folder, by their IDs.
func TestGuardRemovesContainers(t *testing.T) {
	bin, called := t.TempDir(), filepath.Join(t.TempDir(), "called")
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\necho \"$DOCKER_HOST $*\" > '"+called+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("DOCKER_HOST", "unix:///here")
	g, err := NewGuard(filepath.Join(t.TempDir(), "world"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.WatchContainer("0a1b"), g.WatchContainer("2c3d")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.stdin.Close(), g.cmd.Wait()); err != nil { // as of a dead owner
		t.Error(err)
	}
	text, err := os.ReadFile(called)
	if want := "unix:///here rm --force --volumes 0a1b 2c3d\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

// What a terminal sends to the foreground does not end the guard.
func TestGuardIgnoresSignals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "world")
	g, err := NewGuard(dir)
	if err != nil {
		t.Fatal(err)
	}
	if sid, err := unix.Getsid(g.cmd.Process.Pid); err != nil || sid != g.cmd.Process.Pid {
		t.Errorf("the guard is in session %d, %v; want its own", sid, err)
	}
	// From here on it is in its script: the traps are set.
	deadline := time.Now().Add(2 * time.Minute)
	for !ignores(t, g.cmd.Process.Pid, syscall.SIGINT) {
		if time.Now().After(deadline) {
			t.Fatal("the guard does not ignore SIGINT")
		}
		time.Sleep(time.Millisecond)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := g.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Wait(); err != nil {
		t.Errorf("the guard ended with %v before it had cleaned up", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
}

// ignores reads SigIgn of /proc/PID/status, a mask in hexadecimal.
func ignores(t *testing.T, pid int, s syscall.Signal) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "SigIgn:\t")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(line, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask&(1<<(s-1)) != 0
}

// A process whose ID was a world's once, and is another's now, stays.
func TestGuardLeavesOthersAlone(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "world 1")
	g, err := NewGuard(dir)
	if err != nil {
		t.Fatal(err)
	}
	ours, others := exec.Command("sleep", "1000"), exec.Command("sleep", "1000")
	ours.Env = []string{"CLOCK=" + dir + "/clock"}
	others.Env = []string{"CLOCK=" + dir + "2/clock"} // another world's
	for name, cmd := range map[string]*exec.Cmd{"ours": ours, "others": others} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill() }()
		if err := os.WriteFile(g.PIDFile(name), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(noted()) != 1 {
		t.Errorf("noted are %v", noted())
	}
	if err := errors.Join(g.stdin.Close(), g.cmd.Wait()); err != nil { // as the kernel does for a dead owner
		t.Fatal(err)
	}
	if err := ours.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the world's own program ended with %v, want it killed", err)
	}
	if err := syscall.Kill(others.Process.Pid, 0); err != nil || !procContains(others.Process.Pid, "cmdline", "sleep") {
		t.Errorf("another user's program was ended: %v", err)
	}
	if links, err := os.ReadDir(filepath.Join(os.Getenv("XDG_STATE_HOME"), "nodestorm", "folders")); err != nil || len(links) > 0 {
		t.Errorf("still noted: %v, %v", links, err)
	}
}

// Without a shell there is no guard, which only the first process of a container can do
// without.
func TestGuardWithoutShell(t *testing.T) {
	none := filepath.Join(t.TempDir(), "sh")
	dir := filepath.Join(t.TempDir(), "world")
	if _, err := newGuard(dir, none, func() bool { return false }); err == nil || !strings.Contains(err.Error(), "let nodestorm be the first process") {
		t.Errorf("with another first process: %v", err)
	}
	g, err := newGuard(dir, none, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.PIDFile("etcd"), []byte("4711\n"), 0o600); err != nil {
		t.Errorf("a program cannot be noted: %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
	if first() {
		t.Error("this test is the first process of a container, it is said")
	}
}
