package clusterapi

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/sentences/scene"
)

// With a release that goes all goes, but what has the objects of people.
func TestReplaced(t *testing.T) {
	for kind, goes := range map[string]bool{
		"CustomResourceDefinition": false, "Namespace": false, "ClusterRole": true, "ValidatingWebhookConfiguration": true,
	} {
		o := &unstructured.Unstructured{}
		o.SetKind(kind)
		if got := replaced(o, scene.LeftBehind{}); got != goes {
			t.Errorf("%s goes: %t", kind, got)
		}
		if got := replaced(o, scene.LeftBehind{Roles: true}); got != (goes && kind != "ClusterRole") {
			t.Errorf("with its roles left behind, %s goes: %t", kind, got)
		}
	}
}

// A release that lacks the version in which objects are stored cannot come back.
func TestWayBack(t *testing.T) {
	old := buildstest.Get(t, builds.Ref{Name: Name, Version: "v1.9.5"})
	newer := buildstest.Get(t, builds.Ref{Name: Name, Version: "v1.12.0"})
	want := "cluster-api@v1.9.5 cannot take the place of cluster-api@v1.12.0: the API server refuses its CRD "
	if err := checkUpgrade(newer, old, scene.LeftBehind{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the way back: %v, want %q", err, want)
	}
	for _, way := range []error{
		checkUpgrade(old, newer, scene.LeftBehind{}), checkUpgrade(newer, newer, scene.LeftBehind{}),
		checkUpgrade(newer, old, scene.LeftBehind{Refused: true}),
	} {
		if way != nil {
			t.Error(way)
		}
	}
}
