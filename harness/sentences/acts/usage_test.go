package acts

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// What pods use is said of what selects them, as workloads do.
func TestSelectorOf(t *testing.T) {
	of := func(selector any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"selector": selector},
		}}
	}
	selector, err := selectorOf(of(map[string]any{"matchLabels": map[string]any{"app": "web"}}))
	if err != nil || !selector.Matches(labels.Set{"app": "web"}) || selector.Matches(labels.Set{"app": "other"}) {
		t.Errorf("a Deployment's: %v, %v", selector, err)
	}
	for name, selector := range map[string]any{"a Service's": map[string]any{"app": "web"}, "none": nil, "text": "app=web"} {
		if _, err := selectorOf(of(selector)); err == nil || !strings.Contains(err.Error(), "Deployment/web selects no pods by their labels") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
