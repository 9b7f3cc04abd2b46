package node

import (
	"fmt"
	"strconv"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// server is client-go's fake with what this package relies on in a real API server:
// UIDs, resource versions, and the conflicts that come of them. It still has no
// admission, no defaults and no field selectors, and a write to a subresource changes
// the whole object.
type server struct {
	clienttesting.ObjectTracker
	written atomic.Int64
}

func newServer() (*fake.Clientset, *server) {
	s := &server{ObjectTracker: clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder())}
	client := &fake.Clientset{}
	client.AddReactor("*", "*", clienttesting.ObjectReaction(s))
	client.AddWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := s.Watch(a.GetResource(), a.GetNamespace())
		return true, w, err
	})
	return client, s
}

func (s *server) Create(gvr schema.GroupVersionResource, obj runtime.Object, ns string, o ...metav1.CreateOptions) error {
	object := obj.DeepCopyObject()
	if m := object.(metav1.Object); m.GetUID() == "" {
		m.SetUID(types.UID(fmt.Sprintf("uid-%d", s.written.Load())))
	}
	s.stamp(object)
	return s.ObjectTracker.Create(gvr, object, ns, o...)
}

func (s *server) Update(gvr schema.GroupVersionResource, obj runtime.Object, ns string, o ...metav1.UpdateOptions) error {
	object := obj.DeepCopyObject()
	if err := s.check(gvr, object.(metav1.Object), ns); err != nil {
		return err
	}
	return s.ObjectTracker.Update(gvr, object, ns, o...)
}

// Patch gets the patched object: a version or UID in the patch is now the object's.
func (s *server) Patch(gvr schema.GroupVersionResource, object runtime.Object, ns string, o ...metav1.PatchOptions) error {
	if err := s.check(gvr, object.(metav1.Object), ns); err != nil {
		return err
	}
	return s.ObjectTracker.Patch(gvr, object, ns, o...)
}

func (s *server) Delete(gvr schema.GroupVersionResource, ns, name string, o ...metav1.DeleteOptions) error {
	for _, options := range o {
		if p := options.Preconditions; p != nil && p.UID != nil {
			m := &metav1.ObjectMeta{Name: name, UID: *p.UID}
			if err := s.conflict(gvr, m, ns); err != nil {
				return err
			}
		}
	}
	return s.ObjectTracker.Delete(gvr, ns, name, o...)
}

func (s *server) stamp(object runtime.Object) {
	object.(metav1.Object).SetResourceVersion(strconv.FormatInt(s.written.Add(1), 10))
}

// check stamps the object unless it contradicts the stored one.
func (s *server) check(gvr schema.GroupVersionResource, m metav1.Object, ns string) error {
	if err := s.conflict(gvr, m, ns); err != nil {
		return err
	}
	s.stamp(m.(runtime.Object))
	return nil
}

func (s *server) conflict(gvr schema.GroupVersionResource, m metav1.Object, ns string) error {
	stored, err := s.Get(gvr, ns, m.GetName())
	if err != nil {
		return err
	}
	old := stored.(metav1.Object)
	if m.GetUID() != "" && m.GetUID() != old.GetUID() || m.GetResourceVersion() != "" && m.GetResourceVersion() != old.GetResourceVersion() {
		return apierrors.NewConflict(gvr.GroupResource(), m.GetName(), fmt.Errorf("it is %s at version %s", old.GetUID(), old.GetResourceVersion()))
	}
	return nil
}
