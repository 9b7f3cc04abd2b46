package workload

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/sim/node"
)

func TestTemplate(t *testing.T) {
	deployment, err := Deployment("shop", "web", 3, Template{
		CPU: "500m", Memory: "1Gi", Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
		Labels: map[string]string{"tier": "front"}, Annotations: map[string]string{"a": "b"},
		NodeSelector: map[string]string{"pool": "gpu"}, Tolerations: Untolerating(), Spread: []string{corev1.LabelTopologyZone},
		Grace: time.Minute, HostNetwork: true, StopAfter: 90 * time.Second, PriorityClass: "high",
	})
	if err != nil {
		t.Fatal(err)
	}
	pods := deployment.Spec.Template
	container := pods.Spec.Containers[0]
	for what, got := range map[string]bool{
		"name":          deployment.Namespace == "shop" && deployment.Name == "web" && *deployment.Spec.Replicas == 3,
		"selector":      deployment.Spec.Selector.MatchLabels["app"] == "web" && pods.Labels["app"] == "web" && pods.Labels["tier"] == "front",
		"cpu":           container.Resources.Requests.Cpu().String() == "500m",
		"memory":        container.Resources.Requests.Memory().String() == "1Gi",
		"gpu":           container.Resources.Requests.Name("nvidia.com/gpu", resource.DecimalSI).Value() == 1,
		"limits":        len(container.Resources.Limits) == 1 && container.Resources.Limits.Name("nvidia.com/gpu", resource.DecimalSI).Value() == 1,
		"node selector": pods.Spec.NodeSelector["pool"] == "gpu",
		"grace":         *pods.Spec.TerminationGracePeriodSeconds == 60,
		"host network":  pods.Spec.HostNetwork,
		"priority":      pods.Spec.PriorityClassName == "high",
		"spread": len(pods.Spec.TopologySpreadConstraints) == 1 && pods.Spec.TopologySpreadConstraints[0].TopologyKey == corev1.LabelTopologyZone &&
			pods.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels["app"] == "web",
		"annotations": len(pods.Annotations) == 2 && pods.Annotations["a"] == "b" && pods.Annotations[node.StopAfterAnnotation] == "1m30s",
	} {
		if !got {
			t.Errorf("%s: %+v", what, deployment)
		}
	}
}

func TestZeroTemplate(t *testing.T) {
	pod, err := Pod("default", "one", Template{})
	if err != nil {
		t.Fatal(err)
	}
	c := pod.Spec.Containers[0]
	if len(c.Resources.Requests)+len(c.Resources.Limits) > 0 || pod.Spec.TerminationGracePeriodSeconds != nil || pod.Annotations != nil ||
		pod.Spec.RestartPolicy != corev1.RestartPolicyAlways || c.Image == "" || pod.Labels["app"] != "one" {
		t.Errorf("%+v", pod)
	}
}

func TestRestartPolicies(t *testing.T) {
	once := Template{RunFor: time.Minute}
	pod, _ := Pod("default", "one", once)
	job, _ := Job("default", "batch", 5, once)
	daemon, _ := DaemonSet("default", "agent", Template{})
	if pod.Spec.RestartPolicy != corev1.RestartPolicyNever || pod.Annotations[node.RunForAnnotation] != "1m0s" {
		t.Errorf("pod: %+v", pod)
	}
	if job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever || *job.Spec.Completions != 5 || *job.Spec.Parallelism != 5 {
		t.Errorf("job: %+v", job)
	}
	if daemon.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways || daemon.Spec.Selector.MatchLabels["app"] != "agent" {
		t.Errorf("daemon set: %+v", daemon)
	}
	budget := Budget("default", "web", 0)
	if budget.Spec.MaxUnavailable.IntValue() != 0 || budget.Spec.Selector.MatchLabels["app"] != "web" {
		t.Errorf("budget: %+v", budget)
	}
}

func TestBadQuantity(t *testing.T) {
	for what, build := range map[string]func(Template) error{
		"building pod default/web":        func(x Template) error { _, err := Pod("default", "web", x); return err },
		"building deployment default/web": func(x Template) error { _, err := Deployment("default", "web", 1, x); return err },
		"building job default/web":        func(x Template) error { _, err := Job("default", "web", 1, x); return err },
		"building daemon set default/web": func(x Template) error { _, err := DaemonSet("default", "web", x); return err },
	} {
		err := build(Template{CPU: "lots"})
		if err == nil || !strings.HasPrefix(err.Error(), what+`: parsing cpu request "lots": `) {
			t.Errorf("got %v, want %s", err, what)
		}
	}
}

// TestUntolerating checks both halves of the trick: the API server's admission looks
// at key and effect only, and the toleration matches no such taint.
func TestUntolerating(t *testing.T) {
	tolerations := Untolerating()
	for i, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if tolerations[i].Key != key || tolerations[i].Effect != corev1.TaintEffectNoExecute {
			t.Errorf("admission adds its own besides %+v", tolerations[i])
		}
		taint := corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute}
		for _, toleration := range tolerations {
			if toleration.ToleratesTaint(&taint) {
				t.Errorf("%+v tolerates %+v", toleration, taint)
			}
		}
		limited := Tolerate(key, corev1.TaintEffectNoExecute, 30*time.Second)
		if !limited.ToleratesTaint(&taint) || *limited.TolerationSeconds != 30 {
			t.Errorf("%+v", limited)
		}
		if Tolerate(key, corev1.TaintEffectNoExecute, 0).TolerationSeconds != nil {
			t.Error("a toleration without a limit has one")
		}
	}
}
