package clusterapi

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
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
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	var two []builds.Target
	for _, ref := range builds.ClusterAPI {
		build, err := store.Get(ref)
		if err != nil {
			t.Skip(err)
		}
		two = append(two, build)
	}
	want := "cluster-api@v1.9.5 cannot take the place of cluster-api@v1.12.0: the API server refuses its CRD "
	if err := checkUpgrade(two[1], two[0], scene.LeftBehind{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the way back: %v, want %q", err, want)
	}
	for _, way := range []error{
		checkUpgrade(two[0], two[1], scene.LeftBehind{}), checkUpgrade(two[1], two[1], scene.LeftBehind{}),
		checkUpgrade(two[1], two[0], scene.LeftBehind{Refused: true}),
	} {
		if way != nil {
			t.Error(way)
		}
	}
}
