package buildstore

import (
	"fmt"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
)

// clusterAPIIn is the recipe of a source, which may have the core controllers in a folder of their own. Assets install them.
func clusterAPIIn(r Recipe, core bool) Recipe {
	if r.Assets = []string{"config"}; core {
		r.Package, r.Assets = "./"+builds.Core, []string{builds.Core + "/config"}
	}
	return r
}

// clusterAPI is Cluster API's core controllers.
func clusterAPI(ref builds.Ref) (Recipe, error) {
	if v := ref.Version; semver.Canonical(v) != v {
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref,
			releaseHint(ref, "want a version of three numbers with a v, as in cluster-api@v1.9.5"))
	}
	flags := versionFlags(ref.Version, "sigs.k8s.io/cluster-api/version")
	return clusterAPIIn(Recipe{Ref: ref, Module: builds.Modules[ref.Name], LDFlags: flags}, builds.OwnCore(ref.Version)), nil
}
