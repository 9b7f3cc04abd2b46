package kubelet_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/time/clock"
)

// owner makes TestKilled the owner of a world, for another that kills it.
const owner = "NODESTORM_TEST_OWNER"

// Nothing outlives a nodestorm that is killed: no program of a pod, nothing that it
// started, no kubelet and no folder.
func TestKilled(t *testing.T) {
	if os.Getenv(owner) != "" {
		own(t)
		return
	}
	buildstest.Get(t, builds.Kubernetes)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), owner+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test ends before it does
	tmp, said := "", ""
	for lines := bufio.NewScanner(out); tmp == "" && lines.Scan(); {
		said += lines.Text() + "\n"
		if dir, up := strings.CutPrefix(lines.Text(), "up "); up {
			tmp = dir
		}
	}
	if tmp == "" {
		t.Fatalf("no world: %s", said)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) }) // the owner's logs
	running := func() []processtest.Process { return processtest.ProcessesUnder(tmp) }
	wait(t, "the program, what it started, a kubelet", func() bool {
		kubelet := false
		for _, p := range running() {
			kubelet = kubelet || strings.Contains(p.Command, "/kubelet ")
		}
		return kubelet && len(processtest.WithEnv("PROGRAM="+tmp)) == 2
	}, running)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	wait(t, "nothing left", func() bool {
		folders, _ := filepath.Glob(filepath.Join(tmp, world.FolderPrefix+"*")) // the pattern is right
		return len(running()) == 0 && len(folders) == 0
	}, running)
}

func wait(t *testing.T, what string, is func() bool, running func() []processtest.Process) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30s: %v", what, running())
		}
	}
}

// own is the owner's side: it says where its world is, and waits for its end.
func own(t *testing.T) {
	r := newRig(t, clock.Real)
	tmp := os.TempDir()
	r.Map("registry.example/p", kubelet.Program{
		Path: script(t, "trap '' TERM\nsleep 1000 &\nwait\n"), Env: []string{"PROGRAM=" + tmp},
	})
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	r.pod(t, "p", "a", nil)
	r.podIs(t, "p", "Running", time.Minute, running)
	fmt.Println("up " + tmp)
	<-r.Done()
}
