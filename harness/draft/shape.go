package draft

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

// shapes are the instance types of a draft.
type shapes struct {
	cloud *fakecloud.Catalogue
	rows  []shape
}

type shape struct {
	name   string
	cores  int
	memory float64 // GB, as the cloud counts
}

// instanceType is the instance type of a node; empty if no source says what it has.
func (s *shapes) instanceType(n *corev1.Node) string {
	if n == nil || n.Status.Capacity.Cpu().IsZero() || n.Status.Capacity.Memory().IsZero() {
		return ""
	}
	label := cloudName(cmp.Or(n.Labels[corev1.LabelInstanceTypeStable], n.Labels[corev1.LabelInstanceType]))
	if label != "" && s.cloud.ServerType(label) != nil {
		return label
	}
	want := shape{
		cores:  max(1, int(math.Ceil(n.Status.Capacity.Cpu().AsApproximateFloat64()))),
		memory: math.Max(0.5, math.Round(n.Status.Capacity.Memory().AsApproximateFloat64()/(1<<30)/machines.Usable*4)/4),
	}
	if want.cores > 4096 || want.memory > 1<<16 {
		return ""
	}
	want.name = cmp.Or(label, fmt.Sprintf("machine-%d-%s", want.cores, strings.ReplaceAll(want.gigabytes(), ".", "-")))
	for _, have := range s.rows {
		alike := have.cores == want.cores && math.Abs(have.memory-want.memory) <= want.memory/20
		if alike && (have.name == want.name || label == "") {
			return have.name
		}
		if !alike && have.name == want.name {
			want.name += fmt.Sprintf("-%d-%s", want.cores, strings.ReplaceAll(want.gigabytes(), ".", "-"))
		}
	}
	if !slices.ContainsFunc(s.rows, func(have shape) bool { return have.name == want.name }) {
		s.rows = append(s.rows, want)
	}
	return want.name
}

func (s shape) gigabytes() string { return strconv.FormatFloat(s.memory, 'f', -1, 64) }

var notCloudName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// cloudName is a name as clouds have them: letters, digits, dashes.
func cloudName(name string) string {
	name = strings.Trim(notCloudName.ReplaceAllString(name, "-"), "-")
	return strings.Trim(name[:min(len(name), 50)], "-")
}

// unlabelled are the domains of labels that a kubelet, a cloud or Karpenter sets, and the
// world sets itself.
var unlabelled = regexp.MustCompile(`^((beta\.)?kubernetes\.io/(hostname|arch|os|instance-type)|node\.kubernetes\.io/instance-type|` +
	`beta\.kubernetes\.io/.*|failure-domain\.beta\.kubernetes\.io/.*|node-role\.kubernetes\.io/.*|.*karpenter\..*|` +
	`.*\.cluster\.x-k8s\.io/.*|cluster\.x-k8s\.io/.*|kwok.*)$`)

var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

const mostLabels = 20

// labelsOf are the labels that a user gave a node, as a table has them.
func labelsOf(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !unlabelled.MatchString(key) && labelKey.MatchString(key) && labelValue.MatchString(labels[key]) && len(all) < mostLabels {
			all = append(all, key+"="+labels[key])
		}
	}
	return strings.Join(all, ",")
}

// passing are taints that come and go: of conditions, and of autoscalers at work.
var passing = regexp.MustCompile(`^(node\.kubernetes\.io/.*|node\.cloudprovider\.kubernetes\.io/.*|ToBeDeletedByClusterAutoscaler|` +
	`DeletionCandidateOfClusterAutoscaler|.*karpenter\..*|.*\.cluster\.x-k8s\.io/.*)$`)

// taintsOf are those that a node was given for good, as a table has them, and the others.
func taintsOf(taints []corev1.Taint) (lasting string, gone []string) {
	var all []string
	for _, t := range taints {
		switch text := t.ToString(); {
		case passing.MatchString(t.Key):
			gone = append(gone, text)
		case labelKey.MatchString(t.Key) && labelValue.MatchString(t.Value) &&
			slices.Contains([]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute},
				t.Effect) && len(all) < mostLabels:
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ","), gone
}

// groupLabels say which group a node is of, on clouds that say so.
var groupLabels = []string{"hcloud/node-group", "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name",
	"cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool"}

// groupOfNode is the name of the group that a node is of, if anybody says: the autoscaler
// itself, a label, or its name.
func (c *Cluster) groupOfNode(n *corev1.Node) string {
	if name := c.groupOf[n.Name]; name != "" {
		return name
	}
	names := slices.Sorted(maps.Keys(c.groups))
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, label := range groupLabels {
		value := n.Labels[label]
		if value == "" {
			continue
		}
		for _, name := range names { // "eks-workers-0ac1…" is the group of the node group "workers"
			if name == value || strings.Contains("-"+name+"-", "-"+value+"-") {
				return name
			}
		}
		return value
	}
	for _, name := range names {
		if strings.HasPrefix(n.Name, name+"-") {
			return name
		}
	}
	return ""
}

// measured are the resources that machines of a world have.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// requests are what a pod asks for in all, and the resources that no world has.
func requests(spec *corev1.PodSpec) (all corev1.ResourceList, none []string) {
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

// asked are a container's requests; what has only a limit requests that.
func asked(r corev1.ResourceRequirements) corev1.ResourceList {
	all := maps.Clone(r.Limits)
	if all == nil {
		all = corev1.ResourceList{}
	}
	maps.Copy(all, r.Requests)
	return all
}

// used is what the pods on a node ask for, no more than it has.
func (c *Cluster) used(n *corev1.Node) (all corev1.ResourceList, pods int) {
	all = corev1.ResourceList{}
	for _, p := range c.pods {
		if p.node != n.Name || p.done || p.pending || p.spec == nil {
			continue
		}
		pods++
		has, _ := requests(p.spec)
		for name, quantity := range has {
			sum := all[name]
			sum.Add(quantity)
			all[name] = sum
		}
	}
	for name, quantity := range all {
		if have, known := n.Status.Allocatable[name]; known && quantity.Cmp(have) > 0 {
			all[name] = have
		}
		if quantity.IsZero() {
			delete(all, name)
		}
	}
	return all, pods
}

// list is a list of resources as YAML has it.
func list(resources corev1.ResourceList) map[string]any {
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

// plain is a value of Kubernetes' types as YAML has it.
func plain(of any) (value any) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return nil
	}
	return value
}
