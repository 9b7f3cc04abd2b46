package clusterapi

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Bounds are the annotations that make a MachineDeployment one of Cluster
// Autoscaler's node groups.
func Bounds(least, most int) map[string]string {
	const prefix = core + "/cluster-api-autoscaler-node-group-"
	return map[string]string{prefix + "min-size": fmt.Sprint(least), prefix + "max-size": fmt.Sprint(most)}
}

// Grant gives Cluster Autoscaler's service account its rights on Cluster API, as
// the example in its repository has them. Without the right to patch a scale, which
// the example lacked until August 2026, releases from 1.33.0 can scale nothing.
func (a *ClusterAPI) Grant(ctx context.Context, namespace, account string, patch bool) error {
	const name = "cluster-autoscaler-management"
	verbs := []string{"get", "list", "update", "watch"}
	if patch {
		verbs = append(verbs, "patch")
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{core}, Verbs: verbs, Resources: []string{"machinedeployments", "machinedeployments/scale", "machines", "machinesets", "machinepools", "machinepools/scale"}},
		// Scaling up from no machine.
		{APIGroups: []string{infrastructure}, Verbs: []string{"get", "list"}, Resources: []string{"*"}},
	}}
	if err := a.client.Create(ctx, role); err != nil {
		return fmt.Errorf("creating ClusterRole %q: %w", name, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	}
	if err := a.client.Create(ctx, binding); err != nil {
		return fmt.Errorf("creating ClusterRoleBinding %q: %w", name, err)
	}
	return nil
}

// Prefer writes what the priority expander reads: the first deployment over the
// second, and so on.
func (a *ClusterAPI) Prefer(ctx context.Context, namespace string, deployments ...string) error {
	var text strings.Builder
	for i, name := range deployments {
		fmt.Fprintf(&text, "%d:\n- .*/%s$\n", 10*(len(deployments)-i), name)
	}
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cluster-autoscaler-priority-expander"},
		Data:       map[string]string{"priorities": text.String()},
	}
	if err := a.client.Create(ctx, config); err != nil {
		return fmt.Errorf("creating the priorities: %w", err)
	}
	return nil
}

// Touch changes a MachineDeployment in nothing that matters to it, as controllers
// that report on it do.
func (a *ClusterAPI) Touch(ctx context.Context, deployment, value string) error {
	md := object(core+"/"+version, "MachineDeployment", Namespace, deployment)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.org/seen":%q}}}`, value)
	return a.client.Patch(ctx, md, mergePatch(patch))
}
