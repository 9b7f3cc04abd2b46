package usage_test

import (
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"
	testclock "k8s.io/utils/clock/testing"

	"nodestorm/sim/machine/usage"
)

// The clients that autoscalers have of the Metrics API read what pods use as they would of metrics-server.
func TestAPI(t *testing.T) {
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	pod := func(name string, containers ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}}}
		p.Spec.NodeName, p.Status.Phase = "one", corev1.PodRunning
		for _, c := range containers {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: c})
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}},
			})
		}
		return p
	}
	pending := pod("pending", "main")
	pending.Status.Phase = corev1.PodPending
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	// NewClientset would build a table of all kinds for every single update.
	client := fake.NewSimpleClientset(pod("a", "main", "proxy"), pod("b", "main"), pending, node) //nolint:staticcheck // see above
	now := testclock.NewFakePassiveClock(start.Add(usage.Window - time.Second))
	api := usage.New(client, now)
	server := httptest.NewServer(api)
	defer server.Close()
	all := metrics.NewForConfigOrDie(&rest.Config{Host: server.URL})
	asked := all.MetricsV1beta1()
	use := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	api.Set(usage.Load{Namespace: "shop", Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Use: use("2", "1Gi"), Shared: true})

	ctx := t.Context()
	if _, err := asked.PodMetricses("shop").Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that has just started: %v, want that nothing is known of it", err)
	}
	now.SetTime(start.Add(usage.Window))
	a, err := asked.PodMetricses("shop").Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Containers) != 2 || a.Containers[1].Name != "proxy" || a.Containers[1].Usage.Cpu().String() != "500m" ||
		a.Containers[1].Usage.Memory().String() != "256Mi" || !a.Timestamp.Time.Equal(now.Now()) || a.Window.Duration != usage.Window {
		t.Errorf("half of what a pod uses of a load that two share: %+v", a)
	}
	api.Set(usage.Load{Namespace: "shop", Name: "b", Use: use("100m", "1Mi")})
	pods, err := asked.PodMetricses("").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(pods.Items) != 2 || pods.Items[1].Containers[0].Usage.Cpu().String() != "100m" ||
		pods.Items[0].Containers[0].Usage.Cpu().String() != "1" {
		t.Errorf("a pod of its own load, and the one that has the other load to itself: %+v, %v", pods, err)
	}
	if none, err := asked.PodMetricses("other").List(ctx, metav1.ListOptions{}); err != nil || len(none.Items) != 0 {
		t.Errorf("in a namespace without pods: %+v, %v", none, err)
	}
	if none, err := asked.PodMetricses("").List(ctx, metav1.ListOptions{LabelSelector: "app=other"}); err != nil || len(none.Items) != 0 {
		t.Errorf("of other labels: %+v, %v", none, err)
	}
	one, err := asked.NodeMetricses().Get(ctx, "one", metav1.GetOptions{})
	if err != nil || one.Usage.Cpu().String() != "2100m" {
		t.Errorf("a node's is that of its pods: %+v, %v", one, err)
	}
	if _, err := asked.NodeMetricses().Get(ctx, "two", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a node that is not there: %v", err)
	}
	if nodes, err := asked.NodeMetricses().List(ctx, metav1.ListOptions{}); err != nil || len(nodes.Items) != 1 {
		t.Errorf("all nodes: %+v, %v", nodes, err)
	}
	api.Set(usage.Load{Namespace: "shop", Name: "b", Use: use("2", "1Mi"), For: time.Minute})
	for since, want := range map[time.Duration]string{time.Minute - time.Second: "2", time.Minute: "100m"} {
		now.SetTime(start.Add(since))
		b, err := asked.PodMetricses("shop").Get(ctx, "b", metav1.GetOptions{})
		if err != nil || b.Containers[0].Usage.Cpu().String() != want {
			t.Errorf("%s after its start a pod of a load for a minute: %+v, %v, want %s", since, b, err, want)
		}
	}
	groups, err := all.Discovery().ServerResourcesForGroupVersion("metrics.k8s.io/v1beta1")
	if err != nil || len(groups.APIResources) != 2 {
		t.Errorf("discovery: %+v, %v", groups, err)
	}
}
