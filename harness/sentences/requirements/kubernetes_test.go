package requirements_test

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/stepdef/stepdeftest"
)

// What Kubernetes does not support of upgrades and of kubelets' releases is said before anything starts.
func TestCheckKubernetes(t *testing.T) {
	begin := func(version string) string {
		return "a cluster of Kubernetes " + version + " until its control plane is upgraded"
	}
	kubelets := func(version string) string { return "every new simulated node has a kubelet of Kubernetes " + version }
	const upgraded = "the control plane is upgraded"
	for _, test := range []struct {
		name, own string
		steps     []string
		want      string
	}{
		{"its own", "v1.36.3", []string{"a cluster"}, ""},
		{"to itself", "v1.36.3", []string{begin("v1.36.3"), upgraded}, ""},
		{"by a minor", "v1.36.3", []string{begin("v1.35.4"), upgraded}, ""},
		{"back", "v1.35.4", []string{begin("v1.36.3"), upgraded}, "cannot go back from Kubernetes v1.36.3 to v1.35.4"},
		{"back by a patch", "v1.35.3", []string{begin("v1.35.4"), upgraded}, "cannot go back from Kubernetes v1.35.4 to v1.35.3"},
		{"by two minors", "v1.36.3", []string{begin("v1.34.1"), upgraded}, "supports one minor release at a time"},
		{"kubelets behind", "v1.36.3", []string{"a cluster", kubelets("v1.33.0")}, ""},
		{"kubelets too far behind", "v1.36.3", []string{"a cluster", kubelets("v1.32.9")}, "more than 3 minor releases older than kube-apiserver (v1.36.3)"},
		{"newer kubelets", "v1.36.3", []string{"a cluster", kubelets("v1.36.4")}, "newer than kube-apiserver (v1.36.3)"},
		{"kubelets first", "v1.36.3", []string{begin("v1.35.4"), kubelets("v1.36.3"), upgraded}, "newer than kube-apiserver (v1.35.4)"},
		{"kubelets then", "v1.36.3", []string{begin("v1.35.4"), upgraded, kubelets("v1.36.3")}, ""},
		{"kubelets left behind", "v1.36.3", []string{begin("v1.35.4"), kubelets("v1.32.1"), upgraded}, "v1.32.1 are more than 3 minor"},
	} {
		var steps []*messages.PickleStep
		for _, text := range test.steps {
			role := messages.PickleStepType_CONTEXT
			if text == upgraded {
				role = messages.PickleStepType_ACTION
			}
			steps = append(steps, stepdeftest.Step(role, text, ""))
		}
		err := requirements.CheckKubernetes(steps, test.own)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
