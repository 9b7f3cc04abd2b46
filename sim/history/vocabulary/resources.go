package vocabulary

import (
	"slices"

	"nodestorm/sim/history"
)

// Resource is a kind of things that events are about, or that pages make of events.
// Kubernetes has more: those of which nothing is to be said but their name are in no list.
type Resource struct {
	// Name is the resource in an event, Word what people call one of it.
	Name string `json:"name"`
	Word string `json:"word,omitempty"`
	// Group is the heading of its rows on a page, of which each shows a life; Calls that
	// of the rows of those who call a cloud for it. Most have neither.
	Group string `json:"group,omitempty"`
	Calls string `json:"calls,omitempty"`
	// Stage counts the way from a pod to its Node; 0 is beside the way.
	Stage int `json:"stage,omitempty"`
	// Decided says that to create or delete one is an autoscaler's decision, Sized that
	// how many machines there shall be is a number of it, and Detailed that the bodies of
	// kube-apiserver's calls become details.
	Decided  bool `json:"-"`
	Sized    bool `json:"-"`
	Detailed bool `json:"-"`
	// Cloud says that a cloud keeps them: kube-apiserver knows none.
	Cloud bool `json:"-"`
	// Page says that no event is about one: pages make them.
	Page bool `json:"-"`
}

// Names of resources that code does more with than the table says.
const (
	Nodes        = "nodes"
	Pods         = "pods"
	NodeClaims   = "nodeclaims"
	NodePools    = "nodepools"
	Machines     = "machines"
	Instances    = "instances"
	Servers      = "servers" // instances, as clouds call them whose API says so
	NodeGroups   = "nodegroups"
	Reservations = "reservations"
	ScaleUps     = "scaleups" // those that an autoscaler's log reports

	VPAs           = "verticalpodautoscalers"
	VPACheckpoints = "verticalpodautoscalercheckpoints"

	ProvisioningRequests = "provisioningrequests"
	Workloads            = "workloads" // Kueue's, one of each Job
)

// resources are in the order of their rows on a page.
var resources = []Resource{
	{Name: NodeClaims, Word: "NodeClaim", Group: "NodeClaims", Stage: 2, Decided: true, Detailed: true},
	{Name: ScaleUps, Word: "scale-up", Stage: 2, Page: true},
	{Name: Machines, Word: "Machine", Group: "Machines", Stage: 3, Decided: true},
	{Name: Servers, Word: "server", Calls: "Cloud calls", Stage: 4, Decided: true, Cloud: true},
	{Name: Instances, Word: "instance", Group: "Instances", Stage: 5, Cloud: true},
	{Name: Nodes, Word: "Node", Group: "Nodes", Stage: 6, Decided: true, Detailed: true},
	{Name: Pods, Word: "Pod", Group: "Pods", Stage: 1, Detailed: true},
	{Name: NodePools, Word: "NodePool", Detailed: true},
	{Name: VPAs, Word: "VerticalPodAutoscaler", Detailed: true}, {Name: VPACheckpoints, Detailed: true},
	{Name: ProvisioningRequests, Word: "ProvisioningRequest", Detailed: true}, {Name: Workloads, Word: "Workload", Detailed: true},
	{Name: "machinedeployments", Word: "MachineDeployment", Sized: true},
	{Name: "machinepools", Word: "MachinePool", Sized: true},
	{Name: NodeGroups, Word: "node group", Sized: true, Cloud: true},
	{Name: Reservations, Word: "capacity reservation", Cloud: true},
	{Name: history.Programs, Word: "program"}, {Name: history.Metrics, Word: "metric"},
	{Name: "hosts", Word: "host"}, // that a program tried to reach
	{Name: "manifests"},           // that an installer applies: files, whose names say so
	{Name: "certificatesigningrequests", Detailed: true},
	{Name: "events", Detailed: true},
	{Name: "bindings", Detailed: true},
}

// Resources are all that there are, in the order of their rows on a page.
func Resources() []Resource { return slices.Clone(resources) }

var named = func() map[string]Resource {
	m := map[string]Resource{}
	for _, r := range resources {
		m[r.Name] = r
	}
	return m
}()

// ResourceNamed is what is known of a resource, nothing but its name if it is in no list.
func ResourceNamed(name string) Resource {
	r := named[name]
	r.Name = name
	return r
}

// Kind is what people call one of a resource, empty if they have no word for it.
func Kind(resource string) string { return ResourceNamed(resource).Word }
