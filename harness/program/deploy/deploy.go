// Package deploy brings programs into worlds: what the ways have in common in which charts, kustomizations and manifests
// do it. What is in those is for the package of each program to say.
package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/world"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history/audit"
)

// Account is the service account of a program under test.
type Account struct {
	Namespace, Name string
	// Later are creations that are done later than they are answered. Nil: none.
	Later *apifault.Later
}

// APIAccess is how an account reaches an API server.
type APIAccess struct {
	// Kubeconfig is a file, with the account's rights and no more.
	Kubeconfig string
	// Proxy breaks it; nil where it cannot be broken.
	Proxy *apifault.Proxy
}

// Reach makes its way to a cluster's API server. Where that is to be broken, it has these rules, and may get more. The
// groups are further ones that it is in.
func (a Account) Reach(c *world.Cluster, broken bool, rules []fault.Fault, groups ...string) (w APIAccess, err error) {
	user := "system:serviceaccount:" + a.Namespace + ":" + a.Name
	groups = append([]string{
		"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated", audit.TargetGroup,
	}, groups...)
	if broken || a.Later != nil {
		w.Kubeconfig, w.Proxy, err = c.KubeconfigThrough(rules, a.Later, user, groups...)
	} else {
		w.Kubeconfig, err = c.Kubeconfig(user, groups...)
	}
	return w, err
}

// Process is a program that is beside others in a world, for the package of the program to name.
type Process struct {
	// Args are its command line, but for what says where it is.
	Args []string
	// Access is its way to the API server.
	Access APIAccess
}

// Way is its way to the API server where that can be broken, or nil.
func (p *Process) Way() *apifault.Proxy { return p.Access.Proxy }

// Settings are its command line, but for what says where it is.
func (p *Process) Settings() []string { return p.Args }

// Granted are the account and its rights in the whole cluster, by a role that is called so.
func (a Account) Granted(role string, rules []rbacv1.PolicyRule) []client.Object {
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.Namespace, Name: a.Name}},
		},
	}
}

// Namespace is one to create.
func Namespace(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind("Namespace")
	o.SetName(name)
	return o
}

// atOnce is how many objects are created at a time.
const atOnce = 8

// Create creates objects: first the namespaces, which others are in. What is there already stays.
func Create[T client.Object](ctx context.Context, c client.Client, objects ...T) error {
	for _, namespaces := range []bool{true, false} {
		creating, ctx := errgroup.WithContext(ctx)
		creating.SetLimit(atOnce)
		for _, o := range objects {
			if kind := kindOf(c, o); (kind == "Namespace") == namespaces {
				creating.Go(func() error {
					if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
						return fmt.Errorf("creating %s %s: %w", kind, o.GetName(), err)
					}
					return nil
				})
			}
		}
		if err := creating.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// fieldOwner is who has applied the objects of a release.
const fieldOwner = client.FieldOwner("nodestorm")

// Upgrade makes the objects that a release brings those of another one: what both have becomes as the other has it, and what
// only the old one has is deleted, as Helm does it.
func Upgrade(ctx context.Context, c client.Client, from, to []*unstructured.Unstructured) error {
	for _, o := range to {
		o.SetManagedFields(nil)
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	for _, o := range from {
		stays := slices.ContainsFunc(to, func(kept *unstructured.Unstructured) bool {
			return kept.GroupVersionKind() == o.GroupVersionKind() && kept.GetNamespace() == o.GetNamespace() && kept.GetName() == o.GetName()
		})
		// mutant: what a release no longer has stays after an upgrade
		if stays {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, o)); err != nil {
			return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func kindOf(c client.Client, o client.Object) string {
	kind, err := c.GroupVersionKindFor(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}
	return kind.Kind
}

// Rights reports whether an object is one of those by which a program has its rights.
func Rights(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding":
		return true
	}
	return false
}

// Rolling is how many pods there may be beyond those that a Deployment has, and how many of these need not be Ready while others take
// their place.
func Rolling(o *unstructured.Unstructured, replicas int) (surge, unavailable int, err error) {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		return 0, 0, err
	}
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return 0, replicas, nil
	}
	// What it does not say is 25 % (apps/v1's defaults): of the first rounded up, of the second down.
	quarter := intstr.FromString("25%")
	rolling := cmp.Or(d.Spec.Strategy.RollingUpdate, &appsv1.RollingUpdateDeployment{})
	if surge, err = intstr.GetScaledValueFromIntOrPercent(cmp.Or(rolling.MaxSurge, &quarter), replicas, true); err != nil {
		return 0, 0, err
	}
	unavailable, err = intstr.GetScaledValueFromIntOrPercent(cmp.Or(rolling.MaxUnavailable, &quarter), replicas, false)
	return surge, unavailable, err
}

// Container is the first container of a Deployment.
func Container(o *unstructured.Unstructured) (c corev1.Container, err error) {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		return c, err
	}
	if len(d.Spec.Template.Spec.Containers) == 0 {
		return c, errors.New("it has no container")
	}
	return d.Spec.Template.Spec.Containers[0], nil
}
