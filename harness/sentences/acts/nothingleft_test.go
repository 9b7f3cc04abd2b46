package acts

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
)

// In a scenario that was drawn there need be no newest or oldest object to do something to. A
// scenario that was written, or a step that names the object, needs it to be there.
func TestNothingLeft(t *testing.T) {
	_, none := then.Aged(nil, "karpenter", "Node", then.Newest)
	gone := fmt.Errorf("deleting: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web"))
	for _, test := range []struct {
		drawn bool
		ref   string
		err   error
		want  bool
	}{
		{true, "Node/$newest", none, true},
		{true, "Pod/$oldest", gone, true},
		{true, "Pod/web", gone, false},
		{true, "Pod/$oldest", errors.New("refused"), false},
		{true, "Pod/$oldest", nil, false},
		{false, "Node/$newest", none, false},
	} {
		if got := nothingLeft(&scene.Scene{Drawn: test.drawn}, test.ref, test.err); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
