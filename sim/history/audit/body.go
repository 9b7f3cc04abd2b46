package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"nodestorm/sim/history"
)

// body is the part of any request or response object that becomes detail:
// nodes, NodeClaims, pods, bindings, delete options, certificate requests, scales. Fields that a kind does not
// have stay empty.
type body struct {
	Metadata struct {
		Name              string            `json:"name"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		OwnerReferences   []struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName      string         `json:"nodeName"`
		ProviderID    string         `json:"providerID"`
		Unschedulable bool           `json:"unschedulable"`
		Taints        []corev1.Taint `json:"taints"`
		StartupTaints []corev1.Taint `json:"startupTaints"`
		SignerName    string         `json:"signerName"`
		Username      string         `json:"username"`
		Replicas      *int64         `json:"replicas"`
		Resources     requests       `json:"resources"` // of a pod as a whole
		Containers    []struct {
			Resources requests `json:"resources"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		NodeName   string      `json:"nodeName"`
		ProviderID string      `json:"providerID"`
		Conditions []condition `json:"conditions"`
		// Allocatable is the Node's.
		Allocatable map[string]any `json:"allocatable"`
		// Certificate is base64 of PEM.
		Certificate string `json:"certificate"`
		// Recommendation is the VerticalPodAutoscaler's, and TotalSamplesCount what its checkpoint is of.
		Recommendation struct {
			ContainerRecommendations []struct {
				Target map[string]any `json:"target"`
			} `json:"containerRecommendations"`
		} `json:"recommendation"`
		TotalSamplesCount *int64 `json:"totalSamplesCount"`
	} `json:"status"`
	Target struct { // Binding
		Name string `json:"name"`
	} `json:"target"`
	GracePeriodSeconds *int64    `json:"gracePeriodSeconds"` // DeleteOptions
	InvolvedObject     reference `json:"involvedObject"`     // Event
	Regarding          reference `json:"regarding"`          // Event of events.k8s.io
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	Note               string    `json:"note"` // of events.k8s.io: the message
	Type               string    `json:"type"`

	present bool
}

type reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// read fills the body. JSON patches (lists), absent objects and a Status leave it empty.
func (b *body) read(object *runtime.Unknown) error {
	if object == nil || len(object.Raw) == 0 || object.Raw[0] == '[' {
		return nil
	}
	if err := json.Unmarshal(object.Raw, b); err != nil {
		var is struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(object.Raw, &is) == nil && is.Kind == "Status" { // whose status is a word
			*b = body{}
			return nil
		}
		return err
	}
	b.present = true
	return nil
}

// nameIn is the name of an object of any kind; empty if it has none that can be read.
func nameIn(object *runtime.Unknown) string {
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if object == nil || json.Unmarshal(object.Raw, &named) != nil {
		return ""
	}
	return named.Metadata.Name
}

// node returns the facts of a Node apart from its taints.
func (b *body) node() map[string]any {
	facts := map[string]any{}
	setFact(facts, "providerID", b.Spec.ProviderID)
	if b.Spec.Unschedulable {
		facts["unschedulable"] = true
	}
	for _, c := range b.Status.Conditions {
		if c.Type == string(corev1.NodeReady) {
			facts["ready"] = c.String()
		}
	}
	if devices := extended(b.Status.Allocatable); len(devices) > 0 {
		facts["extended"] = devices
	}
	// Karpenter marks what it knows of a node by labels with the value "true".
	for _, mark := range []string{"registered", "initialized"} {
		if b.Metadata.Labels["karpenter.sh/"+mark] == "true" {
			facts[mark] = true
		}
	}
	return facts
}

// extended are the resources of a list that device plugins serve, as in "example.com/device=2", in the order of their names.
func extended(of map[string]any) (devices []string) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if strings.Contains(name, "/") {
			devices = append(devices, fmt.Sprintf("%s=%v", name, of[name]))
		}
	}
	return devices
}

// nodeClaim returns the facts of a Karpenter NodeClaim (karpenter.sh/v1).
func (b *body) nodeClaim() map[string]any {
	facts := map[string]any{}
	setFact(facts, "nodePool", b.Metadata.Labels["karpenter.sh/nodepool"])
	setFact(facts, "nodeName", b.Status.NodeName)
	setFact(facts, "providerID", b.Status.ProviderID)
	if b.Metadata.DeletionTimestamp != "" {
		facts["deleting"] = true
	}
	if len(b.Spec.StartupTaints) > 0 {
		facts["startupTaints"] = taintStrings(b.Spec.StartupTaints)
	}
	maps.Copy(facts, b.conditions())
	return facts
}

// conditions returns those of an object, by their types.
func (b *body) conditions() map[string]any {
	if len(b.Status.Conditions) == 0 {
		return nil
	}
	of := map[string]any{}
	for _, c := range b.Status.Conditions {
		of[c.Type] = c.String()
	}
	return map[string]any{"conditions": of}
}

// replicas returns the facts of a Scale, or of a NodePool of a fixed size: how many there shall be.
func (b *body) replicas() map[string]any {
	if b.Spec.Replicas == nil {
		return nil
	}
	return map[string]any{"replicas": *b.Spec.Replicas}
}

