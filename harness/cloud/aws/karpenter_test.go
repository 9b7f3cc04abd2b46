package aws

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	accounts "nodestorm/fakecloud/aws/account"
	"nodestorm/harness/builds"
)

// What is written for Karpenter's provider kwok speaks of AWS's classes, types and zones; what is AWS's own stays.
func TestAdapt(t *testing.T) {
	settings := aws.Settings()
	settings.Clock = testclock.NewFakeClock(time.Now())
	cloud, err := fakecloud.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cloud.Close)
	region := &Region{Cloud: cloud}
	kwok := schema.GroupKind{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass"}
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"nodeRegistrationDelay": "10s"}, "status": map[string]any{"conditions": []any{}},
	}}
	region.Adapt(class, kwok)
	if class.GroupVersionKind() != Class || class.Object["status"] != nil {
		t.Errorf("the class is %v", class.Object)
	}
	if spec, _, _ := unstructured.NestedMap(class.Object, "spec"); spec["role"] != "KarpenterNodeRole-nodestorm" || spec["nodeRegistrationDelay"] != nil ||
		spec["capacityReservationSelectorTerms"] != nil {
		t.Errorf("its spec is %v", spec)
	}
	err = cloud.Update(func(tx *fakecloud.Tx) error {
		of := fakecloud.Reservation{Type: "m5.large", Location: "us-west-2a", Count: 1}
		of.Name = "cr-1"
		_, err := tx.AddReservation(of)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	class.SetGroupVersionKind(schema.GroupVersionKind{Group: kwok.Group, Version: "v1alpha1", Kind: kwok.Kind})
	region.Adapt(class, kwok)
	terms, _, _ := unstructured.NestedSlice(class.Object, "spec", "capacityReservationSelectorTerms")
	if diff := cmp.Diff([]any{map[string]any{"id": "cr-1"}}, terms); diff != "" {
		t.Errorf("with a reservation: %s", diff)
	}
	pool := func(kind, group string, types, zones []any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"nodeClassRef": map[string]any{"group": group, "kind": kind, "name": "default"},
				"requirements": []any{
					map[string]any{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types},
					map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones},
					map[string]any{"key": "kubernetes.io/arch", "operator": "Exists"},
				},
			}}},
		}}
	}
	got := pool("KWOKNodeClass", "karpenter.kwok.sh", []any{"c-4x-amd64-linux", "s-2x-arm64-linux", "m-1x-amd64-linux", "c-9x-amd64-linux"},
		[]any{"test-zone-a"})
	region.Adapt(got, kwok)
	want := pool("EC2NodeClass", "karpenter.k8s.aws", []any{"c6i.xlarge", "m6g.large", "r6i.large", "c-9x-amd64-linux"}, []any{"us-west-2a"})
	if diff := cmp.Diff(want.Object, got.Object); diff != "" {
		t.Error(diff)
	}
	region.Adapt(want, kwok)
	if diff := cmp.Diff(got.Object, want.Object); diff != "" {
		t.Errorf("what is AWS's is changed: %s", diff)
	}
}

// Calls have the names that AWS gives them, which are unlike the words of other clouds.
func TestCall(t *testing.T) {
	if name, _ := call("CreateFleet"); name != "CreateFleet" {
		t.Errorf("CreateFleet is %q", name)
	}
	if name, known := call("terminate instances"); name != "" || len(known) == 0 {
		t.Errorf("another cloud's call is %q, of %q", name, known)
	}
}

// An account that is served alone has images for the Kubernetes that worlds have.
func TestVersion(t *testing.T) {
	if want, is := minor(builds.Kubernetes.Version), accounts.Default().Cluster.Version; is != want {
		t.Errorf("the cluster's version is %s by default, want %s", is, want)
	}
}
