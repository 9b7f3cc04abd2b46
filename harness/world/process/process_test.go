//go:build linux

package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/world/process"
	"nodestorm/harness/world/process/processtest"
)

// shell is a program that does what the script says.
func shell(t *testing.T, script string) process.Spec {
	return process.Spec{
		Name: "thing", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "thing.log"),
		Env: []string{mark(t)},
	}
}

// mark is in the environment of what a test starts.
func mark(t *testing.T) string { return fmt.Sprintf("NODESTORM_TEST=%s of %d", t.Name(), os.Getpid()) }

func running(t *testing.T) []processtest.Process { return processtest.WithEnv(mark(t)) }

// gone makes sure that nothing is left. What was killed with its group ends in a moment.
func gone(t *testing.T) {
	t.Helper()
	eventually(t, "all are gone", func() bool { return len(running(t)) == 0 })
}

// file is ready once the file is there.
func file(path string) func(context.Context) error {
	return func(context.Context) error { _, err := os.Stat(path); return err }
}

func TestStart(t *testing.T) {
	spec := shell(t, "echo hello; sleep 1000 & wait")
	spec.Ready = both(t)
	var lines []string
	spec.Lines = func(line []byte) { lines = append(lines, string(line)) }
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exit() != nil {
		t.Errorf("while it runs: %v", p.Exit())
	}
	if err := p.Stop(time.Minute); err != nil || p.Exit() != nil {
		t.Errorf("stopping: %v; exit %v", err, p.Exit())
	}
	gone(t)
	log, err := os.ReadFile(spec.Log)
	if err != nil || !strings.HasPrefix(string(log), "hello\n") || len(lines) == 0 || lines[0] != "hello" {
		t.Errorf("log %q, %v; lines %q", log, err, lines)
	}
}

// Who takes the lines of stdout has them, also of a program that is started again while the
// last line of the one before has no end, and the log has the program's other output.
func TestStdout(t *testing.T) {
	spec := shell(t, "echo said >&2; echo one; printf two")
	var lines []string
	spec.Stdout = func(line []byte) { lines = append(lines, string(line)) }
	for range 2 {
		p, err := process.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Exited()
	}
	log, err := os.ReadFile(spec.Log)
	if err != nil || string(log) != "said\nsaid\n" || !slices.Equal(lines, []string{"one", "one"}) {
		t.Errorf("log %q, %v; lines %q", log, err, lines)
	}
}

// What a program said stays when it is started again.
func TestStartAgain(t *testing.T) {
	spec := shell(t, "echo hello")
	for range 2 {
		p, err := process.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Exited()
	}
	if log, err := os.ReadFile(spec.Log); err != nil || string(log) != "hello\nhello\n" {
		t.Errorf("log %q, %v", log, err)
	}
}

func TestStartSaysWhatHappened(t *testing.T) {
	tests := []struct {
		name, script string
		want         string
		as           any
	}{
		{"exit", "echo no way >&2; exit 3", "thing ended (exit status 3)", new(*process.ExitError)},
		{"exit 0", "echo no way", "thing ended (exit status 0)", new(*process.ExitError)},
		{"signal", "echo no way; kill -9 $$", "thing ended (signal: killed)", new(*process.ExitError)},
		{"not ready", "echo no way; sleep 1000", "thing was not ready after 200ms (stat ", new(*process.NotReadyError)},
		{"does not end", "trap '' TERM; echo no way; while :; do sleep 1; done", "thing was not ready after 200ms", new(*process.NotReadyError)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := shell(t, test.script)
			never := file(filepath.Join(t.TempDir(), "never"))
			spec.Ready = func(ctx context.Context) error {
				eventually(t, "it says so", func() bool { text, _ := os.ReadFile(spec.Log); return len(text) > 0 })
				return never(ctx)
			}
			if strings.Contains(test.want, "not ready") {
				spec.ReadyWithin = 200 * time.Millisecond
			}
			_, err := process.Start(t.Context(), spec)
			if !errors.As(err, test.as) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "no way") || !strings.Contains(err.Error(), spec.Log) {
				t.Errorf("error %v, want %q, the last words and the log", err, test.want)
			}
			gone(t)
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
		spec := shell(t, "sleep 1000")
		spec.Ready = file(filepath.Join(t.TempDir(), "never"))
		if _, err := process.Start(ctx, spec); !errors.Is(err, enough) {
			t.Errorf("error %v, want its cause", err)
		}
		gone(t)
	})
	t.Run("no program", func(t *testing.T) {
		spec := shell(t, "")
		spec.Path = filepath.Join(t.TempDir(), "none")
		if _, err := process.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "starting thing: ") {
			t.Errorf("error %v", err)
		}
	})
}

