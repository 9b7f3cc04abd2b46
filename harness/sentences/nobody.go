package sentences

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"nodestorm/harness/run/then"
)

// nobody reports whether doing something to an object of a scenario that was drawn came to
// nothing because there is no newest or oldest one, or none any more.
func (s *scenario) nobody(ref string, err error) bool {
	_, name, _ := strings.Cut(ref, "/")
	// mutant: what somebody wrote may be done to nobody
	return s.drawn && (name == then.Newest || name == then.Oldest) && (errors.As(err, new(*then.NoneError)) || apierrors.IsNotFound(err))
}
