package clusterapi

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The annotations that make a MachineDeployment or a MachinePool one of Cluster
// Autoscaler's node groups.
const (
	MinimumAnnotation = core + "/cluster-api-autoscaler-node-group-min-size"
	MaximumAnnotation = core + "/cluster-api-autoscaler-node-group-max-size"
)

// Bounds are those annotations.
func Bounds(least, most int) map[string]string {
	return map[string]string{MinimumAnnotation: fmt.Sprint(least), MaximumAnnotation: fmt.Sprint(most)}
}

// The annotations from which Cluster Autoscaler learns what the nodes of a group have that has none.
const (
	capacityPrefix   = "capacity.cluster-autoscaler.kubernetes.io/"
	LabelsAnnotation = capacityPrefix + "labels"
	TaintsAnnotation = capacityPrefix + "taints"
)

// Shape are the annotations from which Cluster Autoscaler learns what machines of an instance type
// have; empty is the default one.
func (a *ClusterAPI) Shape(instanceType string) (map[string]string, error) {
	t := a.cloud.Catalogue().ServerType(cmp.Or(instanceType, defaultInstanceType))
	if t == nil {
		return nil, fmt.Errorf("the cloud has no instance type %q", instanceType)
	}
	return Capacity(strconv.Itoa(t.Cores), strconv.FormatFloat(float64(t.MemoryGB), 'f', -1, 32)+"Gi"), nil
}

// Capacity are the annotations from which Cluster Autoscaler learns what a machine has where
// it cannot read the template: releases before 1.34 cannot by the API version v1beta2.
func Capacity(cpus, memory string) map[string]string {
	return map[string]string{capacityPrefix + "cpu": cpus, capacityPrefix + "memory": memory}
}

// Rights are what Cluster Autoscaler may do with Cluster API's objects.
type Rights string

const (
	// ExampleRights are those of the example in its repository, with what its README
	// adds for scaling up from no machine, and the scale of MachinePools, which both
	// forget.
	ExampleRights Rights = "as the example has them"
	// NamespacedRights are the same in Namespace only. Those on the templates of
	// machines cannot be left out: the autoscaler waits for them for ever.
	NamespacedRights Rights = "in one namespace"
)

// Grant gives Cluster Autoscaler's service account its rights on Cluster API.
func (a *ClusterAPI) Grant(ctx context.Context, namespace, account string, rights Rights) error {
	const name = "cluster-autoscaler-management"
	verbs := []string{"get", "list", "update", "watch", "patch"}
	meta := metav1.ObjectMeta{Name: name}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{core}, Verbs: verbs,
			Resources: []string{"machinedeployments", "machinedeployments/scale", "machines", "machinesets", "machinepools", "machinepools/scale"}},
		// Scaling up from no machine. Users name the kinds of their provider here.
		{APIGroups: []string{infrastructure}, Verbs: []string{"get", "list", "watch"},
			Resources: []string{templates.resource, infraPools.resource}},
	}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}}
	objects := []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}},
	}
	if rights == NamespacedRights {
		meta.Namespace = Namespace
		objects = []client.Object{
			&rbacv1.Role{ObjectMeta: meta, Rules: rules},
			&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}},
		}
	}
	for _, o := range objects {
		if err := a.client.Create(ctx, o); err != nil {
			return fmt.Errorf("granting the autoscaler's rights (%T %q): %w", o, name, err)
		}
	}
	return nil
}

// Prefer writes what the priority expander reads, in the cluster with the nodes: the first
// deployment over the second, and so on.
func (a *ClusterAPI) Prefer(ctx context.Context, namespace string, deployments ...string) error {
	var text strings.Builder
	for i, name := range deployments {
		fmt.Fprintf(&text, "%d:\n- .*/%s$\n", 10*(len(deployments)-i), name)
	}
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cluster-autoscaler-priority-expander"},
		Data:       map[string]string{"priorities": text.String()},
	}
	if _, err := a.cfg.World.Client().CoreV1().ConfigMaps(namespace).Create(ctx, config, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the priorities: %w", err)
	}
	return nil
}
