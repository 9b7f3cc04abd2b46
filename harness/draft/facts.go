package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/clusterautoscaler"
)

// addObject takes what matters of an object. Kind and version are those that its list says,
// for what has none of its own. Kinds that no draft needs are not looked into.
func (c *Cluster) addObject(raw []byte, kind, version string) error {
	var h struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return err
	}
	if h.Kind == "" {
		h.Kind, h.APIVersion = kind, version
	}
	group, _, _ := strings.Cut(h.APIVersion, "/")
	if h.Kind == "Event" && strings.HasPrefix(group, "audit.k8s.io") {
		return c.audit(raw)
	}
	if err := c.object(raw, group, h.Kind); err != nil {
		return fmt.Errorf("%s: %w", h.Kind, err)
	}
	return nil
}

// object takes what matters of an object of a kind.
func (c *Cluster) object(raw []byte, group, kind string) error {
	switch kind {
	case "Node":
		return decode(raw, c.node)
	case "Pod":
		return decode(raw, c.podObject)
	case "Event":
		return decode(raw, c.event)
	case "NodePool":
		if group == "karpenter.sh" {
			return c.pool(raw)
		}
	case "NodeClaim":
		if group == "karpenter.sh" {
			c.runs(Karpenter, "")
		}
	case "PriorityClass":
		return decode(raw, func(p *schedulingv1.PriorityClass) {
			c.priorities[p.Name] = p.Value
			c.readAny++
		})
	case "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet":
		return decode(raw, func(d *struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}) {
			c.programs(&d.Spec.Template.Spec)
		})
	case "MachineDeployment", "MachinePool":
		if strings.HasPrefix(group, "cluster.x-k8s.io") {
			return decode(raw, c.machines)
		}
	case "MachineSet":
		if strings.HasPrefix(group, "machine.openshift.io") {
			return decode(raw, c.machines)
		}
	case "Machine":
		if strings.HasPrefix(group, "machine.openshift.io") {
			return decode(raw, c.machine)
		}
	case "ConfigMap":
		return decode(raw, func(m *corev1.ConfigMap) {
			if m.Name == "cluster-autoscaler-status" {
				c.status(m.Data["status"])
			}
		})
	}
	return nil
}

// decode reads an object of a type.
func decode[T any](raw []byte, take func(*T)) error {
	var o T
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	take(&o)
	return nil
}

// node keeps the first that is heard of a node with its shape: later ones have what went
// wrong, and events have its name only.
func (c *Cluster) node(n *corev1.Node) {
	old := c.nodes[n.Name]
	switch {
	case n.Name == "":
		return
	case old == nil && !c.hasRoom():
		return
	case old == nil || old.Status.Capacity.Cpu().IsZero() && len(n.Status.Capacity) > 0:
		c.nodes[n.Name] = n
	}
	c.readAny++
	if byKarpenter(n) {
		c.runs(Karpenter, "")
	}
	for label, provider := range map[string]string{"eks.amazonaws.com/nodegroup": "aws", "cloud.google.com/gke-nodepool": "gce",
		"kubernetes.azure.com/agentpool": "azure"} {
		if n.Labels[label] != "" && c.Provider == "" && c.Autoscaler != Karpenter {
			c.Provider = provider
		}
	}
}

func (c *Cluster) podObject(o *corev1.Pod) {
	if o.Name == "" {
		return
	}
	c.readAny++
	c.programs(&o.Spec)
	p := c.pod(o.Namespace, o.Name)
	p.spec, p.labels = &o.Spec, o.Labels
	if p.node == "" {
		p.node = o.Spec.NodeName
	}
	p.done = o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed
	if o.Status.Phase == corev1.PodPending && o.Spec.NodeName == "" {
		why := ""
		at := o.CreationTimestamp.Time
		for _, cond := range o.Status.Conditions {
			if cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionFalse {
				why = cond.Message
				if cond.Reason == corev1.PodReasonSchedulingGated {
					return
				}
			}
		}
		if len(o.Status.Conditions) > 0 { // one that was just created is not waiting yet
			p.markUnschedulable(at, why)
		}
	}
}

// image is the program and the release that an image is of.
var image = regexp.MustCompile(`(?:^|/)(cluster-autoscaler|karpenter)[^/:@]*(?:/controller)?(?::v?([0-9]+\.[0-9]+\.[0-9]+))?`)

