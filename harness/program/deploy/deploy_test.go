package deploy_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"nodestorm/harness/program/deploy"
)

func role(name, verb string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"nodes"}, "verbs": []any{verb}}},
	}}
}

// An upgrade leaves the rights of the new release, and no others.
func TestUpgrade(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := rbacv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	old := []*unstructured.Unstructured{role("kept", "get"), role("given up", "delete")}
	if err := deploy.Create(t.Context(), c, role("kept", "get"), role("given up", "delete")); err != nil {
		t.Fatal(err)
	}
	if err := deploy.Upgrade(t.Context(), c, old, []*unstructured.Unstructured{role("kept", "list"), role("new", "watch")}); err != nil {
		t.Fatal(err)
	}
	for name, verb := range map[string]string{"kept": "list", "new": "watch"} {
		var got rbacv1.ClusterRole
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Rules) != 1 || len(got.Rules[0].Verbs) != 1 || got.Rules[0].Verbs[0] != verb {
			t.Errorf("%s has the rules %v, want %s", name, got.Rules, verb)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "given up"}, &rbacv1.ClusterRole{}); !apierrors.IsNotFound(err) {
		t.Errorf("what only the old release has: %v, want that it is gone", err)
	}
}

// How many pods may come before others go is as the API has it where a Deployment says nothing.
func TestRolling(t *testing.T) {
	for _, c := range []struct {
		strategy                     map[string]any
		replicas, surge, unavailable int
	}{
		{nil, 1, 1, 0},
		{map[string]any{"rollingUpdate": map[string]any{"maxUnavailable": int64(1)}}, 2, 1, 1},
		{map[string]any{"rollingUpdate": map[string]any{"maxSurge": "100%", "maxUnavailable": "50%"}}, 3, 3, 1},
		{map[string]any{"type": "Recreate"}, 2, 0, 2},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"strategy": c.strategy}}}
		surge, unavailable, err := deploy.Rolling(o, c.replicas)
		if err != nil || surge != c.surge || unavailable != c.unavailable {
			t.Errorf("%v of %d: %d more and %d less, %v, want %d and %d", c.strategy, c.replicas, surge, unavailable, err, c.surge, c.unavailable)
		}
	}
}
