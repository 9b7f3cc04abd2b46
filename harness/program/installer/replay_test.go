package installer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"nodestorm/harness/program/installer"
	"nodestorm/sim/history"
)

// recorder keeps what it is given.
type recorder []history.Event

func (r *recorder) Record(e history.Event) { *r = append(*r, e) }

// A node is labelled and tainted beside what others have set; a workload that does not
// roll out ends the order after its timeout, with what its pod says.
func TestRun(t *testing.T) {
	o, err := installer.Parse([]byte(`
steps:
  - label: {nodes: [a], labels: {role: b}}
  - taint: {nodes: [a], taints: ["mine=x:NoSchedule"]}
  - apply: web.yaml
  - rollout: {kind: Deployment, namespace: apps, name: web, timeout: 1m}
  - label: {nodes: [a], labels: {never: reached}}
`), folder)
	if err != nil {
		t.Fatal(err)
	}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps"},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "apps", Labels: map[string]string{"app": "web"}}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "theirs", Effect: corev1.TaintEffectNoExecute}}}}
	c := fake.NewClientBuilder().WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)).WithObjects(node, web, pod).WithStatusSubresource(web).Build()
	clk := clocktesting.NewFakeClock(time.Now())
	var events recorder
	done := make(chan error, 1)
	go func() { done <- installer.Runner{Client: c, Clock: clk, History: &events}.Run(t.Context(), o) }()
	for err = nil; err == nil; {
		select {
		case err = <-done:
			if err == nil {
				t.Fatal("the order is through")
			}
		default:
			if clk.HasWaiters() {
				clk.Step(10 * time.Second)
			}
		}
	}
	for _, want := range []string{"step 4 of 5", "timed out after 1m0s waiting for Deployment apps/web", "0 of 1 pods are up to date", "pod web-1: 0/1 nodes are available"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q has no %q", err, want)
		}
	}
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(node), node); err != nil {
		t.Fatal(err)
	}
	if node.Labels["role"] != "b" || node.Labels["never"] != "" || len(node.Spec.Taints) != 2 {
		t.Errorf("node %v, %v", node.Labels, node.Spec.Taints)
	}
	verbs := ""
	for _, e := range events {
		verbs += e.Verb + " "
	}
	if verbs != "label taint apply rollout " || events[3].Detail["failed"] != true || events[2].Detail["failed"] != false {
		t.Errorf("history %q, %v", verbs, events)
	}
}