// A program that ends by itself later is noticed, one that we end is not.
func TestExit(t *testing.T) {
	p, err := process.Start(t.Context(), shell(t, "echo bye; exit 4"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	var exit *process.ExitError
	if !errors.As(p.Exit(), &exit) || exit.Status != "exit status 4" || exit.Tail != "bye" {
		t.Errorf("exit %v", p.Exit())
	}
	if err := p.Stop(time.Second); err != nil {
		t.Errorf("stopping what has ended: %v", err)
	}
}

// owner is the test binary as an owner of a guarded folder that is killed.
const owner = "NODESTORM_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(owner); dir != "" {
		guarded(dir)
	}
	os.Exit(m.Run())
}

// guarded starts what the guard has to end: a program of ours, and some that leave their IDs themselves: at once, late,
// and in a file that is there for a moment before.
func guarded(dir string) {
	g, err := process.NewGuard(dir)
	if err != nil {
		panic(err)
	}
	p, err := process.Start(context.Background(), process.Spec{Name: "ours", Path: "/bin/sh", Args: []string{"-c", "sleep 1000"}, Env: os.Environ(), Log: filepath.Join(dir, "log")})
	if err != nil {
		panic(err)
	}
	if err := g.Watch(p); err != nil {
		panic(err)
	}
	for _, delays := range [][2]string{{"0", "0"}, {"0.5", "0"}, {"0", "1.5"}} {
		script := `sleep "$1"; { sleep "$2"; printf %s $$; } > "$3" || exit; exec sleep 100$1`
		cmd := exec.Command("/bin/sh", "-c", script, "other", delays[0], delays[1], g.PIDFile("other"+strings.Join(delays[:], "")))
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	for {
		if _, err := os.Stat(g.PIDFile("other00")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, _ = os.Stdout.WriteString("up\n")
	time.Sleep(time.Hour)
}

// However an owner goes, nothing is left: killed, or interrupted with all that is
// in the foreground of its terminal.
func TestGuard(t *testing.T) {
	for name, end := range map[string]func(owner int) error{
		"killed":      func(owner int) error { return syscall.Kill(owner, syscall.SIGKILL) },
		"interrupted": func(owner int) error { return syscall.Kill(-owner, syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) { testGuard(t, end) })
	}
}

func testGuard(t *testing.T, end func(owner int) error) {
	dir, owner := ownedFolder(t)
	if n := len(processtest.ProcessesUnder(dir)); n < 4 {
		t.Errorf("%d processes, want the owner, its guard, and more", n)
	}
	if swept, used, err := process.Sweep(filepath.Dir(dir), "world-"); len(swept) > 0 || !slices.Equal(used, []string{dir}) || err != nil {
		t.Errorf("swept %v from under a living owner: %v, used: %v", swept, err, used)
	}
	if err := end(owner.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	nothingLeft(t, dir)
}

// ownedFolder is a guarded folder with programs, and the process whose folder it is.
func ownedFolder(t *testing.T) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), `world-1 with 'quotes"`)
	cmd = exec.Command(os.Args[0])
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	cmd.Env = append(os.Environ(), owner+"="+dir, "CLOCK="+filepath.Join(dir, "clock"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	return dir, cmd
}

// guardOf is the process ID of the folder's guard.
func guardOf(t *testing.T, dir string) int {
	t.Helper()
	for _, p := range processtest.ProcessesUnder(dir) {
		if strings.Contains(p.Command, "nodestorm-guard") {
			return p.PID
		}
	}
	t.Fatalf("no guard among %v", processtest.ProcessesUnder(dir))
	return 0
}

func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	eventually(t, "no process and no folder is left", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist) && len(processtest.ProcessesUnder(dir)) == 0
	})
}

