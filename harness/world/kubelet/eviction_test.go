package kubelet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// A NoExecute taint has kube-controller-manager delete the pods that do not tolerate
// it, each when its toleration is over, and the kubelet gives them their grace period.
func TestTaintEvicts(t *testing.T) {
	r := newRig(t, clock.Auto)
	const grace, tolerated = 20 * time.Second, time.Minute
	r.boot(t, kubelet.Machine{Name: "a", StopDelay: 2 * grace}) // nothing ends before it is killed
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	taint := corev1.Taint{Key: "maintenance", Value: "soon", Effect: corev1.TaintEffectNoExecute}
	toleration := corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect}
	limited := toleration
	limited.TolerationSeconds = new(int64(tolerated / time.Second))
	containers := map[string]string{}
	for name, tolerations := range map[string][]corev1.Toleration{"leaves": nil, "lingers": {limited}, "stays": {toleration}} {
		r.pod(t, name, "a", func(p *corev1.Pod) {
			p.Spec.Tolerations, p.Spec.TerminationGracePeriodSeconds = tolerations, new(int64(grace/time.Second))
		})
		containers[name] = r.podIs(t, name, "Running", time.Minute, running).Status.ContainerStatuses[0].ContainerID
	}
	pods, err := r.Client().CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	r.within(t, time.Minute, "tainting", func(ctx context.Context) error {
		n, err := r.node(ctx, "a")
		if err != nil {
			return err
		}
		n.Spec.Taints = append(n.Spec.Taints, taint)
		_, err = r.Client().CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err
	})
	tainted := r.recordOf(t, "nodes", "a", func(e history.Entry) bool { return fmt.Sprint(e.Detail["added"]) == "[maintenance=soon:NoExecute]" })

	gone := map[string]*corev1.Pod{}
	over := r.Clock().After(5 * time.Minute)
	for len(gone) < 2 {
		select {
		case e := <-pods.ResultChan():
			if p, ok := e.Object.(*corev1.Pod); ok && e.Type == watch.Deleted {
				gone[p.Name] = p
			}
		case <-over:
			t.Fatalf("gone within 5m: %d pods of 2", len(gone))
		case <-r.Done():
			t.Fatal(r.Err())
		}
	}
	for name, after := range map[string]time.Duration{"leaves": 0, "lingers": tolerated} {
		p := gone[name]
		if p == nil {
			t.Fatalf("pod %s is not among those that are gone", name)
		}
		// The taint eviction controller has the node controller's account.
		evicted := r.recordOf(t, "pods", name, func(e history.Entry) bool { return e.Verb == "delete" && e.Actor == "node-controller" })
		ended := r.recordOf(t, "pods", name, reported("terminated"))
		about(t, name+": from the taint to its deletion", evicted.Virtual-tainted.Virtual, after)
		about(t, name+": from there to its end", ended.Virtual-evicted.Virtual, grace)
		if code := fmt.Sprint(ended.Detail["exitCode"]); code != "137" {
			t.Errorf("%s ended with %s, want 137: it is killed", name, code)
		}
		why := ""
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.DisruptionTarget {
				why = c.Reason
			}
		}
		if why != "DeletionByTaintManager" {
			t.Errorf("%s is deleted for %q", name, why)
		}
	}
	p := r.podIs(t, "stays", "Running", time.Second, running)
	if p.DeletionTimestamp != nil || p.Status.ContainerStatuses[0].ContainerID != containers["stays"] {
		t.Errorf("the pod that tolerates the taint: %v, %+v", p.DeletionTimestamp, p.Status.ContainerStatuses)
	}
}

// about allows 5 s: for the rounds of controllers and kubelet, and the clock's grain.
func about(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want-time.Second || got > want+5*time.Second {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// recordOf is the first of an object that matches. A call is in the history soon after
// it was answered.
func (r rig) recordOf(t *testing.T, resource, name string, match func(history.Entry) bool) history.Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := r.History().Wait(ctx, func(e history.Entry) bool {
		return e.Object.Resource == resource && e.Object.Name == name && match(e)
	})
	if err != nil {
		t.Fatalf("no such event of %s %s: %v", resource, name, err)
	}
	return found
}

// reported matches what a kubelet has said, real or not.
func reported(verb string) func(history.Entry) bool {
	return func(e history.Entry) bool { return e.Source == history.Node && e.Verb == verb }
}
