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
	"nodestorm/harness/program/installer"
	"nodestorm/harness/program/karpenter"
)

// All are the programs.
var All = []deploy.Kind{
	clusterautoscaler.Kind,
	karpenter.OnAWS,
	karpenter.Kind,
	clusterapi.Kind,
	ccm.Kind,
	awsccm.Kind,
	installer.Kubespray,
}

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
