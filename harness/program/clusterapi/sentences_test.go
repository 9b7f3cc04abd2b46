package clusterapi

import (
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// A world has Cluster API as the target only if that is what the target is.
func TestWithoutClusterAPI(t *testing.T) {
	target := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}}}
	err := testedClusterAPI(t.Context(), &scene.Scene{Rig: scene.Rig{Target: target}}, words.Args{})
	if err == nil || !strings.Contains(err.Error(), "the target is karpenter@v1.7.0") {
		t.Errorf("got %v", err)
	}
}
