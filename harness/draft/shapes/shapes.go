// Package shapes is what of nodes and pods a world can have: instance types, labels, taints, requests. It knows no
// source and no feature.
package shapes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/machines"
)

// Types are the instance types of a draft: those of a cloud, and Own, which no cloud has.
type Types struct {
	Cloud *fakecloud.Catalogue
	Own   []Type
}

// Type is an instance type.
type Type struct {
	Name   string
	Cores  int
	Memory float64 // GB, as the cloud counts
}

// Of is the instance type of a node; empty if no source says what it has.
func (s *Types) Of(n *corev1.Node) string {
	if n == nil || n.Status.Capacity.Cpu().IsZero() || n.Status.Capacity.Memory().IsZero() {
		return ""
	}
	label := CloudName(cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelInstanceType]))
	if label != "" && s.Cloud.ServerType(label) != nil {
		return label
	}
	want := Type{
		Cores:  max(1, int(math.Ceil(n.Status.Capacity.Cpu().AsApproximateFloat64()))),
		Memory: math.Max(0.5, math.Round(n.Status.Capacity.Memory().AsApproximateFloat64()/(1<<30)/machines.Usable*4)/4),
	}
	if want.Cores > 4096 || want.Memory > 1<<16 {
		return ""
	}
	want.Name = cmp.Or(label, fmt.Sprintf("machine-%d-%s", want.Cores, strings.ReplaceAll(want.Gigabytes(), ".", "-")))
	for _, have := range s.Own {
		alike := have.Cores == want.Cores && math.Abs(have.Memory-want.Memory) <= want.Memory/20
		if alike && (have.Name == want.Name || label == "") {
			return have.Name
		}
		if !alike && have.Name == want.Name {
			want.Name += fmt.Sprintf("-%d-%s", want.Cores, strings.ReplaceAll(want.Gigabytes(), ".", "-"))
		}
	}
	if !slices.ContainsFunc(s.Own, func(have Type) bool { return have.Name == want.Name }) {
		s.Own = append(s.Own, want)
	}
	return want.Name
}

// Gigabytes is the memory in digits.
func (s Type) Gigabytes() string { return strconv.FormatFloat(s.Memory, 'f', -1, 64) }

var notCloudName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// CloudName is a name as clouds have them: letters, digits, dashes.
func CloudName(name string) string {
	name = strings.Trim(notCloudName.ReplaceAllString(name, "-"), "-")
	return strings.Trim(name[:min(len(name), 50)], "-")
}

// Unlabelled are the domains of labels that a kubelet, a cloud or Karpenter sets, and the
// world sets itself.
var Unlabelled = regexp.MustCompile(`^((beta\.)?kubernetes\.io/(hostname|arch|os|instance-type)|node\.kubernetes\.io/instance-type|` +
	`beta\.kubernetes\.io/.*|failure-domain\.beta\.kubernetes\.io/.*|node-role\.kubernetes\.io/.*|.*karpenter\..*|` +
	`.*\.cluster\.x-k8s\.io/.*|cluster\.x-k8s\.io/.*|kwok.*)$`)

// Keys and values of labels, as the API server takes them.
var (
	LabelKey   = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	LabelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

const mostLabels = 20

// Labels are the labels that a user gave a node, as a table has them.
func Labels(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !Unlabelled.MatchString(key) && LabelKey.MatchString(key) && LabelValue.MatchString(labels[key]) && len(all) < mostLabels {
			all = append(all, key+"="+labels[key])
		}
	}
	return strings.Join(all, ",")
}

// passing are taints that come and go: of conditions, and of autoscalers at work.
var passing = regexp.MustCompile(`^(node\.kubernetes\.io/.*|node\.cloudprovider\.kubernetes\.io/.*|ToBeDeletedByClusterAutoscaler|` +
	`DeletionCandidateOfClusterAutoscaler|.*karpenter\..*|.*\.cluster\.x-k8s\.io/.*)$`)

// Taints are those that a node was given for good, as a table has them, and the others.
func Taints(taints []corev1.Taint) (lasting string, gone []string) {
	var all []string
	for _, t := range taints {
		switch text := t.ToString(); {
		case passing.MatchString(t.Key):
			gone = append(gone, text)
		case LabelKey.MatchString(t.Key) && LabelValue.MatchString(t.Value) &&
			slices.Contains([]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute},
				t.Effect) && len(all) < mostLabels:
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ","), gone
}

// measured are the resources that machines of a world have.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// Requests are what a pod asks for in all, and the resources that no world has.
func Requests(spec *corev1.PodSpec) (all corev1.ResourceList, none []string) {
	all = corev1.ResourceList{}
	for _, container := range spec.Containers {
		for name, quantity := range asked(container.Resources) {
			sum := all[name]
			sum.Add(quantity)
			all[name] = sum
		}
	}
	for _, container := range spec.InitContainers {
		for name, quantity := range asked(container.Resources) {
			if have := all[name]; have.Cmp(quantity) < 0 {
				all[name] = quantity
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(measured, name) {
			delete(all, name)
			none = append(none, string(name))
		}
	}
	return all, none
}

// asked are a container's Requests; what has only a limit Requests that.
func asked(r corev1.ResourceRequirements) corev1.ResourceList {
	all := maps.Clone(r.Limits)
	if all == nil {
		all = corev1.ResourceList{}
	}
	maps.Copy(all, r.Requests)
	return all
}

// List is a list of resources as YAML has it.
func List(resources corev1.ResourceList) map[string]any {
	all := map[string]any{}
	for name, quantity := range resources {
		if name == corev1.ResourceCPU {
			all[string(name)] = resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalSI).String()
		} else {
			all[string(name)] = quantity.String()
		}
	}
	return all
}

// Plain is a value of Kubernetes' types as YAML has it.
func Plain(of any) (value any) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return nil
	}
	return value
}
