//go:build linux

package process

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestState: what is said of a program that would not end.
func TestState(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		var got string
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if got = state(cmd.Process.Pid); strings.Contains(got, want) {
				return
			}
		}
		t.Errorf("%q does not say %q", got, want)
	}
	says("S (sleeping)")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	says("Z (zombie)") // dead, and nobody has waited for it
	_ = cmd.Wait()
	says("no longer has it")
}
