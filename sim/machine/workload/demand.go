package workload

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Demand creates what asks for capacity. It is safe for concurrent use.
type Demand struct {
	client kubernetes.Interface
}

// New returns a Demand on a cluster. Its client needs the rights of a user who deploys
// and makes namespaces with their default service accounts.
func New(client kubernetes.Interface) *Demand { return &Demand{client: client} }

// Create creates the objects in their order, and namespaces that are missing. It
// stops at the first that fails; those before it stay.
func (d *Demand) Create(ctx context.Context, objects ...metav1.Object) error {
	for _, object := range objects {
		if err := d.EnsureNamespace(ctx, object.GetNamespace()); err != nil {
			return fmt.Errorf("creating namespace %q: %w", object.GetNamespace(), err)
		}
		if err := d.create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

// EnsureNamespace creates the namespace if it is missing, and the service account that
// kube-controller-manager creates there a moment later, in "default" too: without one the
// API server refuses every pod.
func (d *Demand) EnsureNamespace(ctx context.Context, name string) error {
	core := d.client.CoreV1()
	_, err := core.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = core.ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}}
		_, err = core.ServiceAccounts(name).Create(ctx, account, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func (d *Demand) create(ctx context.Context, object metav1.Object) (err error) {
	namespace, options := object.GetNamespace(), metav1.CreateOptions{}
	switch o := object.(type) {
	case *corev1.Pod:
		_, err = d.client.CoreV1().Pods(namespace).Create(ctx, o, options)
	case *appsv1.Deployment:
		_, err = d.client.AppsV1().Deployments(namespace).Create(ctx, o, options)
	default:
		return fmt.Errorf("want a pod or deployment")
	}
	return err
}
