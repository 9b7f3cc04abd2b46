// Package programs has all that can be in worlds beside their own control planes.
package programs

import (
	"slices"
	"strings"

	"nodestorm/harness/program/awsccm"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/descheduler"
	"nodestorm/harness/program/installer"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/program/kueue"
	"nodestorm/harness/program/vpa"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
)

// All are the programs.
var All = []deploy.Kind{
	clusterautoscaler.Kind,
	karpenter.OnAWS,
	karpenter.Kind,
	clusterapi.Kind,
	ccm.Kind,
	awsccm.Kind,
	descheduler.Kind,
	kueue.Kind,
	vpa.Recommender,
	vpa.Updater,
	vpa.Admission,
	installer.Kubespray,
	{Name: world.Controllers[0], Way: &breakable},
	{Name: world.Controllers[1], Way: &breakable},
}

// breakable is what rules about the controllers of a control plane need.
var breakable = scene.Need{There: scene.Cluster.There,
	Missing: "the world's own control plane did not start with a way that can be broken: say the fault in the feature"}

// Named is the one that is called so, without anything to know of it where there is none.
func Named(name string) deploy.Kind {
	i := slices.IndexFunc(All, func(k deploy.Kind) bool { return k.Name == name })
	if i < 0 {
		return deploy.Kind{Name: name}
	}
	return All[i]
}

// WithManifest are the names of those that users run by a manifest, with " or " between them.
func WithManifest() string {
	var names []string
	for _, k := range All {
		if k.Manifest != nil {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, " or ")
}
