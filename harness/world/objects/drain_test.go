package objects

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
)

func podOn(node, name, controller string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "1"}, Spec: corev1.PodSpec{NodeName: node}}
	if controller != "" {
		yes := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: controller, Controller: &yes}}
	}
	return pod
}

// nodes serves what a drain asks for; each eviction is answered by evict.
func nodes(evict func() error, all ...runtime.Object) (*Client, *fake.Clientset) {
	typed := fake.NewClientset(all...)
	typed.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Node", ShortNames: []string{"no"}}, {Name: "pods", Kind: "Pod", Namespaced: true}}}}
	typed.PrependReactor("create", "pods", func(action kubetesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "eviction", nil, evict()
	})
	return &Client{asks: typed.Discovery(), typed: typed}, typed
}

func TestDrain(t *testing.T) {
	ctx, now, refused := context.Background(), time.Unix(0, 0), apierrors.NewTooManyRequests("the budget needs 1 healthy pod", 0)
	asked, answer := 0, error(refused)
	c, cluster := nodes(func() error { asked++; return answer }, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, podOn("a", "web", "web"))
	d, err := c.StartDrain(ctx, Ref{Kind: "Node", Name: "a"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if node, err := cluster.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{}); err != nil || !node.Spec.Unschedulable {
		t.Errorf("the node is not cordoned: %v", err)
	}
	advance := func(after time.Duration, wantAsked int, want string) {
		t.Helper()
		left, err := d.Advance(ctx, now.Add(after))
		if got := strings.Join(left, ";"); err != nil || asked != wantAsked || !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("after %s: %q, %v, asked %d times; want %q and %d", after, got, err, asked, want, wantAsked)
		}
	}
	advance(0, 1, "Pod/shop/web: the budget needs")
	advance(4*time.Second, 1, "Pod/shop/web: the budget needs")
	answer = nil
	advance(5*time.Second, 2, "it is evicted, and ends")
	advance(time.Minute, 2, "it is evicted, and ends")
	if err := cluster.CoreV1().Pods("shop").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	advance(2*time.Minute, 2, "")
}

func TestDrainRefuses(t *testing.T) {
	bare := []runtime.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, podOn("a", "alone", "")}
	for ref, want := range map[Ref]string{
		{Kind: "Node", Name: "a"}:  `shop/alone; or say "is drained by force"`,
		{Kind: "Pod", Name: "a"}:   "pods cannot be drained",
		{Kind: "no", Name: "b"}:    `"b" not found`,
		{Kind: "Thing", Name: "b"}: "no kind Thing",
	} {
		c, _ := nodes(func() error { return nil }, bare...)
		if _, err := c.StartDrain(context.Background(), ref, false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", ref, err, want)
		}
	}
	c, _ := nodes(func() error { return nil }, bare...)
	d, err := c.StartDrain(context.Background(), Ref{Kind: "Node", Name: "a"}, true)
	if err != nil || len(d.pods) != 1 {
		t.Errorf("by force: %v", err)
	}
}