// While the guard of a dead owner is at its work, Sweep does not take the folder with
// the IDs from under it.
func TestSweepLeavesItToTheGuard(t *testing.T) {
	dir, owner := ownedFolder(t)
	guard := guardOf(t, dir)
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil { // a slow machine's
		t.Fatal(err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	if swept, used, err := process.Sweep(filepath.Dir(dir), "world-"); len(swept) > 0 || !slices.Equal(used, []string{dir}) || err != nil {
		t.Errorf("swept %v from under a living guard: %v, used: %v", swept, err, used)
	}
	if err := syscall.Kill(guard, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, dir)
}

// Whether an owner in another container, or on another machine, has ended cannot be seen from here.
func TestSweepLeavesOthersAlone(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	files, remove, err := process.Scratch("world-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = remove() }()
	owner, err := os.ReadFile(filepath.Join(filepath.Dir(files), "owner"))
	words := strings.SplitN(strings.TrimSpace(string(owner)), " ", 3)
	if err != nil || len(words) != 3 {
		t.Fatalf("an owner is %q, %v", owner, err)
	}
	for place, leaves := range map[string]bool{"": false, " " + words[2]: false, " pid:[1] -": true, strings.Replace(" "+words[2], " -", "", 1) + "0": true} {
		dir := filepath.Join(t.TempDir(), "world-1")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "owner"), []byte(fmt.Sprintf("%d 12345%s\n", dead.Process.Pid, place)), 0o600); err != nil {
			t.Fatal(err)
		}
		swept, used, err := process.Sweep(filepath.Dir(dir), "world-")
		if err != nil || leaves != slices.Contains(used, dir) || leaves == (len(swept) == 1) {
			t.Errorf("of an owner at %q: swept %v, used %v, %v", place, swept, used, err)
		}
	}
}

// Where the guard was killed too, Sweep does its work, and harms no other process.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "world-1")
	for _, folder := range []string{"pids", "ending"} { // the latter of a guard that had begun
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	ours, last, others := exec.Command("sleep", "1000"), exec.Command("sleep", "1000"), exec.Command("sleep", "1000")
	ours.Env = append(os.Environ(), "CLOCK="+filepath.Join(dir, "clock"))
	last.Env = ours.Env
	others.Env = append(os.Environ(), "CLOCK="+dir+"2/clock") // another world's
	for _, cmd := range []*exec.Cmd{ours, last, others} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill() }()
	}
	for name, pid := range map[string]int{"owner": dead.Process.Pid, "guard": others.Process.Pid, "pids/ours": ours.Process.Pid, "ending/last": last.Process.Pid, "pids/others": others.Process.Pid, "pids/dead": dead.Process.Pid} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	swept, _, err := process.Sweep(parent, "world-")
	want := process.Swept{Folder: dir, Ended: []string{fmt.Sprintf("ours (process %d)", ours.Process.Pid), fmt.Sprintf("last (process %d)", last.Process.Pid)}}
	if err != nil || len(swept) != 1 || !reflect.DeepEqual(swept[0], want) {
		t.Errorf("swept %v, %v; want %v", swept, err, want)
	}
	for _, cmd := range []*exec.Cmd{ours, last} {
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("the world's own program ended with %v, want it killed", err)
		}
	}
	if got := state(others.Process.Pid); got == 0 || got == 'Z' {
		t.Errorf("another user's program was ended (state %q)", got)
	}
}

