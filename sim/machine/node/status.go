package node

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/semver"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// What a kubelet says about itself: pkg/kubelet/nodestatus/setters.go and, for what
// is wrong, pkg/kubelet/runtime.go and pkg/kubelet/pleg/generic.go. The text after
// "message:" is the container runtime's, here containerd 2's.
var (
	errNetworkDown = errors.New("container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
		"message:Network plugin returns error: cni plugin not initialized")
	errRuntimeDown = errors.New("container runtime is down")
	errStarting    = errors.New("PLEG is not healthy: pleg has yet to be successful")
)

// declaredSince is the first release whose kubelets say what they can do, unless they are configured to earlier.
const declaredSince = "v1.36.0"

// declared is what a kubelet of v1.36 with its own defaults says that it can do
// (k8s.io/component-helpers/nodedeclaredfeatures/features). An older kube-apiserver does not hear it.
var declared = []string{
	"ExtendWebSocketsToKubelet",
	"InPlacePodLevelResourcesVerticalScaling",
	"InPlacePodVerticalScalingInitContainers",
	"RestartAllContainersOnContainerExits",
}

// condition is the part of a Node condition that a kubelet decides.
type condition struct {
	kind            corev1.NodeConditionType
	status          corev1.ConditionStatus
	reason, message string
}

// pressures are the three conditions that never trouble a simulated node.
var pressures = []condition{
	{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
	{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
	{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
}

// ready is what the kubelet has to say about its readiness now.
func (k *kubelet) ready(now time.Time) condition {
	runtime, network := k.runtimeError(now), k.networkError(now)
	if err := utilerrors.NewAggregate([]error{runtime, network}); err != nil {
		return condition{corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", err.Error()}
	}
	return condition{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"}
}

// readyCondition returns the Ready condition as the API server has it; the zero
// value when there is none.
func readyCondition(node *corev1.Node) corev1.NodeCondition {
	c, _ := find(node.Status.Conditions, corev1.NodeReady)
	return c
}

func find(conditions []corev1.NodeCondition, kind corev1.NodeConditionType) (corev1.NodeCondition, bool) {
	for _, c := range conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return corev1.NodeCondition{}, false
}

// disputed reports whether the API server has other conditions than were reported.
// Times do not count (kubelet_node_status.go, nodeStatusHasChanged).
func (k *kubelet) disputed() bool {
	for _, want := range append(pressures[:len(pressures):len(pressures)], k.status.said) {
		got, _ := find(k.node.Status.Conditions, want.kind)
		if got.Status != want.status || got.Reason != want.reason || got.Message != want.message {
			return true
		}
	}
	return false
}

// conditions are the four to be written on top of old, Ready last as in a real
// Node. lastHeartbeatTime is now in all of them; lastTransitionTime only where the
// status differs from the API server's.
func conditions(now time.Time, old []corev1.NodeCondition, ready condition) []corev1.NodeCondition {
	var written []corev1.NodeCondition
	for _, want := range append(pressures[:len(pressures):len(pressures)], ready) {
		c := corev1.NodeCondition{
			Type: want.kind, Status: want.status, Reason: want.reason, Message: want.message,
			LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
		}
		if before, found := find(old, want.kind); found && before.Status == want.status {
			c.LastTransitionTime = before.LastTransitionTime
		}
		written = append(written, c)
	}
	return written
}

// statusPatch is a strategic merge patch of the status subresource, which lets the
// labels through as well. Nil fields stay as they are on the server.
type statusPatch struct {
	Metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	} `json:"metadata,omitzero"`
	Status struct {
		Conditions       []corev1.NodeCondition      `json:"conditions"`
		NodeInfo         *corev1.NodeSystemInfo      `json:"nodeInfo,omitempty"`
		DaemonEndpoints  *corev1.NodeDaemonEndpoints `json:"daemonEndpoints,omitempty"`
		Addresses        []corev1.NodeAddress        `json:"addresses,omitempty"`
		Capacity         corev1.ResourceList         `json:"capacity,omitempty"`
		Allocatable      corev1.ResourceList         `json:"allocatable,omitempty"`
		DeclaredFeatures []string                    `json:"declaredFeatures,omitempty"`
	} `json:"status"`
}

// statusPatch builds the report. What others have set, such as the addresses of a
// cloud controller or the capacity of Karpenter's kwok provider, is left alone.
func (k *kubelet) statusPatch(now time.Time, ready condition) statusPatch {
	var p statusPatch
	have, want := k.node, k.object(now, ready)
	p.Status.Conditions = conditions(now, have.Status.Conditions, ready)
	for label, value := range k.labels() {
		if _, found := have.Labels[label]; !found {
			if p.Metadata.Labels == nil {
				p.Metadata.Labels = map[string]string{}
			}
			p.Metadata.Labels[label] = value
		}
	}
	if have.Status.NodeInfo.KubeletVersion == "" {
		p.Status.NodeInfo, p.Status.DaemonEndpoints = &want.Status.NodeInfo, &want.Status.DaemonEndpoints
	}
	if len(have.Status.Addresses) == 0 {
		p.Status.Addresses = want.Status.Addresses
	}
	if len(have.Status.Capacity) == 0 {
		p.Status.Capacity, p.Status.Allocatable = want.Status.Capacity, want.Status.Allocatable
	} else {
		p.Status.Capacity = k.devices(now, k.spec.Capacity, have.Status.Capacity)
		p.Status.Allocatable = k.devices(now, k.allocatable(), have.Status.Allocatable)
	}
	if len(have.Status.DeclaredFeatures) == 0 {
		p.Status.DeclaredFeatures = want.Status.DeclaredFeatures
	}
	return p
}

// object is the Node that a kubelet creates, complete with its status.
func (k *kubelet) object(now time.Time, ready condition) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.spec.Name, Labels: k.labels(), Annotations: map[string]string{
			// As with every kubelet that lets kube-controller-manager attach volumes.
			"volumes.kubernetes.io/controller-managed-attach-detach": "true",
		}},
		Spec: corev1.NodeSpec{ProviderID: k.spec.ProviderID, Taints: k.spec.Taints},
		Status: corev1.NodeStatus{
			Capacity:         k.spec.Capacity,
			Allocatable:      k.spec.Allocatable,
			Addresses:        k.spec.Addresses,
			Conditions:       conditions(now, nil, ready),
			NodeInfo:         k.nodeInfo(),
			DeclaredFeatures: k.declared(),
			DaemonEndpoints:  corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
		},
	}
	for _, e := range forEachFault[asNode](k) {
		e.object(node)
	}
	for name, value := range k.spec.Labels {
		node.Labels[name] = value
	}
	for name, value := range k.spec.Annotations {
		node.Annotations[name] = value
	}
	if node.Status.Capacity == nil {
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("4"),
			corev1.ResourceMemory:           resource.MustParse("16Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
			corev1.ResourcePods:             resource.MustParse("110"),
		}
	}
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = node.Status.Capacity
	}
	if node.Status.Addresses == nil {
		node.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: k.address()},
			{Type: corev1.NodeHostName, Address: k.spec.Name},
		}
	}
	return node
}

