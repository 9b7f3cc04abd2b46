// Package target keeps the builds under test in one store that all checkouts of
// a user share: released Go modules, a maintainer's source folder, a binary that
// someone else built, and the real Kubernetes of our worlds. Each is an entry
// with a manifest that says where it came from, what built it, and its hash.
//
// It builds and stores; it starts nothing and knows no cluster.
package target

import (
	"fmt"
	"regexp"
)

// Ref names a target: karpenter@v1.7.0. A version of a Go module is its module
// version; of a source folder or a binary it is any word the user gives it.
type Ref struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Both halves become folder names in the store, so neither holds a slash nor
// starts with a dot.
var refPattern = regexp.MustCompile(`^([a-z0-9][a-z0-9-]*)@([A-Za-z0-9][A-Za-z0-9._+-]*)$`)

// ParseRef reads NAME@VERSION: a name of a-z, 0-9 and -, a version of letters,
// digits and . _ + -.
func ParseRef(s string) (Ref, error) {
	m := refPattern.FindStringSubmatch(s)
	if m == nil {
		return Ref{}, fmt.Errorf("%q names no target: write NAME@VERSION, for example karpenter@v1.7.0", s)
	}
	return Ref{Name: m[1], Version: m[2]}, nil
}

func (r Ref) String() string { return r.Name + "@" + r.Version }
