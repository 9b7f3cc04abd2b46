// Package workload is pod demand: small builders for the pods that make a scheduler
// and an autoscaler work, and a client that creates them. How long pods run and how they
// stop is up to sim/machine/node.
//
// It does not judge: statements about what must not happen belong to sim/history/checker.
package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Template is what pods of one kind ask for. The zero value asks for nothing: such a
// pod fits wherever there is a place for one more.
type Template struct {
	// CPU is a request as in a manifest: "500m". Empty means none.
	CPU string
}

// image is only a name: it is never pulled.
const image = "registry.k8s.io/pause:3.10"

// pods is the template for pods of the named owner.
func (t Template) pods(name string) (corev1.PodTemplateSpec, error) {
	container := corev1.Container{Name: "app", Image: image}
	if t.CPU != "" {
		q, err := resource.ParseQuantity(t.CPU)
		if err != nil {
			return corev1.PodTemplateSpec{}, fmt.Errorf("parsing cpu request %q: %w", t.CPU, err)
		}
		container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: q}
	}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
	}
	return template, nil
}

func selector(name string) map[string]string { return map[string]string{"app": name} }
