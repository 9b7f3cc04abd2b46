package karpenter

import (
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world"
)

// Kind is Karpenter.
var Kind = deploy.Kind{
	Name: Name, Check: check, CheckKubernetes: checkKubernetes, Adopts: adopts, Objects: itsObjects, Sentences: sentences,
}

// checkKubernetes is about what makes the Nodes of the provider kwok whole.
func checkKubernetes(t builds.Target, version string) error {
	if cloud.Implied(t.Provider) || world.HasPolicies(version) {
		return nil
	}
	return fmt.Errorf("the Nodes of Karpenter's provider kwok are mended by a MutatingAdmissionPolicy, which there is from "+
		"Kubernetes %s on, and this is %s: build %s with --provider instances", world.FirstPolicies, version, t.Ref)
}
