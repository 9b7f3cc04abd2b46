package builds

import (
	"cmp"
	"strings"

	"golang.org/x/mod/semver"
)

// Modules are the Go modules that releases are built of, by name; those of other names come from repositories.
var Modules = map[string]string{
	"karpenter":    "sigs.k8s.io/karpenter",
	KarpenterAWS:   "github.com/aws/karpenter-provider-aws",
	AWSCCM:         "k8s.io/cloud-provider-aws",
	Descheduler:    "sigs.k8s.io/descheduler",
	Kueue:          "sigs.k8s.io/kueue",
	VPARecommender: "k8s.io/autoscaler/vertical-pod-autoscaler",
	VPAUpdater:     "k8s.io/autoscaler/vertical-pod-autoscaler",
	VPAAdmission:   "k8s.io/autoscaler/vertical-pod-autoscaler",
	"cluster-api":  "sigs.k8s.io/cluster-api",
	// Another release's than nodestorm's own, which is a module of nodestorm's.
	Kubernetes.Name: "k8s.io/kubernetes",
}

// own begins the paths of modules that are nodestorm's, of which the control plane and the parts of worlds are built.
const own = "nodestorm/"

// OfRelease reports whether a build is that of the release which it is named after: made of the release's module by
// our recipe, of a source without changes where releases have no module, or published by its project as an image. A
// program that was added under the name of a release is not, nor is a build of another module or package. A build
// whose version is called as no release is stands for none, and is what it is.
func (m Manifest) OfRelease() bool {
	if !IsRelease(m.Version) {
		return true
	}
	module, known := Modules[m.Name]
	switch src := m.Source; src.Kind {
	case FromOrder:
		return true
	case FromImage:
		return src.Published
	case FromFolder:
		return !known && !src.Dirty
	case FromModule:
		if strings.HasPrefix(src.Module, own) || !known {
			return true
		}
		// mutant: any module is a release's
		return src.Module == module && src.Version == m.Version && m.recipesPackage()
	}
	return false
}

// recipesPackage reports whether the program is the one of the recipe, of those that a module has.
func (m Manifest) recipesPackage() bool {
	switch {
	case m.Name == "karpenter" && m.Provider == Instances, m.Name == Kubernetes.Name:
		return m.Source.Graft != ""
	case m.Name == "karpenter":
		return m.Source.Package == "./"+Kwok && len(m.Source.Tags) == 0
	case m.Name == KarpenterAWS:
		return m.Source.Package == "./cmd/controller" && len(m.Source.Tags) == 0
	case m.Name == "cluster-api" && OwnCore(m.Version):
		return m.Source.Package == "./"+Core && len(m.Source.Tags) == 0
	}
	return m.Source.Package == cmp.Or(ChartedPrograms[m.Name].Package, ".") && len(m.Source.Tags) == 0
}

// Core is the folder that Cluster API has its core controllers in, where OwnCore says so.
const Core = "core"

// OwnCore reports whether a release of Cluster API has its core controllers in a folder of their own.
func OwnCore(version string) bool { return semver.Compare(version, "v1.14.0-0") >= 0 }

// IsRelease reports whether a version is called as releases are: v1.7.0, or 1.33.0 without the v.
func IsRelease(version string) bool {
	v := "v" + strings.TrimPrefix(version, "v")
	return semver.Canonical(v) == v && semver.Prerelease(v) == ""
}
