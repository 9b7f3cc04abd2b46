package machines

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// A Node that waits for a controller manager gets its labels and addresses, and loses that taint alone.
func TestInitialize(t *testing.T) {
	own := corev1.Taint{Key: "example.org/own", Effect: corev1.TaintEffectNoSchedule}
	client := fake.NewClientset(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"kept": "true"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{own, Uninitialized}},
	}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{own}}})
	address := corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.0.7"}
	for _, name := range []string{"a", "b"} {
		of := Node{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "z"}, Addresses: []corev1.NodeAddress{address}}
		if err := tryInitialize(t.Context(), client, of); err != nil {
			t.Fatal(err)
		}
		n, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Spec.Taints) != 1 || n.Spec.Taints[0] != own {
			t.Errorf("%s has taints %v", name, n.Spec.Taints)
		}
		waited := name == "a"
		if (n.Labels[corev1.LabelTopologyZone] == "z") != waited || (len(n.Status.Addresses) == 1) != waited || waited && n.Labels["kept"] != "true" {
			t.Errorf("%s has labels %v and addresses %v", name, n.Labels, n.Status.Addresses)
		}
	}
}
