package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// FakeNodeClass says what instances are launched with.
type FakeNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FakeNodeClassSpec   `json:"spec,omitempty"`
	Status FakeNodeClassStatus `json:"status,omitempty"`
}

// FakeNodeClassSpec is all that can be said.
type FakeNodeClassSpec struct {
	// Image is the name of one of the cloud's. Empty means defaultImage.
	Image string `json:"image,omitempty"`
}

// FakeNodeClassStatus is whether anything can be launched with it.
type FakeNodeClassStatus struct {
	Conditions []status.Condition `json:"conditions,omitempty"`
}

// FakeNodeClassList is what lists of them are.
type FakeNodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []FakeNodeClass `json:"items"`
}

const defaultImage = "linux"

func (in *FakeNodeClass) image() string {
	if in.Spec.Image != "" {
		return in.Spec.Image
	}
	return defaultImage
}

// GetConditions implements status.Object.
func (in *FakeNodeClass) GetConditions() []status.Condition { return in.Status.Conditions }

// SetConditions implements status.Object.
func (in *FakeNodeClass) SetConditions(conditions []status.Condition) {
	in.Status.Conditions = conditions
}

// DeepCopyObject implements runtime.Object.
func (in *FakeNodeClass) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopy returns a copy.
func (in *FakeNodeClass) DeepCopy() *FakeNodeClass {
	out := &FakeNodeClass{TypeMeta: in.TypeMeta, Spec: in.Spec}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(in.Status.Conditions)
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *FakeNodeClassList) DeepCopyObject() runtime.Object {
	out := &FakeNodeClassList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return out
}

func init() {
	version := schema.GroupVersion{Group: "karpenter.nodestorm.sim", Version: "v1alpha1"}
	metav1.AddToGroupVersion(scheme.Scheme, version)
	scheme.Scheme.AddKnownTypes(version, &FakeNodeClass{}, &FakeNodeClassList{})
}

// readiness keeps the condition of node classes.
type readiness struct {
	provider *provider
}

func addReadiness(m manager.Manager, p *provider) error {
	return controllerruntime.NewControllerManagedBy(m).Named("nodeclass.readiness").For(&FakeNodeClass{}).Complete(&readiness{p})
}

// Reconcile says that a class is ready if the cloud has its image.
func (r *readiness) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	class := &FakeNodeClass{}
	if err := r.provider.client.Get(ctx, req.NamespacedName, class); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	images, err := r.provider.cloud.images(ctx)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("asking for the cloud's images: %w", err)
	}
	stored := class.DeepCopy()
	if slices.ContainsFunc(images, func(i image) bool { return i.Name == class.image() }) {
		class.StatusConditions().SetTrue(status.ConditionReady)
	} else {
		class.StatusConditions().SetFalse(status.ConditionReady, "ImageNotFound", fmt.Sprintf("the cloud has no image %q", class.image()))
	}
	err = r.provider.client.Status().Patch(ctx, class, client.MergeFrom(stored))
	return reconcile.Result{}, client.IgnoreNotFound(err)
}
