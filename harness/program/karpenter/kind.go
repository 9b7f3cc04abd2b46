package karpenter

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world"
)

// Kind is Karpenter.
var Kind = deploy.Kind{
	Name: Name, Check: check, CheckKubernetes: checkKubernetes, Adopts: adopts, Objects: itsObjects, Sentences: sentences,
}

// OnAWS is Karpenter for AWS, whose releases are not those of Karpenter. It has the same sentences, and node classes of its
// own where the scenario has a region of AWS.
var OnAWS = deploy.Kind{Name: builds.KarpenterAWS, Check: check, Objects: classesOfAWS}

// classesOfAWS are the node classes of AWS, in worlds that have it.
func classesOfAWS(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	return runs && kind.Group == "karpenter.k8s.aws", nil
}

// checkKubernetes is about what makes the Nodes of the provider kwok whole.
func checkKubernetes(t builds.Target, version string) error {
	if cloud.Implied(t.Provider) || world.HasPolicies(version) {
		return nil
	}
	return fmt.Errorf("the Nodes of Karpenter's provider kwok are mended by a MutatingAdmissionPolicy, which there is from "+
		"Kubernetes %s on, and this is %s: build %s with --provider instances", world.FirstPolicies, version, t.Ref)
}