// samples returns of how many samples the checkpoint of a VerticalPodAutoscaler is.
func (b *body) samples() map[string]any {
	if b.Status.TotalSamplesCount == nil {
		return nil
	}
	return map[string]any{"samples": *b.Status.TotalSamplesCount}
}

// pod returns the facts of a pod, a binding, an eviction or delete options.
func (b *body) pod() map[string]any {
	facts := map[string]any{}
	setFact(facts, "node", b.Spec.NodeName)
	setFact(facts, "node", b.Target.Name)
	if owners := b.Metadata.OwnerReferences; len(owners) > 0 {
		facts["owner"] = owners[0].Kind + "/" + owners[0].Name
	}
	if b.GracePeriodSeconds != nil {
		facts["gracePeriodSeconds"] = *b.GracePeriodSeconds
	}
	return facts
}

// requests are those of a container or of a pod as a whole.
type requests struct {
	Requests map[string]any `json:"requests"`
}

// resources returns what a pod requests, as a whole or else its containers, what a Node has for pods, or what a
// VerticalPodAutoscaler recommends for all containers of a pod: CPU in thousandths of a processor, and memory in bytes.
func (b *body) resources() map[string]any {
	facts := map[string]any{}
	for key, of := range map[string]struct {
		name  corev1.ResourceName
		scale func(resource.Quantity) int64
	}{
		"cpu": {corev1.ResourceCPU, func(q resource.Quantity) int64 { return q.MilliValue() }},
		// mutant: memory is not in the history
		"memory": {corev1.ResourceMemory, func(q resource.Quantity) int64 { return q.Value() }},
	} {
		all := quantity(b.Status.Allocatable, of.name, of.scale)
		whole := quantity(b.Spec.Resources.Requests, of.name, of.scale)
		for _, c := range b.Spec.Containers {
			// mutant: containers count beside what their pod requests as a whole
			if whole == 0 {
				all += quantity(c.Resources.Requests, of.name, of.scale)
			}
		}
		for _, c := range b.Status.Recommendation.ContainerRecommendations {
			all += quantity(c.Target, of.name, of.scale)
		}
		all += whole
		if all > 0 {
			facts[key] = all
		}
	}
	return facts
}

// quantity is how much a list of resources has of one; 0 if it has none that can be read.
func quantity(of map[string]any, name corev1.ResourceName, scale func(resource.Quantity) int64) int64 {
	said, is := of[string(name)]
	if !is {
		return 0
	}
	parsed, err := resource.ParseQuantity(fmt.Sprint(said))
	if err != nil {
		return 0
	}
	return max(scale(parsed), 0)
}

// machine returns of what kind the machine behind a Node or a NodeClaim is, and where it is, by labels.
func (b *body) machine() map[string]any {
	facts := map[string]any{}
	setFact(facts, "instanceType", b.Metadata.Labels[corev1.LabelInstanceTypeStable])
	// mutant: the zone of a machine is not in the history
	setFact(facts, "zone", b.Metadata.Labels[corev1.LabelTopologyZone])
	setFact(facts, "capacity", b.Metadata.Labels["karpenter.sh/capacity-type"])
	return facts
}

// certificate returns the facts of a CertificateSigningRequest.
func (b *body) certificate() map[string]any {
	facts := map[string]any{}
	setFact(facts, "signer", b.Spec.SignerName)
	setFact(facts, "user", history.Short(b.Spec.Username))
	if b.Status.Certificate != "" {
		facts["issued"] = true
	}
	return facts
}

// event returns the facts of an Event.
func (b *body) event() map[string]any {
	facts := map[string]any{}
	setFact(facts, "reason", b.Reason)
	setFact(facts, "message", history.Short(cmp.Or(b.Message, b.Note)))
	setFact(facts, "type", b.Type)
	// mutant: an Event of its own group is about nothing
	if of := cmp.Or(b.InvolvedObject, b.Regarding); of.Kind != "" {
		facts["about"] = of.Kind + "/" + of.Name
	}
	return facts
}

// unschedulable returns why the scheduler found no node for a pod. A patch has only what changes: that of a later try has no status.
func (b *body) unschedulable() map[string]any {
	facts := map[string]any{}
	for _, c := range b.Status.Conditions {
		// mutant: why a pod still finds no node is not read
		if c.Type == string(corev1.PodScheduled) && c.Status != string(corev1.ConditionTrue) {
			setFact(facts, "reason", c.Reason)
			setFact(facts, "message", history.Short(c.Message))
		}
	}
	return facts
}

// String is the status, with the reason where there is one that says more than
// the type: "True", "Unknown: StartupTaintsExist".
func (c condition) String() string {
	if c.Reason == "" || c.Reason == c.Type {
		return c.Status
	}
	return c.Status + ": " + c.Reason
}

// taintStrings writes taints as kubectl does: "key=value:Effect", "key:Effect".
func taintStrings(taints []corev1.Taint) []string {
	texts := make([]string, 0, len(taints))
	for _, t := range taints {
		texts = append(texts, t.ToString())
	}
	return texts
}

func setFact(facts map[string]any, key, value string) {
	if value != "" {
		facts[key] = value
	}
}
