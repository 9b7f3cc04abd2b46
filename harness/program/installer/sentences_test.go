package installer

import (
	"testing"

	"nodestorm/harness/sentences/scene"
)

func TestAskKubeletsOfNothing(t *testing.T) {
	if (&scene.Scene{}).Meet(needsMachines) == nil {
		t.Error("kubelets of no machines are asked")
	}
}
