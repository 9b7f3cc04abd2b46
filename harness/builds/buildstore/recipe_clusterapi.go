package buildstore

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
)

// clusterAPIAssets have the kustomization that installs Cluster API, with CRDs, RBAC and webhooks.
var clusterAPIAssets = []string{"config"}

// clusterAPI is Cluster API's core controllers.
func clusterAPI(ref builds.Ref) (Recipe, error) {
	if v := ref.Version; semver.Canonical(v) != v {
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref,
			releaseHint(ref, "want a version of three numbers with a v, as in cluster-api@v1.9.5"))
	}
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(ref.Version), "v"), ".")
	// As hack/version.sh of the release does, but for the commit and the date, which
	// a module doesn't carry.
	var ldflags []string
	for _, set := range []string{"gitVersion=" + ref.Version, "gitMajor=" + major, "gitMinor=" + minor, "gitCommit=", "gitTreeState=clean"} {
		ldflags = append(ldflags, "-X sigs.k8s.io/cluster-api/version."+set)
	}
	return Recipe{Ref: ref, Module: builds.Modules[ref.Name], LDFlags: strings.Join(ldflags, " "), Assets: clusterAPIAssets}, nil
}
