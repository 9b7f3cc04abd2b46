package buildstore

import (
	"fmt"
	"path/filepath"
	"slices"

	"nodestorm/harness/builds"
)

// folders of the parts' modules, by name.
var folders = map[string]string{
	builds.CCM.Name:         "fakecloud/adapters/ccm",
	builds.CCMVSphere.Name:  "fakecloud/adapters/ccm-vsphere",
	builds.CSRApprover.Name: "sim/csrapprover",
}

func part(ref builds.Ref) (Recipe, error) {
	own := builds.Parts[slices.IndexFunc(builds.Parts, func(p builds.Ref) bool { return p.Name == ref.Name })]
	if ref != own {
		return Recipe{}, fmt.Errorf("%s: this nodestorm builds %s; another one comes from a folder, with --source DIR", ref, own)
	}
	root, err := Root()
	if err != nil {
		return Recipe{}, err
	}
	return Recipe{
		Ref:     ref,
		Dir:     filepath.Join(root, filepath.FromSlash(folders[ref.Name])),
		LDFlags: "-X k8s.io/component-base/version.gitVersion=" + ref.Version,
		sealed:  "nodestorm/" + folders[ref.Name],
	}, nil
}