// What a program prints of its secrets is in no log, and no callback gets it; also
// not where it comes in two pieces, or without an end of line.
func TestSecretsOfAProgramAreHidden(t *testing.T) {
	const token, other = "tok-0123456789", "known-elsewhere"
	var mu sync.Mutex
	var lines []string
	spec := process.Spec{
		Name: "thing", Path: "/bin/sh", Log: filepath.Join(t.TempDir(), "log"),
		Args:  []string{"-c", `printf 'a tok-0123'; sleep 0.1; echo "456789 b"; echo "$PATHLIKE"; printf 'last: known-elsewhere'`},
		Env:   []string{"HCLOUD_TOKEN=" + token, "KEY_FILE=/dev/null", "PATHLIKE=/dev/null"},
		Hide:  []string{other},
		Lines: func(line []byte) { mu.Lock(); lines = append(lines, string(line)); mu.Unlock() },
	}
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Exited():
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	log, err := os.ReadFile(spec.Log)
	if want := "a [removed] b\n/dev/null\nlast: [removed]"; err != nil || string(log) != want {
		t.Errorf("the log is %q, %v; want %q", log, err, want)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"a [removed] b", "/dev/null"}; !slices.Equal(lines, want) {
		t.Errorf("passed on %q, want %q", lines, want)
	}
}

// A world is found when its owner and its guard were both killed, also from where
// TMPDIR is another, and what it was is gone then.
func TestSweepFindsWorldsOfAnyTMPDIR(t *testing.T) {
	dir, owner := ownedFolder(t)
	guard := guardOf(t, dir)
	for _, pid := range []int{guard, owner.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = owner.Wait() // it was killed
	eventually(t, "the programs have left their IDs", func() bool {
		left, _ := filepath.Glob(filepath.Join(dir, "pids", "other*"))
		return len(left) == 3
	})
	swept, _, err := process.Sweep(t.TempDir(), "world-")
	if err != nil || len(swept) != 1 || swept[0].Folder != dir || !strings.Contains(swept[0].String(), "other00 (process ") {
		t.Errorf("swept %v, %v", swept, err)
	}
	nothingLeft(t, dir)
	if swept, used, err := process.Sweep(t.TempDir(), "world-"); len(swept)+len(used) > 0 || err != nil {
		t.Errorf("swept again %v, %v, %v", swept, used, err)
	}
}

// The folder of a command that was killed goes with the next Sweep, and not before:
// also where its process ID is another's by now.
func TestScratchIsSwept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	dir, remove, err := process.Scratch("scratch-")
	if err != nil {
		t.Fatal(err)
	}
	if swept, used, err := process.Sweep(t.TempDir(), "scratch-"); len(swept) > 0 || len(used) != 1 || err != nil {
		t.Errorf("swept %v, used %v, %v", swept, used, err)
	}
	again, _, err := process.Scratch("scratch-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(again), "owner"), fmt.Appendf(nil, "%d 1", os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	if swept, _, err := process.Sweep(t.TempDir(), "scratch-"); len(swept) != 1 || swept[0].Folder != filepath.Dir(again) || err != nil {
		t.Errorf("swept %v, %v; want the one whose owner is gone", swept, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A program may find itself on a machine of another name, and nothing else does.
func TestHost(t *testing.T) {
	if !process.NamesHosts() {
		t.Skip("not root, or without CAP_SYS_ADMIN: no process can have a host name of its own")
	}
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"machine-1", "", "machine-2"} {
		want := host
		if want == "" {
			want = here
		}
		spec := shell(t, "cat /proc/sys/kernel/hostname")
		spec.Host = host
		p, err := process.Spawn(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Exited()
		said, err := os.ReadFile(spec.Log)
		if got := strings.TrimSpace(string(said)); err != nil || got != want {
			t.Errorf("it is on %q, want %q (%v)", got, want, err)
		}
	}
	if now, err := os.Hostname(); err != nil || now != here {
		t.Errorf("we are on %q, want %q (%v)", now, here, err)
	}
	gone(t)
}
