package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli"
	"nodestorm/harness/replay/queue/queuetest"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/reports/table"
)

// asCommand makes the test binary the nodestorm command.
const asCommand = "NODESTORM_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(queuetest.EnvMadeUp) != "" && os.Getenv("NODESTORM_PLAYER") != "" {
		queuetest.MadeUp()
		os.Exit(0)
	}
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main())
	}
	if err := os.Setenv(buildstore.EnvMirror, buildstore.NoRegistry); err != nil { // no registry is asked by tests
		panic(err)
	}
	os.Exit(m.Run())
}

// command is nodestorm as a process of its own. What it starts has tmp in its
// environment as TMPDIR.
func command(t *testing.T, tmp string, args ...string) (cmd *exec.Cmd, stdout, stderr io.Reader) {
	t.Helper()
	// What a test awaits may never come. The test's own context ends before its cleanup, which
	// is to end the command in order.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*time.Minute)
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err = cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stdout, stderr
}

// await reads until a line has the text, and returns all lines so far.
func await(t *testing.T, from *bufio.Reader, text string) {
	t.Helper()
	for lines := ""; ; {
		line, err := from.ReadString('\n')
		lines += line
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%q did not come, but %q and %v", text, lines, err)
		}
	}
}

// goneWithin waits until no process and no file in tmp is left.
func goneWithin(t *testing.T, d time.Duration, tmp string) {
	t.Helper()
	for deadline := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		processes := processtest.ProcessesUnder(tmp)
		files, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		if len(processes) == 0 && len(files) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left after %s: %v, %v", d, processes, files)
		}
	}
}

// However the command ends, nothing of its world stays.
func TestUpEnds(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	const up, starting = "Ctrl-C ends the world", "starting kube-controller-manager"
	tests := []struct {
		name   string
		args   []string
		when   string // stdout or stderr says this
		signal os.Signal
		state  string // how the command ends
		last   string // what it says then
	}{
		{"interrupt", nil, up, os.Interrupt, "exit status 0", "ending the world"},
		{"terminate", []string{"--kubernetes", kubernetes.Bin(), "--clock", "auto"}, up, syscall.SIGTERM, "exit status 0", "ending the world"},
		{"kill", nil, up, os.Kill, "signal: killed", ""},
		{"interrupt while starting", nil, starting, os.Interrupt, "exit status 130", "nodestorm: interrupted by SIGINT; everything it started has ended"},
		{"kill while starting", nil, starting, os.Kill, "signal: killed", ""},
		{"kill at once", nil, "starting etcd", os.Kill, "signal: killed", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tmp := t.TempDir()
			cmd, stdout, stderr := command(t, tmp, append([]string{"up", "--nodes", "1", "--out", t.TempDir()}, test.args...)...)
			var said bytes.Buffer
			out, err := bufio.NewReader(io.TeeReader(stdout, &said)), bufio.NewReader(io.TeeReader(stderr, &said))
			if test.when == up {
				await(t, out, test.when)
			} else {
				await(t, err, test.when)
			}
			if n := len(processtest.ProcessesUnder(tmp)); n < 2 {
				t.Errorf("%d processes, want the command and more", n)
			}
			page := loopback.FindString(said.String())
			if test.when == up {
				if text, err := get(page); err != nil || !strings.Contains(text, "A world that stays") {
					t.Errorf("the page at %q: %v, %q", page, err, text)
				}
			}
			if err := cmd.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, out)
			_, _ = io.Copy(io.Discard, err)
			state := "exit status 0"
			if err := cmd.Wait(); err != nil {
				state = err.Error()
			}
			if state != test.state || !strings.Contains(said.String(), test.last) {
				t.Errorf("it ended with %s after %q, want %s and %q", state, said.String(), test.state, test.last)
			}
			if len(test.args) > 0 && !strings.Contains(said.String(), "the control plane is that of Kubernetes "+builds.Kubernetes.Version+" (of the folder bin)") {
				t.Errorf("it does not say which Kubernetes it has: %q", said.String())
			}
			// A command that ends by itself leaves nothing; after a kill the guard needs a moment.
			bound := 10 * time.Second
			if test.signal != os.Kill {
				bound = 0
			}
			goneWithin(t, bound, tmp)
			if _, err := get(page); err == nil {
				t.Errorf("%s is served after the end", page)
			}
		})
	}
}

// loopback is where a page is served.
var loopback = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\n`)

func get(address string) (string, error) {
	answer, err := http.Get(strings.TrimSpace(address))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// What run says of a replay, recheck says again of its folder.
func TestRun(t *testing.T) {
	buildstest.Get(t, builds.Kubernetes)
	buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.6.4"})
	out := t.TempDir()
	code, stdout, stderr := nodestorm(t, "run", scenario, "--target", "karpenter@v1.6.4", "--json", "--watch", "--out", out)
	rows := rowsOf(t, stdout)
	if code != cli.AsExpected || len(rows) != 1 || rows[0].Verdict != "reproduced" || rows[0].VirtualSeconds <= 0 || rows[0].Factor <= 1 {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	if !strings.Contains(stderr, "5m from now, exactly 1 NodeClaim has been created since the start") || !loopback.MatchString(stderr) || strings.ContainsAny(stderr, "\r\x1b") || strings.Contains(stderr, "SetLogger") {
		t.Errorf("progress %q", stderr)
	}
	// One that did not count, of a busy machine, may be beside it.
	if want := filepath.Join(out, scenario, "karpenter@v1.6.4"); !strings.HasPrefix(rows[0].Run, want) {
		t.Errorf("the run is in %s, want %s", rows[0].Run, want)
	}
	code, stdout, stderr = nodestorm(t, "recheck", rows[0].Run, "--json")
	if again := rowsOf(t, stdout); code != cli.AsExpected || stderr != "" || len(again) != 1 || again[0].Verdict != "reproduced" || again[0].Reason != rows[0].Reason {
		t.Errorf("recheck: status %d, %+v, %q", code, again, stderr)
	}
}

func rowsOf(t *testing.T, text string) (rows []table.Row) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatalf("%q: %v", text, errors.Unwrap(err))
	}
	return rows
}
