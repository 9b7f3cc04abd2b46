package builds

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Nodestorm's own parts of a cluster, each a module of its own, at the version of the
// Kubernetes libraries that it requires.
var (
	// CCM is a cloud controller manager for the Hetzner Cloud.
	CCM = Ref{Name: "ccm", Version: "v0.36.3"}
	// CCMVSphere is one for vSphere.
	CCMVSphere = Ref{Name: "ccm-vsphere", Version: "v0.36.3"}
	// CSRApprover approves kubelets' requests for serving certificates.
	CSRApprover = Ref{Name: "csr-approver", Version: "v0.36.3"}
)

// ReleasedCSRApprover is the name of the one that can stand in for ours.
const ReleasedCSRApprover = "kubelet-csr-approver"

// Parts are those that worlds bring up beside the target.
var Parts = []Ref{CCM, CCMVSphere, CSRApprover}

// folders of the parts' modules, by name.
var folders = map[string]string{
	CCM.Name:         "fakecloud/adapters/ccm",
	CCMVSphere.Name:  "fakecloud/adapters/ccm-vsphere",
	CSRApprover.Name: "sim/csrapprover",
}

func part(ref Ref) (Recipe, error) {
	own := Parts[slices.IndexFunc(Parts, func(p Ref) bool { return p.Name == ref.Name })]
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
