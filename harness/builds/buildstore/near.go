package buildstore

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/sim/oneline"
)

// repositories are where programs without a recipe are built from, and what the tags of
// their releases begin with.
var repositories = map[string]struct{ url, tag string }{
	"cluster-autoscaler":       {"https://github.com/kubernetes/autoscaler", "cluster-autoscaler-"},
	builds.ReleasedCSRApprover: {"https://github.com/postfinance/kubelet-csr-approver", ""},
}

// sourceFlags are those that build a release from its repository, or from a folder whose
// place only the user knows.
func sourceFlags(ref builds.Ref) []string {
	flags := []string{"--source", "DIR"}
	if from, known := repositories[ref.Name]; known && isRelease(ref) {
		flags = []string{"--source", from.url, "--ref", from.tag + ref.Version}
	}
	if ref.Provider != "" {
		flags = append(flags, "--tags", ref.Provider)
	} else if ref.Name == "cluster-autoscaler" {
		flags = append(flags, "--tags", "CLOUD")
	}
	return flags
}

// BuildCommand builds releases of one program, which has no recipe, for one provider, all with the
// race detector or none.
func BuildCommand(refs ...builds.Ref) string {
	from, known := repositories[refs[0].Name]
	if !known || len(refs) == 1 {
		return buildCommand(refs[0], builds.Source{})
	}
	words := []string{"nodestorm", "target", "build", refs[0].Name, "--source", from.url}
	for _, ref := range refs {
		words = append(words, "--ref", from.tag+ref.Version)
	}
	if refs[0].Provider != "" {
		words = append(words, "--tags", refs[0].Provider)
	}
	if refs[0].Race {
		words = append(words, "--race")
	}
	return oneline.Command(words...)
}

// isRelease reports whether the version is like those of the program's releases.
func isRelease(ref builds.Ref) bool {
	v := ref.Version
	if ref.Name == "cluster-autoscaler" {
		v = "v" + v
	}
	return semver.Canonical(v) == v
}

// intended is the release that was meant where the v was left out, one too many was written, or
// a number was left out; empty if that cannot be determined.
func intended(ref builds.Ref) string {
	canonical := semver.Canonical("v" + strings.TrimPrefix(ref.Version, "v"))
	if canonical == "" || !strings.Contains(ref.Version, ".") { // of v1 it may be any
		return ""
	}
	if ref.Name == "cluster-autoscaler" {
		canonical = strings.TrimPrefix(canonical, "v")
	}
	if _, known := repositories[ref.Name]; !known {
		if _, err := Known(builds.Ref{Name: ref.Name, Version: canonical}); err != nil {
			return ""
		}
	}
	if canonical == ref.Version {
		return ""
	}
	return canonical
}

// releaseHint asks whether another release was meant, or says how releases are written.
func releaseHint(ref builds.Ref, how string) string {
	if like := intended(ref); like != "" {
		return "did you mean " + ref.Name + "@" + like + "?"
	}
	return how
}

// nearest are the few versions next to one, in their order, oldest first.
func nearest(version string, there []string) (near []string) {
	there = slices.DeleteFunc(slices.Clone(there), func(v string) bool { return !semver.IsValid(v) })
	slices.SortFunc(there, semver.Compare)
	at, _ := slices.BinarySearchFunc(there, version, func(v, to string) int { return cmp.Compare(semver.Compare(v, to), 0) })
	// mutant: nothing is near a release that there is not
	const each = 2
	return there[max(0, at-each):min(len(there), at+each)]
}