// labels are those that every kubelet gives its Node.
func (k *kubelet) labels() map[string]string {
	return map[string]string{
		corev1.LabelHostname:      k.spec.Name,
		corev1.LabelOSStable:      "linux",
		corev1.LabelArchStable:    k.architecture(),
		"beta.kubernetes.io/os":   "linux",
		"beta.kubernetes.io/arch": k.architecture(),
	}
}

func (k *kubelet) architecture() string {
	return cmp.Or(k.spec.Info.Architecture, k.spec.Labels[corev1.LabelArchStable], "amd64")
}

// release is that of Kubernetes which the kubelet is of.
func (k *kubelet) release() string {
	return cmp.Or(k.spec.Info.KubeletVersion, k.spec.Profile.Kubelet, k.fleet.cfg.KubeletVersion)
}

func (k *kubelet) declared() []string {
	// mutant: an older kubelet says that it can do what newer ones can
	if semver.Compare(k.release(), declaredSince) < 0 {
		return nil
	}
	return declared
}

func (k *kubelet) nodeInfo() corev1.NodeSystemInfo {
	given := k.spec.Info
	return corev1.NodeSystemInfo{
		MachineID:               cmp.Or(given.MachineID, fmt.Sprintf("%x", digest(k.spec.Name, "machine")[:16])),
		SystemUUID:              cmp.Or(given.SystemUUID, uuid(digest(k.spec.Name, "system"))),
		BootID:                  cmp.Or(given.BootID, uuid(digest(k.spec.Name, "boot"))),
		KernelVersion:           cmp.Or(given.KernelVersion, "6.8.0-generic"),
		OSImage:                 cmp.Or(given.OSImage, "Ubuntu 24.04 LTS"),
		ContainerRuntimeVersion: cmp.Or(given.ContainerRuntimeVersion, "containerd://2.1.4"),
		KubeletVersion:          k.release(),
		OperatingSystem:         cmp.Or(given.OperatingSystem, "linux"),
		Architecture:            k.architecture(),
	}
}

// digest gives identifiers that look random and are the same in every run.
func digest(parts ...string) []byte {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return h.Sum(nil)
}

func uuid(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
