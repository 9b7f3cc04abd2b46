package cli_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds/buildstore"
)

// A signal that ends the command has an exit status of its own and is named. One that
// the command was started deaf to, as nohup does, does not end it. The same one twice at
// once, as timeout sends it, is one.
func TestSignals(t *testing.T) {
	// Tests that run under nohup must not make all commands deaf.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, test := range []struct {
		name   string
		deaf   bool
		send   []syscall.Signal
		status int
		says   string
	}{
		{"SIGHUP", false, []syscall.Signal{syscall.SIGHUP}, 129, "nodestorm: interrupted by SIGHUP; everything it started has ended\n"},
		{"Ctrl-C", false, []syscall.Signal{syscall.SIGINT}, 130, "nodestorm: interrupted by SIGINT; everything it started has ended\n"},
		{"SIGTERM", false, []syscall.Signal{syscall.SIGTERM}, 143, "nodestorm: interrupted by SIGTERM; everything it started has ended\n"},
		{"timeout", false, []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143, "nodestorm: interrupted by SIGTERM; everything it started has ended\n"},
		{"nohup", true, []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}, 143, "nodestorm: interrupted by SIGTERM; everything it started has ended\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			called := filepath.Join(dir, "called")
			write(t, filepath.Join(dir, "go"), "#!/bin/sh\ntest \"$2\" = GOTOOLDIR && exit # godog asks before main\ntouch "+called+"\nexec sleep 100\n", 0o700)
			t.Setenv("PATH", dir+":/usr/bin:/bin")
			t.Setenv(buildstore.EnvCache, filepath.Join(dir, "store"))
			args := []string{"target", "build", "karpenter@v1.6.4"}
			script := `exec "$0" "$@"`
			if test.deaf {
				script = `trap "" HUP; ` + script
			}
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, os.Args[0]}, args...)...)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(called); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the build did not begin")
				}
			}
			for _, s := range test.send {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			text, _ := io.ReadAll(stderr)
			last := lastLine(string(text)) + "\n"
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != test.status || last != test.says {
				t.Errorf("%v, and it says %q; want status %d and %q", err, text, test.status, test.says)
			}
		})
	}
}
