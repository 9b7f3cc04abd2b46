package installer

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Tolerate gives the pods of a workload that the order applies another toleration, as
// a user's values for its chart would.
func (o *Order) Tolerate(kind, namespace, name string, toleration corev1.Toleration) error {
	more, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&toleration)
	if err != nil {
		return err
	}
	wanted := key(kind, namespace, name)
	for _, s := range o.Steps {
		for _, object := range s.objects {
			if key(object.GetKind(), object.GetNamespace(), object.GetName()) != wanted {
				continue
			}
			at := []string{"spec", "template", "spec", "tolerations"}
			list, _, err := unstructured.NestedSlice(object.Object, at...)
			if err == nil {
				err = unstructured.SetNestedSlice(object.Object, append(list, more), at...)
			}
			if err != nil {
				return fmt.Errorf("tolerations of %s: %w", wanted, err)
			}
			return nil
		}
	}
	return fmt.Errorf("no step applies %s", wanted)
}
