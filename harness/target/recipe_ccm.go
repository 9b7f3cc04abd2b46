package target

import (
	"fmt"
	"path/filepath"
)

// CCM is nodestorm's own cloud controller manager for the Hetzner Cloud, at the
// version of k8s.io/cloud-provider that the module fakecloud/adapters/ccm requires.
var CCM = Ref{Name: "ccm", Version: "v0.34.4"}

func ccm(ref Ref) (Recipe, error) {
	if ref != CCM {
		return Recipe{}, fmt.Errorf("%s: this nodestorm builds %s; another cloud controller manager comes from a folder, with --source DIR", ref, CCM)
	}
	root, err := Root()
	if err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Ref:     ref,
		Dir:     filepath.Join(root, "fakecloud", "adapters", "ccm"),
		LDFlags: "-X k8s.io/component-base/version.gitVersion=" + ref.Version,
		sealed:  "nodestorm/fakecloud/adapters/ccm",
	}, nil
}
