// Package builds has what a build under test is called, what its manifest says of it, and where
// its program is once it is in the store. Builds are made and kept by harness/builds/buildstore.
package builds

import (
	"fmt"
	"regexp"
	"strings"
)

// Ref names a target: karpenter@v1.7.0. A version of a Go module is its module
// version; of a source folder or a binary it is any word the user gives it.
type Ref struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Provider is the cloud, where one build serves one cloud only: one version
	// can then have a build for each. Of a target, empty means that it serves
	// all that it knows; in a question to the store, that any will do.
	Provider string `json:"provider,omitempty"`
	// Race is a build with Go's race detector, which needs a C compiler, and is Plain. It stands for
	// no other, nor another for it: it is many times slower, and alone knows a race when it has one.
	Race bool `json:"race,omitempty"`
}

// All parts become names of folders in the store, so none holds a slash nor
// starts with a dot.
var (
	refPattern      = regexp.MustCompile(`^([a-z0-9][a-z0-9-]*)@([A-Za-z0-9][A-Za-z0-9._+-]*)$`)
	providerPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
)

// ParseRef reads NAME@VERSION: a name of a-z, 0-9 and -, a version of letters,
// digits and . _ + -.
func ParseRef(s string) (Ref, error) {
	m := refPattern.FindStringSubmatch(s)
	if m == nil && !strings.Contains(s, "@") {
		return Ref{}, fmt.Errorf("%q has no version: write NAME@VERSION, for example karpenter@v1.7.0", s)
	}
	if m == nil {
		return Ref{}, fmt.Errorf("%q names no target: write NAME@VERSION, for example karpenter@v1.7.0", s)
	}
	return Ref{Name: m[1], Version: m[2]}, nil
}

var (
	releasePattern = regexp.MustCompile(`(?:^|[-/])(v?[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9._+-]*)$`)
	commitPattern  = regexp.MustCompile(`^[0-9a-f]{12,64}$`)
)

// VersionOf is what a build of a tag, a branch or a commit is called: 1.33.0 of the tag
// cluster-autoscaler-1.33.0.
func VersionOf(ref string) (string, error) {
	version := strings.ReplaceAll(ref, "/", "-")
	if m := releasePattern.FindStringSubmatch(ref); m != nil {
		version = m[1]
	} else if commitPattern.MatchString(ref) {
		version = ref[:12]
	}
	if _, err := ParseRef("x@" + version); err != nil {
		return "", fmt.Errorf("%q is no name for a version: write NAME@VERSION", ref)
	}
	return version, nil
}

// Check makes sure that the store can keep it.
func (r Ref) Check() error {
	if r.Provider != "" && !providerPattern.MatchString(r.Provider) {
		return fmt.Errorf("%q names no provider: write a word of a-z, 0-9 and -, for example hetzner", r.Provider)
	}
	_, err := ParseRef(r.String())
	return err
}

// Is reports whether a build of r can stand for what wanted asks. One for Instances needs a cloud, and is
// taken only if it is asked for.
func (r Ref) Is(wanted Ref) bool {
	return r.Name == wanted.Name && r.Version == wanted.Version && r.Race == wanted.Race &&
		// mutant: a build for the cloud of instances stands for any other
		(r.Provider == "" || wanted.Provider == "" && r.Provider != Instances || r.Provider == wanted.Provider)
}

// Program is what the program of a build calls itself, and what it is called in a world.
func (r Ref) Program() string {
	// mutant: Karpenter for AWS calls itself so
	if r.Name == KarpenterAWS {
		return "karpenter"
	}
	// mutant: AWS's controller manager calls itself so
	if r.Name == AWSCCM {
		return "cloud-controller-manager" // its chart's service account
	}
	return r.Name
}

// OtherKubernetes reports whether it is of another Kubernetes than nodestorm's own, which is made only for those who ask for it.
func (r Ref) OtherKubernetes() bool { return r.Name == Kubernetes.Name && r != Kubernetes }

// String is NAME@VERSION.
func (r Ref) String() string { return r.Name + "@" + r.Version }
