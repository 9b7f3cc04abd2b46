package awsccm

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The flags are those of the release's DaemonSet.
func TestArguments(t *testing.T) {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: aws-cloud-controller-manager}
spec:
  updateStrategy: {type: RollingUpdate}
  template:
    spec:
      containers: [{name: aws-cloud-controller-manager, args: [--v=2, --cloud-provider=aws]}]
`), &o.Object); err != nil {
		t.Fatal(err)
	}
	if args, err := arguments(o); err != nil || !slices.Equal(args, []string{"--v=2", "--cloud-provider=aws"}) {
		t.Errorf("%q, %v", args, err)
	}
}
