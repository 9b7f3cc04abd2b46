package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// What kubelets write into pods: pkg/kubelet/kubelet_pods.go (generateAPIPodStatus,
// getPhase), pkg/kubelet/status/generate.go and, for pods that never started,
// status_manager.go (TerminatePod). Left out: restarts, and resizes that the node has no
// room for, which are taken up as others are.

// exit is how containers ended.
type exit corev1.ContainerStateTerminated

var (
	exitCompleted = exit{ExitCode: 0, Reason: "Completed"}
	exitKilled    = exit{ExitCode: 137, Reason: "Error"}
	// exitUnknown is that of containers which were never there.
	exitUnknown = exit{ExitCode: 137, Reason: "ContainerStatusUnknown",
		Message: "The container could not be located when the pod was terminated"}
)

// statusWaiting is that of a pod whose sandbox can not be made.
func (k *kubelet) statusWaiting(p *pod, now time.Time) podStatus {
	s := k.baseStatus(p, corev1.PodPending, now)
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	if len(p.object.Spec.InitContainers) > 0 {
		waiting.Waiting.Reason = "PodInitializing"
	}
	s.InitContainerStatuses = containerStatuses(p, p.object.Spec.InitContainers, waiting, false)
	s.ContainerStatuses = containerStatuses(p, p.object.Spec.Containers, waiting, false)
	unready := fmt.Sprintf("containers with unready status: %s", names(p.object.Spec.Containers))
	initialized := podCondition{corev1.PodInitialized, corev1.ConditionTrue, "", ""}
	if init := p.object.Spec.InitContainers; len(init) > 0 {
		initialized = podCondition{corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized",
			fmt.Sprintf("containers with incomplete status: %s", names(init))}
	}
	s.Conditions = podConditions(p, now,
		podCondition{corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", ""},
		initialized,
		podCondition{corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", unready},
		podCondition{corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", unready},
	)
	return s
}

// statusRunning is that of a pod with all containers up since startedAt.
func (k *kubelet) statusRunning(p *pod, ip string, startedAt, now time.Time) podStatus {
	s := k.baseStatus(p, corev1.PodRunning, now)
	s.PodIP, s.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(startedAt)}}
	s.ContainerStatuses = containerStatuses(p, p.object.Spec.Containers, running, true)
	for _, c := range p.object.Spec.InitContainers {
		state := running
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			state = exitCompleted.state(p, c, startedAt, startedAt)
		}
		s.InitContainerStatuses = append(s.InitContainerStatuses, containerStatuses(p, []corev1.Container{c}, state, true)...)
	}
	s.Conditions = podConditions(p, now,
		podCondition{corev1.PodReadyToStartContainers, corev1.ConditionTrue, "", ""},
		podCondition{corev1.PodInitialized, corev1.ConditionTrue, "", ""},
		readyByGates(p.object),
		podCondition{corev1.ContainersReady, corev1.ConditionTrue, "", ""},
	)
	return s
}

// readyByGates is the condition Ready of a pod whose containers are: False until all conditions are True that its
// readiness gates name, in the words of pkg/kubelet/status/generate.go.
func readyByGates(pod *corev1.Pod) podCondition {
	var unmet []string
	for _, gate := range pod.Spec.ReadinessGates {
		at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case at < 0:
			unmet = append(unmet, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case pod.Status.Conditions[at].Status != corev1.ConditionTrue:
			unmet = append(unmet, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType,
				pod.Status.Conditions[at].Status))
		}
	}
	// mutant: a pod is ready before its readiness gates
	if len(unmet) > 0 {
		return podCondition{corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", strings.Join(unmet, ", ")}
	}
	return podCondition{corev1.PodReady, corev1.ConditionTrue, "", ""}
}

