package workload

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The builders below label pods app=<name> and select them by it. Their only error
// is a quantity that does not parse.

// Pod is a single pod that no controller replaces.
func Pod(namespace, name string, t Template) (*corev1.Pod, error) {
	pods, err := t.pods(name)
	if err != nil {
		return nil, fmt.Errorf("building pod %s/%s: %w", namespace, name, err)
	}
	pods.Namespace, pods.Name = namespace, name
	return &corev1.Pod{ObjectMeta: pods.ObjectMeta, Spec: pods.Spec}, nil
}

// Deployment keeps replicas pods.
func Deployment(namespace, name string, replicas int32, t Template) (*appsv1.Deployment, error) {
	pods, err := t.pods(name)
	if err != nil {
		return nil, fmt.Errorf("building deployment %s/%s: %w", namespace, name, err)
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selector(name)},
			Template: pods,
		},
	}, nil
}
