package machines

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/fakecloud"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// Node is what a cloud's controller manager knows of the Node of an instance.
type Node struct {
	Name      string
	Labels    map[string]string
	Addresses []corev1.NodeAddress
}

// StandIn does what a cloud's controller manager does, in a world that has none: it initializes the Nodes that wait for one
// (see Uninitialized), and deletes those of instances that are gone. It ends with the world, or when it is stopped before.
func StandIn(ctx context.Context, w *world.World, cloud *fakecloud.Cloud, of func(fakecloud.Instance) Node) (stop func(), err error) {
	client, err := manager(w)
	if err != nil {
		return nil, err
	}
	stopRemoving, err := removeNodes(ctx, w, cloud, func(i fakecloud.Instance) string { return of(i).Name })
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() {
		for seq := uint64(0); ; {
			r, err := w.History().WaitAfter(ctx, seq, func(r history.Entry) bool {
				return r.Source == history.API && r.Object.Resource == "nodes" && r.Verb == "create" && r.Code < 300
			})
			if err != nil {
				return // the world ends
			}
			seq = r.Seq
			for _, i := range cloud.Instances() {
				if n := of(i); n.Name == r.Object.Name {
					work.Go(func() { initialize(ctx, w, client, n) })
				}
			}
		}
	})
	stop = sync.OnceFunc(func() {
		stopRemoving()
		cancel()
		work.Wait()
	})
	w.OnStop(func() error {
		stop()
		return nil
	})
	return stop, nil
}

// initialize writes what is known of a Node into it, and lifts the taint, until that is done or the Node is gone.
func initialize(ctx context.Context, w *world.World, client kubernetes.Interface, of Node) {
	for {
		err := tryInitialize(ctx, client, of)
		if err == nil || apierrors.IsNotFound(err) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.Clock().After(time.Second):
		}
	}
}

func tryInitialize(ctx context.Context, client kubernetes.Interface, of Node) error {
	n, err := client.CoreV1().Nodes().Get(ctx, of.Name, metav1.GetOptions{})
	if err != nil || !slices.ContainsFunc(n.Spec.Taints, uninitialized) {
		return err
	}
	n.Status.Addresses = of.Addresses
	if n, err = client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for name, value := range of.Labels {
		metav1.SetMetaDataLabel(&n.ObjectMeta, name, value)
	}
	// mutant: Nodes stay uninitialized
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, uninitialized)
	_, err = client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
	return err
}

func uninitialized(t corev1.Taint) bool { return t.Key == Uninitialized.Key }
