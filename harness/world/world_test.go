package world_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// programs is the folder of the control plane's programs.
func programs(t testing.TB) string {
	t.Helper()
	return buildstest.Get(t, builds.Kubernetes).Bin()
}

// traces is the only place where worlds of this test leave anything: what they
// start has it in its environment, and their temporary folders are in it.
type traces struct{ dir string }

func newTraces(t *testing.T) traces {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return traces{dir}
}

func (l traces) processes() []processtest.Process { return processtest.ProcessesUnder(l.dir) }

// gone makes sure that nothing is left.
func (l traces) gone(t *testing.T) {
	t.Helper()
	for _, p := range l.processes() {
		t.Errorf("left running: %d %s", p.PID, p.Command)
	}
	files, err := os.ReadDir(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("left behind: %s", filepath.Join(l.dir, f.Name()))
	}
}

// process is that of a part of the world.
func (l traces) process(t *testing.T, part string) processtest.Process {
	t.Helper()
	for _, p := range l.processes() {
		if program, _, _ := strings.Cut(p.Command, " "); filepath.Base(program) == part {
			return p
		}
	}
	t.Fatalf("no process %s", part)
	return processtest.Process{}
}

func (l traces) pid(t *testing.T, part string) int {
	t.Helper()
	return l.process(t, part).PID
}

func config(t *testing.T, mode clock.Mode) world.Config {
	t.Helper()
	return world.Config{Kubernetes: programs(t), Out: t.TempDir(), Clock: mode, Seed: 1}
}

