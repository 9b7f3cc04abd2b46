package node

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

func hostNetwork(p *corev1.Pod) { p.Spec.HostNetwork = true }

func runFor(d string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations[RunForAnnotation] = d
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
}

func stopAfter(d string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[StopAfterAnnotation] = d }
}

func conditionOf(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestPodRuns(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{PodStartDelay: 3 * time.Second}})
		w.at(10 * time.Second)
		w.bind("one", "a", func(p *corev1.Pod) {
			p.Generation = 4
			p.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:1"},
				{Name: "sidecar", Image: "sidecar:1", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		})
		w.bind("two", "a")
		w.bind("host", "a", hostNetwork)
		w.bind("elsewhere", "another")
		w.at(13*time.Second - 1)
		same(t, "phase before the start delay", w.pod("one").Status.Phase, corev1.PodPending)
		w.at(13 * time.Second)
		pod := w.pod("one")
		same(t, "phase", pod.Status.Phase, corev1.PodRunning)
		same(t, "host IP", pod.Status.HostIP, "10.0.0.1")
		same(t, "start time", pod.Status.StartTime.Sub(w.start), 13*time.Second)
		same(t, "observed generation", pod.Status.ObservedGeneration, 4)
		for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized,
			corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
			same(t, string(kind), conditionOf(pod, kind).Status, corev1.ConditionTrue)
			same(t, string(kind)+" transition", conditionOf(pod, kind).LastTransitionTime.Sub(w.start), 13*time.Second)
		}
		app := pod.Status.ContainerStatuses[0]
		if app.State.Running == nil || !app.Ready || !*app.Started || app.ContainerID == "" || app.Name != "app" {
			t.Errorf("container status: %+v", app)
		}
		setup, sidecar := pod.Status.InitContainerStatuses[0], pod.Status.InitContainerStatuses[1]
		if setup.State.Terminated == nil || setup.State.Terminated.ExitCode != 0 || sidecar.State.Running == nil {
			t.Errorf("init container statuses: %+v, %+v", setup, sidecar)
		}
		if one, two := pod.Status.PodIP, w.pod("two").Status.PodIP; one == two || one == "" || pod.Status.PodIPs[0].IP != one {
			t.Errorf("pod IPs: %q and %q", one, two)
		}
		same(t, "IP on the host network", w.pod("host").Status.PodIP, "10.0.0.1")
		sameTimes(t, "running events", w.when("running", "one"), 13*time.Second)
		sameTimes(t, "writes for one pod", w.written("patch", "pods", "status", "one"), 13*time.Second)
		sameTimes(t, "writes for a foreign pod", w.written("patch", "pods", "status", "elsewhere"))
		same(t, "stats", w.fleet.Stats(), Stats{Nodes: 1, Registered: 1, Ready: 1, Pods: 3, Running: 3})
	})
}

// A pod that is resized while it runs has what it asks for at once, as its status says.
func TestPodIsResized(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(10 * time.Second)
		w.bind("one", "a", func(p *corev1.Pod) {
			p.Generation = 1
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
		})
		cpu := func() string {
			of := w.pod("one").Status.ContainerStatuses[0]
			return of.Resources.Requests.Cpu().String() + " of " + of.AllocatedResources.Cpu().String()
		}
		w.at(20 * time.Second)
		same(t, "requests", cpu(), "4 of 4")
		resized := w.pod("one")
		resized.Generation = 2
		resized.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		if _, err := w.client.CoreV1().Pods("default").Update(context.Background(), resized, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(21 * time.Second)
		same(t, "requests", cpu(), "1 of 1")
		same(t, "observed generation", w.pod("one").Status.ObservedGeneration, 2)
		w.at(time.Minute)
		if n := len(w.written("patch", "pods", "status", "one")); n != 2 {
			t.Errorf("%d writes, want 2", n)
		}
	})
}

