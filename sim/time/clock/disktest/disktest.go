// Package disktest gives tests a disk that stands still when they want it to. It is
// for tests only.
package disktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// size of the disk: a world's logs and history fit in it many times.
const size = 256 << 20

// New is a folder on a file system of its own, on which every write waits while stall
// is under way, for the duration given, in real time. Where that cannot be had (it
// takes root, a loop device, mkfs.ext4 and fsfreeze) the test is skipped, and the
// reason named.
func New(t testing.TB) (dir string, stall func(time.Duration)) {
	t.Helper()
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	f, err := os.Create(image)
	if err == nil {
		err = f.Truncate(size)
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("a file system that can be frozen cannot be had here: %s: %v: %s", strings.Join(command, " "), err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v: %s", dir, err, out)
		}
	})
	return dir, func(d time.Duration) {
		t.Helper()
		// A process of its own: should the test be killed in that time, the disk moves on.
		script := fmt.Sprintf(`fsfreeze --freeze "$1" && { sleep %.3f; fsfreeze --unfreeze "$1"; }`, d.Seconds())
		cmd := exec.Command("sh", "-c", script, "stall", dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("freezing %s: %v: %s", dir, err, out)
		}
	}
}