func start(t *testing.T, cfg world.Config) *world.World {
	t.Helper()
	w, err := world.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestWorldLeavesNothing(t *testing.T) {
	cfg := config(t, clock.Real)
	left := newTraces(t)
	w := start(t, cfg)
	listening := 0
	for _, part := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		addresses, err := processtest.Listening(left.pid(t, part))
		if err != nil {
			t.Fatal(err)
		}
		if part == "etcd" && len(addresses) > 0 {
			t.Errorf("etcd, which asks for no credentials, listens on %s", addresses)
		}
		for _, a := range addresses {
			listening++
			if !a.Addr().IsLoopback() {
				t.Errorf("%s listens on %s", part, a)
			}
		}
	}
	if listening < 3 {
		t.Errorf("%d addresses, want one each of those but etcd", listening)
	}
	if folder, err := os.Stat(w.Dir()); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("the folder with etcd's sockets has the mode %v, %v: want that only we can enter it", folder.Mode(), err)
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
	left.gone(t)
	if err := w.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

// A start that fails says why, and undoes what it did.
func TestStartFails(t *testing.T) {
	const broken = "#!/bin/sh\necho cannot go on >&2\nexit 7\n"
	tests := []struct {
		name    string
		program string // that is replaced
		by      string // its text; empty: it is not there
		want    []string
	}{
		{"no scheduler", "kube-scheduler", "", []string{"no kube-scheduler for the world", "nodestorm doctor"}},
		{"no etcd", "etcd", "", []string{"no etcd for the world", "nodestorm doctor"}},
		{"etcd ends", "etcd", broken, []string{"starting etcd and kube-apiserver", "etcd ended (exit status 7)", "etcd.log", "cannot go on"}},
		{"kube-apiserver ends", "kube-apiserver", broken, []string{"kube-apiserver ended (exit status 7)", "kube-apiserver.log", "cannot go on"}},
		{"scheduler ends", "kube-scheduler", broken, []string{"kube-scheduler ended (exit status 7)", "kube-scheduler.log", "cannot go on"}},
		{"scheduler is no program", "kube-scheduler", "\x7fELF", []string{"starting kube-scheduler", "exec format error"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := config(t, clock.Real)
			cfg.Kubernetes = replaced(t, test.program, test.by)
			failsWith(t, t.Context(), cfg, test.want...)
		})
	}
	t.Run("port taken", func(t *testing.T) {
		cfg := config(t, clock.Real)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		cfg.APIServer = map[string][]string{"secure-port": {port}}
		failsWith(t, t.Context(), cfg, "kube-apiserver ended (exit status 1)", "address already in use")
	})
	t.Run("a part dies during the run", func(t *testing.T) {
		cfg := config(t, clock.Real)
		left := newTraces(t)
		cfg.Progress = func(what string) {
			if strings.Contains(what, "kube-scheduler") {
				if err := syscall.Kill(left.pid(t, "kube-apiserver"), syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		}
		w, err := world.Start(t.Context(), cfg)
		if err == nil {
			t.Errorf("started all the same: %v", w.Stop())
		} else if !strings.Contains(err.Error(), "kube-apiserver ended") {
			t.Errorf("error %v, want it to name kube-apiserver, not those that miss it", err)
		}
		left.gone(t)
	})
}

// replaced is a folder of the control plane's programs with another text in the place of
// one, which is not there where the text is empty.
func replaced(t *testing.T, program, by string) (dir string) {
	t.Helper()
	real, dir := programs(t), t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		path := filepath.Join(dir, name)
		switch {
		case name != program:
			if err := os.Symlink(filepath.Join(real, name), path); err != nil {
				t.Fatal(err)
			}
		case by != "":
			if err := os.WriteFile(path, []byte(by), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func failsWith(t *testing.T, ctx context.Context, cfg world.Config, want ...string) {
	t.Helper()
	left := newTraces(t)
	w, err := world.Start(ctx, cfg)
	if err == nil {
		t.Errorf("started: %v", w.Stop())
		return
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q, want %q in it", err, text)
		}
	}
	left.gone(t)
}

func TestStartInterrupted(t *testing.T) {
	tests := []struct {
		during string
		after  time.Duration // real, of the part's start
	}{
		{"etcd", 0}, {"etcd", 100 * time.Millisecond}, {"etcd", time.Second},
		{"kube-scheduler", 0}, {"kube-scheduler", 200 * time.Millisecond}, {"simulated nodes", 0},
	}
	for _, test := range tests {
		t.Run(test.during+" after "+test.after.String(), func(t *testing.T) {
			cfg := config(t, clock.Real)
			if test.after > 0 {
				// However fast the machine is, this world is not ready before the interrupt.
				cfg.Kubernetes = replaced(t, "kube-scheduler", "#!/bin/sh\nexec sleep 1000\n")
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			interrupt := errors.New("the user has seen enough")
			cfg.Progress = func(what string) {
				switch {
				case !strings.Contains(what, test.during):
				case test.after == 0:
					cancel(interrupt)
				default:
					time.AfterFunc(test.after, func() { cancel(interrupt) })
				}
			}
			left := newTraces(t)
			w, err := world.Start(ctx, cfg)
			if err == nil {
				t.Errorf("started all the same: %v", w.Stop())
			} else if !errors.Is(err, interrupt) {
				t.Errorf("error %v, want the interrupt", err)
			}
			left.gone(t)
		})
	}
}

// Parts that die are named, the first by Err, all in the history.
func TestDeath(t *testing.T) {
	cfg := config(t, clock.Real)
	left := newTraces(t)
	w := start(t, cfg)
	if _, err := w.StartComponent(t.Context(), process.Spec{Name: "target", Path: "/bin/sh", Args: []string{"-c", "echo last words; sleep 1000"}}); err != nil {
		t.Fatal(err)
	}
	target, ok := w.Component("target")
	if !ok || w.Err() != nil {
		t.Fatalf("component %v, error %v", ok, w.Err())
	}
	starting := make(chan error, 1)
	go func() {
		_, err := w.StartComponent(t.Context(), process.Spec{Name: "never ready", Path: "/bin/sh", Args: []string{"-c", "sleep 1000"}, Ready: func(context.Context) error { return errors.New("not yet") }})
		starting <- err
	}()
	pids := map[string]int{"etcd": left.pid(t, "etcd"), "kube-scheduler": left.pid(t, "kube-scheduler"), "target": target.PID()}
	for _, name := range []string{"etcd", "kube-scheduler", "target"} {
		if err := syscall.Kill(pids[name], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		died, err := w.History().Wait(ctx, func(r history.Entry) bool {
			return r.Source == history.Harness && r.Verb == history.Died && r.Actor == name
		})
		cancel()
		if err != nil {
			t.Fatalf("%s was killed and was not reported: %v", name, err)
		}
		if text, _ := died.Detail["error"].(string); !strings.Contains(text, name+" ended") || name == "target" && !strings.Contains(text, "(signal: killed)") || name == "target" && !strings.Contains(text, "last words") {
			t.Errorf("%s died: %s", name, text)
		} else if !strings.Contains(text, " logs/"+name+".log") {
			t.Errorf("%s died, and its log is not named as the run has it: %s", name, text)
		}
	}
	select {
	case err := <-starting:
		if err == nil || !strings.Contains(err.Error(), "etcd ended") {
			t.Errorf("starting something after that: %v, want the reason", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("without etcd the world still waits for a component")
	}
	select {
	case <-w.Done():
	case <-time.After(10 * time.Second):
		t.Error("the world is not done")
	}
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "etcd ended") {
		t.Errorf("the world ended because of %v, want etcd, which died first", err)
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
	left.gone(t)
}

// Programs that are still running end with their world, which takes no more of them.
func TestProgramsEndWithTheWorld(t *testing.T) {
	cfg := config(t, clock.Real)
	left := newTraces(t)
	w := start(t, cfg)
	spec := process.Spec{Name: "left", Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; sleep 1000 & wait"}}
	p, err := w.StartProgram(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	w.OnStop(func() error {
		spec.Name = "late"
		if _, err := w.StartProgram(context.WithoutCancel(t.Context()), spec); err == nil {
			t.Error("a program starts in a world that is being stopped")
		}
		return nil
	})
	stopped := make(chan error, 1)
	go func() { stopped <- w.Stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		_ = p.Kill()
		t.Fatal("the world waits for a program that is still running")
	}
	left.gone(t)
	late := false
	w.OnStop(func() error { late = true; return nil })
	if !late {
		t.Error("what comes after the end is not undone")
	}
}

// What a program waits for until it is ready takes no real time where time jumps.
func TestWaitsAtTheStartAreJumpedOver(t *testing.T) {
	w := start(t, config(t, clock.Auto))
	began := w.Clock().Now()
	kubeconfig, err := w.Kubeconfig("tester")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.StartComponent(t.Context(), process.Spec{
		Name: "waiting", Path: filepath.Join(programs(t), "kubectl"), Args: []string{"proxy", "--port=0"},
		Env: []string{"KUBECONFIG=" + kubeconfig},
		Ready: func(context.Context) error {
			if passed := w.Clock().Since(began); passed < 5*time.Minute {
				return fmt.Errorf("%s have passed", passed)
			}
			return nil
		},
		ReadyWithin: time.Minute, // real
	})
	if err != nil {
		t.Error(err)
	}
}

// Where time is virtual, a program that does not live in it is an error, not one that
// time jumps past.
func TestProgramWithoutTheClock(t *testing.T) {
	w := start(t, config(t, clock.Auto))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := w.StartProgram(ctx, process.Spec{Name: "foreign", Path: "/bin/sh", Args: []string{"-c", "sleep 1000 & wait"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that it is waited for", err)
	}
	p, err := w.StartProgram(t.Context(), process.Spec{Name: "short", Path: "/bin/true"})
	if err != nil {
		t.Fatalf("one that has ended: %v", err)
	}
	<-p.Exited()
}

// Two worlds have nothing in common but the machine.
func TestTwoWorlds(t *testing.T) {
	slowly, quickly := config(t, clock.Real), config(t, clock.Fixed(60))
	left := newTraces(t)
	var worlds [2]*world.World
	var starting sync.WaitGroup
	for i, cfg := range []world.Config{slowly, quickly} {
		starting.Go(func() {
			w, err := world.Start(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			worlds[i] = w
		})
	}
	starting.Wait()
	for _, w := range worlds {
		if w == nil {
			t.FailNow()
		}
		defer func() {
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
		}()
	}
	slow, fast := worlds[0], worlds[1]

	slow0, fast0, real0 := slow.Clock().Now(), fast.Clock().Now(), time.Now()
	time.Sleep(time.Second) // the clocks' own doing is what is looked at
	passed := time.Since(real0)
	if d := slow.Clock().Since(slow0); d < passed || d > 2*passed {
		t.Errorf("in %s, %s have passed in the world at 1x", passed, d)
	}
	if d := fast.Clock().Since(fast0); d < 50*passed {
		t.Errorf("in %s, only %s have passed in the world at 60x", passed, d)
	}

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
	if _, err := slow.Client().CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := fast.Client().CoreV1().ConfigMaps("default").Get(t.Context(), "mine", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("one world's object in the other: %v", err)
	}
	stranger, err := slow.User("stranger", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	stranger.Host, stranger.CAData = fast.Admin().Host, fast.Admin().CAData
	client, err := kubernetes.NewForConfig(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("one world's admin gets %v from the other, want to be unauthorized", err)
	}

	if err := slow.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := fast.Client().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || fast.Err() != nil {
		t.Errorf("after the end of one world the other has %v, %v", err, fast.Err())
	}
	if err := fast.Stop(); err != nil {
		t.Error(err)
	}
	left.gone(t)
	if a, b := names(slow.History().Events()), names(fast.History().Events()); slices.Contains(b, "mine") || !slices.Contains(a, "mine") {
		t.Error("the histories are mixed up")
	}
}

func names(events []history.Entry) (names []string) {
	for _, r := range events {
		names = append(names, r.Object.Name)
	}
	return names
}
