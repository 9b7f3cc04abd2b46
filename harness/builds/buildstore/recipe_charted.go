package buildstore

import (
	"fmt"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
)

// charted are programs in cmd whose module has a chart that is called as they are, with the rights and flags that install them.
var charted = map[string]struct{ provider, called, version, example string }{
	builds.AWSCCM:      {builds.AWS, "aws-cloud-controller-manager", "k8s.io/component-base/version.gitVersion", "v1.34.3"},
	builds.Descheduler: {"", "descheduler", "sigs.k8s.io/descheduler/pkg/version.version", "v0.36.0"},
}

// releasedCharted is the recipe of a release of such a program.
func releasedCharted(ref builds.Ref) (Recipe, error) {
	of := charted[ref.Name]
	if v := ref.Version; semver.Canonical(v) != v {
		hint := releaseHint(ref, "a Go module version has three numbers and a v, as in "+ref.Name+"@"+of.example)
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref, hint)
	}
	r := FromSource(ref, "")
	r.Module, r.LDFlags = builds.Modules[ref.Name], "-X "+of.version+"="+ref.Version
	return r, nil
}