// statusTerminated is that of a pod whose containers have all ended in one way.
func (k *kubelet) statusTerminated(p *pod, how exit, now time.Time) podStatus {
	phase, reason, initialized := corev1.PodSucceeded, "PodCompleted", "PodCompleted"
	if how.ExitCode != 0 {
		phase, reason, initialized = corev1.PodFailed, "PodFailed", ""
	}
	s := k.baseStatus(p, phase, now)
	for _, c := range p.object.Spec.Containers {
		state := how.state(p, c, p.startedAt, now)
		s.ContainerStatuses = append(s.ContainerStatuses, containerStatuses(p, []corev1.Container{c}, state, false)...)
	}
	s.Conditions = podConditions(p, now,
		podCondition{corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", ""},
		podCondition{corev1.PodInitialized, corev1.ConditionTrue, initialized, ""},
		podCondition{corev1.PodReady, corev1.ConditionFalse, reason, ""},
		podCondition{corev1.ContainersReady, corev1.ConditionFalse, reason, ""},
	)
	return s
}

func (k *kubelet) baseStatus(p *pod, phase corev1.PodPhase, now time.Time) podStatus {
	s := podStatus{PodStatus: corev1.PodStatus{
		ObservedGeneration: p.object.Generation,
		Phase:              phase,
		HostIP:             k.hostIP(),
		HostIPs:            []corev1.HostIP{{IP: k.hostIP()}},
		StartTime:          p.object.Status.StartTime,
	}}
	if s.StartTime == nil {
		s.StartTime = ptr.To(metav1.NewTime(now))
	}
	return s
}

// hostIP is the Node's InternalIP, which a cloud controller may have set.
func (k *kubelet) hostIP() string {
	if k.node != nil {
		for _, a := range k.node.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				return a.Address
			}
		}
	}
	return k.address()
}

// nextIP hands out pod addresses, each once: 10.128.0.0/9. The caller holds f.mu.
func (f *Fleet) nextIP() string {
	f.podIPs++
	n := f.podIPs
	return fmt.Sprintf("10.%d.%d.%d", 128|n>>16&0x7f, n>>8&0xff, n&0xff)
}

func containerID(p *pod, c corev1.Container) string {
	return fmt.Sprintf("containerd://%x", digest(string(p.object.UID), c.Name))
}

func containerStatuses(p *pod, containers []corev1.Container, state corev1.ContainerState, up bool) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, c := range containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: state, Ready: up, Started: ptr.To(up)}
		if state.Waiting == nil {
			s.ImageID = fmt.Sprintf("%s@sha256:%x", Repository(c.Image), digest(c.Image))
			s.ContainerID = containerID(p, c)
		}
		if state.Running != nil { // what cannot be resized has none, for the API server
			s.Resources, s.AllocatedResources = c.Resources.DeepCopy(), c.Resources.DeepCopy().Requests
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// Repository is an image's name without tag and digest. A colon before a slash is that
// of a registry's port.
func Repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

func (e exit) state(p *pod, c corev1.Container, startedAt, now time.Time) corev1.ContainerState {
	t := corev1.ContainerStateTerminated(e)
	if e != exitUnknown {
		t.StartedAt, t.FinishedAt, t.ContainerID = metav1.NewTime(startedAt), metav1.NewTime(now), containerID(p, c)
	}
	return corev1.ContainerState{Terminated: &t}
}

func names(containers []corev1.Container) string {
	var list []string
	for _, c := range containers {
		list = append(list, c.Name)
	}
	return "[" + strings.Join(list, " ") + "]"
}

// podStatus is a status as it is patched. Its conditions are merged by type with
// those of the API server, so an empty reason has to be written, as null, to clear
// the one before.
type podStatus struct {
	corev1.PodStatus
	Conditions []conditionPatch `json:"conditions"`
}

type conditionPatch struct {
	Type               corev1.PodConditionType `json:"type"`
	ObservedGeneration int64                   `json:"observedGeneration,omitempty"`
	Status             corev1.ConditionStatus  `json:"status"`
	LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
	Reason             *string                 `json:"reason"`
	Message            *string                 `json:"message"`
}

// podCondition is the part of a pod condition that a kubelet decides.
type podCondition struct {
	kind            corev1.PodConditionType
	status          corev1.ConditionStatus
	reason, message string
}

// podConditions adds the times, as for Nodes, and PodScheduled for a pod that was
// created with its node name.
func podConditions(p *pod, now time.Time, wanted ...podCondition) []conditionPatch {
	before := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, c := range p.object.Status.Conditions {
		before[c.Type] = c
	}
	if before[corev1.PodScheduled].Status != corev1.ConditionTrue {
		wanted = append(wanted, podCondition{corev1.PodScheduled, corev1.ConditionTrue, "", ""})
	}
	conditions := make([]conditionPatch, 0, len(wanted))
	for _, want := range wanted {
		c := conditionPatch{
			Type: want.kind, Status: want.status, ObservedGeneration: p.object.Generation,
			LastTransitionTime: metav1.NewTime(now), Reason: orNull(want.reason), Message: orNull(want.message),
		}
		if old := before[want.kind]; old.Status == want.status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		conditions = append(conditions, c)
	}
	return conditions
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
