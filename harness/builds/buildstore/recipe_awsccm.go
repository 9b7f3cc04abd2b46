package buildstore

import (
	"fmt"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
)

const awsCCMPackage = "./cmd/aws-cloud-controller-manager"

// awsCCMAssets have the chart that installs it, with its rights and flags.
var awsCCMAssets = []string{"charts/aws-cloud-controller-manager"}

// awsCCM is the cloud controller manager of AWS.
func awsCCM(ref builds.Ref) (Recipe, error) {
	if v := ref.Version; semver.Canonical(v) != v {
		return Recipe{}, fmt.Errorf("%s is not a release: %s", ref,
			releaseHint(ref, "a Go module version has three numbers and a v, as in aws-ccm@v1.34.3"))
	}
	ref.Provider = builds.AWS
	return Recipe{
		Ref: ref, Module: builds.Modules[ref.Name], Package: awsCCMPackage, Assets: awsCCMAssets,
		LDFlags: "-X k8s.io/component-base/version.gitVersion=" + ref.Version,
	}, nil
}
