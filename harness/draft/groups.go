package draft

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/draft/shapes"
)

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

// used is what the pods on a node ask for, no more than it has.
func (c *Cluster) used(n *corev1.Node) (all corev1.ResourceList, pods int) {
	all = corev1.ResourceList{}
	for _, p := range c.pods {
		if p.node != n.Name || p.done || p.pending || p.spec == nil {
			continue
		}
		pods++
		has, _ := shapes.Requests(p.spec)
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
