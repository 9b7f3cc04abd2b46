package kubelet_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/world/kubelet"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
	"nodestorm/sim/time/lag"
)

// deaths are the programs that the history says have died, in their order.
func (r rig) deaths() string {
	var all []string
	for _, e := range r.History().Events() {
		if e.Source == history.Harness && e.Verb == history.Died {
			all = append(all, e.Actor)
		}
	}
	return strings.Join(all, " ")
}

// A kubelet that is stopped from outside, and a pod's program that is, spoil the run: pods and Nodes depend on them.
func TestStoppedFromOutside(t *testing.T) {
	r := newRig(t, clock.Real)
	tmp := strings.TrimSuffix(r.out, "/out")
	r.Map("registry.example/p", kubelet.Program{Path: script(t, "while :; do sleep 1; done\n"), Env: []string{"PROGRAM=" + tmp}})
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	r.pod(t, "p", "a", nil)
	r.podIs(t, "p", "Running", time.Minute, running)
	pids := map[string]int{}
	for _, p := range processtest.ProcessesUnder(tmp) {
		if strings.Contains(p.Command, "/bin/kubelet ") {
			pids["kubelet.a"] = p.PID
		}
	}
	for _, p := range processtest.WithEnv("PROGRAM=" + tmp) {
		if strings.Contains(p.Command, "/program") {
			pids["a.default.p."] = p.PID
		}
	}
	if len(pids) != 2 {
		t.Fatalf("of a kubelet and a pod's program there are %v", pids)
	}
	signal := func(s syscall.Signal) {
		for name, pid := range pids {
			if err := syscall.Kill(pid, s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	time.Sleep(lag.Longest + time.Second)
	signal(syscall.SIGCONT)
	why := r.Driver().Figures().Distorted()
	for name := range pids {
		if _, of, named := strings.Cut(why, name); !named || !strings.Contains(of, ": stopped for ") {
			t.Errorf("of %s, which was stopped, the reason %q says nothing", name, why)
		}
	}
}
