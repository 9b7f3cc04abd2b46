package replays

import (
	"errors"
	"testing"

	"nodestorm/harness/builds"
)

// One record whose build cannot be had stops no other; Kubernetes is of all of them.
func TestRefusesTheLast(t *testing.T) {
	plain := builds.Ref{Name: "karpenter", Version: "mine"}
	raced := plain
	raced.Race = true
	none := errors.New("is not in the store")
	for _, test := range []struct {
		refs, missing []builds.Ref
		refused       bool
	}{
		{[]builds.Ref{plain, raced}, []builds.Ref{raced}, false},
		{[]builds.Ref{plain, raced}, []builds.Ref{raced, plain}, true},
		{[]builds.Ref{plain, plain}, []builds.Ref{plain}, true},
		{[]builds.Ref{plain, raced}, []builds.Ref{builds.Kubernetes}, true},
	} {
		var last error
		missing := map[builds.Ref]error{}
		for _, ref := range test.missing {
			last = refusesLast(test.refs, missing)(ref, none)
		}
		if (last != nil) != test.refused || len(missing) != len(test.missing) {
			t.Errorf("%v without %v: %v, %v", test.refs, test.missing, last, missing)
		}
	}
}
