package buildstore

import (
	"fmt"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
)

// releasedCharted is the recipe of a release of such a program.
func releasedCharted(ref builds.Ref) (Recipe, error) {
	of := builds.ChartedPrograms[ref.Name]
	if v := ref.Version; semver.Canonical(v) != v {
		hint := releaseHint(ref, "a Go module version has three numbers and a v, as in "+ref.Name+"@"+of.Example)
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref, hint)
	}
	r := FromSource(ref, "")
	if r.Module = builds.Modules[ref.Name]; of.Version != "" {
		r.LDFlags = "-X " + of.Version + "=" + ref.Version
	}
	return r, nil
}
