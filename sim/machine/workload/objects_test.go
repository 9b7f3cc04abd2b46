package workload

import (
	"strings"
	"testing"
)

func TestTemplate(t *testing.T) {
	deployment, err := Deployment("shop", "web", 3, Template{CPU: "500m"})
	if err != nil {
		t.Fatal(err)
	}
	pods := deployment.Spec.Template
	for what, got := range map[string]bool{
		"name":     deployment.Namespace == "shop" && deployment.Name == "web" && *deployment.Spec.Replicas == 3,
		"selector": deployment.Spec.Selector.MatchLabels["app"] == "web" && pods.Labels["app"] == "web",
		"cpu":      pods.Spec.Containers[0].Resources.Requests.Cpu().String() == "500m",
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
		c.Image == "" || pod.Labels["app"] != "one" {
		t.Errorf("%+v", pod)
	}
}

func TestBadQuantity(t *testing.T) {
	for what, build := range map[string]func(Template) error{
		"building pod default/web":        func(x Template) error { _, err := Pod("default", "web", x); return err },
		"building deployment default/web": func(x Template) error { _, err := Deployment("default", "web", 1, x); return err },
	} {
		err := build(Template{CPU: "lots"})
		if err == nil || !strings.HasPrefix(err.Error(), what+`: parsing cpu request "lots": `) {
			t.Errorf("got %v, want %s", err, what)
		}
	}
}
