package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Whoever starts a launcher starts the program, with its own environment only, and under
// the process ID that is noted; with a shell and without.
func TestLauncher(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `it's "here"`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("it starts a shell as a program, and there is none")
	}
	t.Setenv("OURS", "secret")
	for name, shell := range map[string]string{"with": "/bin/sh", "without": filepath.Join(dir, "none")} {
		path, pid := filepath.Join(dir, name), filepath.Join(dir, name+".pid")
		if err := (Launcher{Program: sh, Env: []string{"A=b 'c' \"d\""}, PIDFile: pid}).write(path, shell); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "--help").CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s a shell, asked for help: %v, %q", name, err, out)
		}
		cmd := exec.Command(path, "-c", `echo "$$ $A $OURS $1 $2"`, "sh", "x y", "z")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s a shell: %v", name, err)
		}
		number := strconv.Itoa(cmd.Process.Pid)
		if got, want := string(out), number+" b 'c' \"d\"  x y z\n"; got != want {
			t.Errorf("%s a shell: %q, want %q", name, got, want)
		}
		if noted, err := os.ReadFile(pid); err != nil || strings.TrimSpace(string(noted)) != number {
			t.Errorf("%s a shell %q is noted, and it was %s: %v", name, noted, number, err)
		}
	}
}
