package deploy

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// IsCRD reports whether an object defines a kind.
func IsCRD(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" }

// CRDs are those among objects that define kinds.
func CRDs(objects []*unstructured.Unstructured) (crds []*apiextensionsv1.CustomResourceDefinition, err error) {
	for _, o := range objects {
		if !IsCRD(o) {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, crd); err != nil {
			return nil, fmt.Errorf("reading the CRD %s: %w", o.GetName(), err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
