package slips

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
)

// version is how Kubernetes calls versions of APIs.
var version = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)

// object is what is looked at of one that a step brings.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Spec       struct {
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"selector"`
		Template struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

// workloads select the pods that they make themselves.
var workloads = []string{"Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"}

// ofObjects finds what no API server takes, or takes and nothing comes of.
func ofObjects(steps []*messages.PickleStep) (wrong []Problem) {
	for i, step := range steps {
		if step.Argument == nil || step.Argument.DocString == nil {
			continue
		}
		for n := range documents(step.Argument.DocString.Content) {
			var o object
			if n.Decode(&o) == nil && o.Kind != "" { // fields of other forms are of other kinds
				wrong = append(wrong, o.problems(i)...)
			}
		}
	}
	return wrong
}

func (o object) problems(step int) (wrong []Problem) {
	add := func(format string, args ...any) { wrong = append(wrong, Problem{step, fmt.Errorf(format, args...)}) }
	// mutant: an API version of another form is no slip
	if v := o.APIVersion[strings.LastIndex(o.APIVersion, "/")+1:]; o.APIVersion != "" && !version.MatchString(v) && !strings.Contains(v, "$") {
		add("%s: apiVersion: %q is no version of an API, such as v1 or v1beta1", o.Kind, v)
	}
	if !slices.Contains(workloads, o.Kind) {
		return wrong
	}
	labels := o.Spec.Template.Metadata.Labels
	for key, value := range o.Spec.Selector.MatchLabels {
		// mutant: a selector may select none of the pods of its own template
		if is, has := labels[key]; !has || is != value {
			add("%s: its selector asks for the label %s=%s, and its template has %v: the API server refuses it", o.Kind, key, value, labels)
		}
	}
	return wrong
}
