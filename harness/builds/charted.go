package builds

// Charted is a released program whose module has a Helm chart with the rights and flags that install it.
type Charted struct {
	// Provider is the cloud that it is for, empty if it is for none.
	Provider string
	// Package is its main package, and Chart the chart's folder, in the module.
	Package, Chart string
	// Version is the variable of the module that has its version, empty if none has.
	Version string
	// Example is a release of it.
	Example string
}

// ChartedPrograms are those that there are, by name.
var ChartedPrograms = map[string]Charted{
	AWSCCM: {
		AWS, "./cmd/aws-cloud-controller-manager", "charts/aws-cloud-controller-manager", "k8s.io/component-base/version.gitVersion", "v1.34.3",
	},
	Descheduler: {
		"", "./cmd/descheduler", "charts/descheduler", "sigs.k8s.io/descheduler/pkg/version.version", "v0.36.0",
	},
	Kueue:          {"", "./cmd/kueue", "charts/kueue", "sigs.k8s.io/kueue/pkg/version.GitVersion", "v0.17.1"},
	VPARecommender: {"", "./pkg/recommender", vpaChart, "", "v1.8.1"},
	VPAUpdater:     {"", "./pkg/updater", vpaChart, "", "v1.8.1"},
	VPAAdmission:   {"", "./pkg/admission-controller", vpaChart, "", "v1.8.1"},
}

const vpaChart = "charts/vertical-pod-autoscaler"
