package workload

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestDemand(t *testing.T) {
	// NewClientset would build a table of all kinds for every single update.
	client := fake.NewSimpleClientset() //nolint:staticcheck // see above
	demand, ctx := New(client), t.Context()
	pod, _ := Pod("shop", "one", Template{})
	deployment, _ := Deployment("shop", "web", 3, Template{})
	if err := demand.Create(ctx, pod, deployment); err != nil {
		t.Fatal(err)
	}
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil || len(namespaces.Items) != 1 {
		t.Errorf("namespaces: %v, %v", namespaces.Items, err)
	}
	accounts, err := client.CoreV1().ServiceAccounts("shop").List(ctx, metav1.ListOptions{})
	if err != nil || len(accounts.Items) != 1 || accounts.Items[0].Name != "default" {
		t.Errorf("service accounts: %v, %v", accounts.Items, err)
	}
	for want, got := range map[string]error{
		`creating *v1.Deployment shop/web: deployments.apps "web" already exists`: demand.Create(ctx, deployment),
		`creating *v1.ConfigMap shop/x: want a pod or deployment`:                 demand.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}}),
	} {
		if got == nil || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
