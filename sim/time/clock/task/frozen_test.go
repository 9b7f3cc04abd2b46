//go:build linux

package task

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// group is a control group of our own, which can be frozen.
func group(t *testing.T) string {
	t.Helper()
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[2] != "cgroup2" {
			continue
		}
		dir, err := os.MkdirTemp(fields[1], "nodestorm-test-")
		if err != nil {
			t.Skipf("no control group to be had: %v", err)
		}
		t.Cleanup(func() { eventually(t, "the group is empty", func() bool { return os.Remove(dir) == nil }) })
		return dir
	}
	t.Skip("no control groups of version 2")
	return ""
}

// Who is frozen is stopped, though the kernel says that it sleeps: a container is paused so, and
// whatever a system puts to sleep.
func TestFrozen(t *testing.T) {
	dir := group(t)
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	write := func(file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cgroup.procs", strconv.Itoa(cmd.Process.Pid))
	threads := Of(cmd.Process.Pid)
	defer threads.Close()
	now := int64(0)
	looks := func(frozen bool) bool {
		now++
		runs, err := threads.Run()
		if err != nil {
			t.Fatal(err)
		}
		stopped, disk := threads.Follow(now)
		return runs == frozen && (stopped > 0) == frozen && disk == 0
	}
	eventually(t, "it sleeps", func() bool { return looks(false) })
	write("cgroup.freeze", "1")
	eventually(t, "it is stopped", func() bool { return looks(true) })
	write("cgroup.freeze", "0")
	eventually(t, "it sleeps again", func() bool { return looks(false) })
}