func TestPodWaitsForTheNetwork(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.bind("early", "a") // bound before there is a kubelet
		w.boot(Spec{Name: "a", Profile: Profile{BootDelay: 10 * time.Second, ReadyDelay: 50 * time.Second, PodStartDelay: time.Second}})
		w.at(20 * time.Second)
		w.bind("host", "a", hostNetwork)
		w.at(21 * time.Second)
		same(t, "host network pod", w.pod("host").Status.Phase, corev1.PodRunning)
		pod := w.pod("early")
		same(t, "phase", pod.Status.Phase, corev1.PodPending)
		same(t, "container", pod.Status.ContainerStatuses[0].State.Waiting.Reason, "ContainerCreating")
		same(t, "reason", conditionOf(pod, corev1.PodReady).Reason, "ContainersNotReady")
		same(t, "message", conditionOf(pod, corev1.PodReady).Message, "containers with unready status: [app]")
		sameTimes(t, "waiting events", w.when("waiting", "early"), 10*time.Second)

		w.at(61 * time.Second)
		pod = w.pod("early")
		same(t, "phase with a network", pod.Status.Phase, corev1.PodRunning)
		same(t, "reason cleared", conditionOf(pod, corev1.PodReady).Reason, "")
		same(t, "start time kept", pod.Status.StartTime.Sub(w.start), 10*time.Second)
		sameTimes(t, "running events", w.when("running", "early"), 61*time.Second)
		events, err := w.client.CoreV1().Events("default").List(context.Background(), metav1.ListOptions{})
		if err != nil || len(events.Items) != 1 {
			t.Fatalf("Events: %v, %v", events.Items, err)
		}
		same(t, "Event", events.Items[0].Reason+": "+events.Items[0].Message, "NetworkNotReady: network is not ready: "+networkMessage)
	})
}

func TestPodEnds(t *testing.T) {
	const grace = 30 * time.Second
	for _, test := range []struct {
		name    string
		change  []func(*corev1.Pod)
		deleted time.Duration // zero: not at all
		node    Profile
		ends    time.Duration
		phase   corev1.PodPhase
		code    int32
		reason  string // of the Ready condition
	}{
		{name: "deleted", deleted: 40 * time.Second, node: Profile{PodStopDelay: 2 * time.Second},
			ends: 42 * time.Second, phase: corev1.PodSucceeded, reason: "PodCompleted"},
		{name: "killed at the end of its grace", deleted: 40 * time.Second, node: Profile{PodStopDelay: time.Hour},
			ends: 70 * time.Second, phase: corev1.PodFailed, code: 137, reason: "PodFailed"},
		{name: "its own stop delay", change: []func(*corev1.Pod){stopAfter("7s")}, deleted: 40 * time.Second,
			ends: 47 * time.Second, phase: corev1.PodSucceeded, reason: "PodCompleted"},
		{name: "a stop delay that is no duration", change: []func(*corev1.Pod){stopAfter("soon")}, deleted: 40 * time.Second,
			node: Profile{PodStopDelay: 4 * time.Second}, ends: 44 * time.Second, phase: corev1.PodSucceeded, reason: "PodCompleted"},
		{name: "deleted before it started", deleted: 40 * time.Second, node: Profile{PodStartDelay: time.Hour},
			ends: 40 * time.Second, phase: corev1.PodFailed, code: 137, reason: "PodFailed"},
		{name: "done by itself", change: []func(*corev1.Pod){runFor("90s")},
			ends: 90 * time.Second, phase: corev1.PodSucceeded, reason: "PodCompleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, 1, nil, func(w *world) {
				var atEnd *corev1.Pod
				var options metav1.DeleteOptions
				w.client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
					options = a.(clienttesting.DeleteActionImpl).DeleteOptions
					object, err := w.server.Get(a.GetResource(), "default", "p")
					if err == nil {
						atEnd = object.(*corev1.Pod)
					}
					return false, nil, nil
				})
				w.boot(Spec{Name: "a", Profile: test.node})
				w.bind("p", "a", test.change...)
				if test.deleted > 0 {
					w.at(test.deleted)
					w.markDeleted("p", grace)
				}
				w.at(10 * time.Minute)
				sameTimes(t, "terminated events", w.when("terminated", "p"), test.ends)
				if test.deleted > 0 {
					sameTimes(t, "deletions", w.written("delete", "pods", "", "p"), test.ends)
					same(t, "grace of the deletion", *options.GracePeriodSeconds, 0)
					same(t, "UID of the deletion", *options.Preconditions.UID, "uid-of-p")
				} else {
					sameTimes(t, "deletions", w.written("delete", "pods", "", "p"))
					atEnd = w.pod("p")
				}
				same(t, "phase", atEnd.Status.Phase, test.phase)
				same(t, "exit code", atEnd.Status.ContainerStatuses[0].State.Terminated.ExitCode, test.code)
				same(t, "Ready", conditionOf(atEnd, corev1.PodReady).Status, corev1.ConditionFalse)
				same(t, "reason", conditionOf(atEnd, corev1.PodReady).Reason, test.reason)
				same(t, "running", w.fleet.Stats().Running, 0)
			})
		})
	}
}