// programs finds the autoscaler among a pod's containers, and its flags. Values of its
// variables are not looked at: they may be secrets.
func (c *Cluster) programs(spec *corev1.PodSpec) {
	for _, container := range spec.Containers {
		m := image.FindStringSubmatch(container.Image)
		if m == nil { // of a name that says nothing, such as OpenShift's
			if name := path.Base(slices.Concat(container.Command, container.Args, []string{""})[0]); name != ClusterAutoscaler {
				continue
			}
			m = []string{"", ClusterAutoscaler, ""}
		}
		c.runs(m[1], m[2])
		if m[1] != ClusterAutoscaler || len(c.flags) > 0 {
			continue
		}
		args := append(slices.Clone(container.Command), container.Args...)
		for i := 0; i < len(args); i++ {
			name, value, given := strings.Cut(args[i], "=")
			if !strings.HasPrefix(name, "-") {
				continue
			}
			if !given {
				value = "true"
				if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
					i++
					value = args[i]
				}
			}
			c.flagged(name, value)
		}
	}
}

func (c *Cluster) pool(raw []byte) error {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &o.Object); err != nil {
		return err
	}
	c.runs(Karpenter, "")
	c.readAny++
	if c.pools[o.GetName()] == nil && o.GetName() != "" && c.hasRoom() {
		c.pools[o.GetName()] = o
	}
	return nil
}

// machines takes a group of Cluster API's.
func (c *Cluster) machines(o *struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"`
	} `json:"spec"`
}) {
	if o.Metadata.Name == "" {
		return
	}
	c.readAny++
	g := c.group(o.Metadata.Name)
	annotation := func(name string) string {
		const suffix = ".io/cluster-api-autoscaler-node-group-"
		return cmp.Or(o.Metadata.Annotations["cluster.x-k8s"+suffix+name], o.Metadata.Annotations["machine.openshift"+suffix+name])
	}
	from, errMin := strconv.Atoi(annotation("min-size"))
	to, errMax := strconv.Atoi(annotation("max-size"))
	if errMin == nil && errMax == nil {
		g.bounds(from, to)
		c.runs(ClusterAutoscaler, "")
		if c.Provider == "" {
			c.Provider = "clusterapi"
		}
	}
	if o.Spec.Replicas != nil {
		g.setFirstSize(*o.Spec.Replicas)
	}
}

// machine says which group a node of OpenShift is of.
func (c *Cluster) machine(o *struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		NodeRef struct {
			Name string `json:"name"`
		} `json:"nodeRef"`
	} `json:"status"`
}) {
	if set := o.Metadata.Labels["machine.openshift.io/cluster-api-machineset"]; set != "" && o.Status.NodeRef.Name != "" && c.hasRoom() {
		c.readAny++
		c.groupOf[o.Status.NodeRef.Name] = set
	}
}

// nodesFlag reads --nodes, of which a log prints all in one: min:max:name, or on Hetzner
// min:max:type:location:name.
func (c *Cluster) nodesFlag(value string) {
	for one := range strings.FieldsFuncSeq(strings.Trim(value, "[]"), func(r rune) bool { return r == ' ' || r == ',' }) {
		parts := strings.SplitN(one, ":", 3)
		if len(parts) != 3 {
			continue
		}
		name, kind, zone := parts[2], "", ""
		if h, err := clusterautoscaler.ParseGroup(one); err == nil {
			name, kind, zone = h.Name, h.Type, h.Location
		}
		g := c.groupCalled(name)
		g.kind, g.zone = kind, zone
		g.bounds(number(parts[0]), number(parts[1]))
	}
}

// groupCalled is the group that the autoscaler calls so: by its name, MachineDeployment/NAMESPACE/NAME
// as Cluster API's groups are, or the address of a managed instance group.
func (c *Cluster) groupCalled(name string) *group {
	kind, rest, _ := strings.Cut(name, "/")
	if c.Provider == "" && strings.Contains(rest, "/") && slices.Contains(clusterAPIKinds, kind) {
		c.Provider = "clusterapi"
	}
	return c.group(path.Base(strings.TrimRight(name, "/")))
}

// clusterAPIKinds are what its groups are made of.
var clusterAPIKinds = []string{"MachineDeployment", "MachinePool", "MachineSet"}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// event takes one of the API's events. Both forms of them have these fields.
func (c *Cluster) event(e *struct {
	Metadata                                struct{ CreationTimestamp string }
	InvolvedObject, Regarding               corev1.ObjectReference
	Reason, Message, Note                   string
	Source                                  corev1.EventSource
	ReportingComponent, ReportingController string
	FirstTimestamp, EventTime               string
}) {
	about := e.InvolvedObject
	if about.Kind == "" {
		about = e.Regarding
	}
	var at time.Time
	for _, text := range []string{e.FirstTimestamp, e.EventTime, e.Metadata.CreationTimestamp} {
		if at.IsZero() {
			at, _ = time.Parse(time.RFC3339, text) // unknown, then
		}
	}
	if about.Kind != "" {
		c.recordHappening(happening{
			kind: about.Kind, namespace: about.Namespace, name: about.Name, at: at, reason: e.Reason, message: e.Message + e.Note,
			by: e.Source.Component + " " + e.ReportingComponent + " " + e.ReportingController,
		})
	}
}