func TestSecondDeletionShortensTheGrace(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{PodStopDelay: 2 * time.Hour}})
		w.bind("p", "a")
		w.at(10 * time.Second)
		w.markDeleted("p", time.Hour)
		w.at(20 * time.Second)
		w.markDeleted("p", 30*time.Second)
		w.at(5 * time.Minute)
		sameTimes(t, "deletions", w.written("delete", "pods", "", "p"), 40*time.Second)
	})
}

func TestFinalizerKeepsThePodAndCostsOneDeletion(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		deletions := 0
		w.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			deletions++
			return true, nil, nil
		})
		w.boot(Spec{Name: "a"})
		w.bind("p", "a")
		w.at(10 * time.Second)
		w.markDeleted("p", 30*time.Second)
		w.at(20 * time.Second)
		w.markDeleted("p", 30*time.Second) // any change
		w.at(5 * time.Minute)
		same(t, "deletions", deletions, 1)
		same(t, "stats", w.fleet.Stats(), Stats{Nodes: 1, Registered: 1, Ready: 1, Pods: 1})
	})
}

func TestReadyConditionIsRepaired(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.bind("p", "a")
		w.at(60 * time.Second)
		pod := w.pod("p")
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status = corev1.ConditionFalse // as kube-controller-manager does for a NotReady Node
			}
		}
		if _, err := w.client.CoreV1().Pods("default").UpdateStatus(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(5 * time.Minute)
		sameTimes(t, "status writes", w.written("patch", "pods", "status", "p"), 0, 70*time.Second)
		same(t, "Ready", conditionOf(w.pod("p"), corev1.PodReady).Status, corev1.ConditionTrue)
		same(t, "start time", w.pod("p").Status.ContainerStatuses[0].State.Running.StartedAt.Sub(w.start), 0)
		sameTimes(t, "running events", w.when("running", "p"), 0)
	})
}

// A pod with a readiness gate is Ready while the condition is True that the gate names.
func TestReadinessGates(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.bind("p", "a", func(p *corev1.Pod) {
			p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/in-service"}}
		})
		ready := func(status corev1.ConditionStatus, reason string) {
			t.Helper()
			same(t, "Ready", conditionOf(w.pod("p"), corev1.PodReady).Status, status)
			same(t, "reason", conditionOf(w.pod("p"), corev1.PodReady).Reason, reason)
			same(t, "ContainersReady", conditionOf(w.pod("p"), corev1.ContainersReady).Status, corev1.ConditionTrue)
		}
		set := func(status corev1.ConditionStatus) {
			t.Helper()
			pod := w.pod("p")
			pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == "example.com/in-service"
			}), corev1.PodCondition{Type: "example.com/in-service", Status: status})
			if _, err := w.client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		w.at(60 * time.Second)
		ready(corev1.ConditionFalse, "ReadinessGatesNotReady")
		set(corev1.ConditionTrue)
		w.at(61 * time.Second)
		ready(corev1.ConditionTrue, "")
		set(corev1.ConditionFalse)
		w.at(62 * time.Second)
		ready(corev1.ConditionFalse, "ReadinessGatesNotReady")
		same(t, "message", conditionOf(w.pod("p"), corev1.PodReady).Message,
			`the status of pod readiness gate "example.com/in-service" is not "True", but False`)
		w.at(10 * time.Minute)
		sameTimes(t, "status writes", w.written("patch", "pods", "status", "p"), 0, 60*time.Second, 61*time.Second)
	})
}

// TestStatusOfAnotherPod replaces the pod while the report about it is on its way.
func TestStatusOfAnotherPod(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		replaced := false
		w.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if replaced {
				return false, nil, nil
			}
			replaced = true
			object, err := w.server.Get(a.GetResource(), "default", "p")
			if err != nil {
				return true, nil, err
			}
			next := object.(*corev1.Pod).DeepCopy()
			next.UID = "another"
			if err := w.server.Delete(a.GetResource(), "default", "p"); err != nil {
				return true, nil, err
			}
			return false, nil, w.server.Create(a.GetResource(), next, "default")
		})
		w.boot(Spec{Name: "a", Profile: Profile{PodStartDelay: 5 * time.Second}})
		w.bind("p", "a")
		w.at(time.Minute)
		sameTimes(t, "running events", w.when("running", "p"), 10*time.Second)
		same(t, "UID", w.pod("p").UID, "another")
		same(t, "failures", w.fleet.Stats().Failures, 0)
	})
}
