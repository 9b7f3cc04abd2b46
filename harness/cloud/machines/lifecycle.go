package machines

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/fakecloud"
	"nodestorm/harness/world"
)

// monitorPeriod is how long after an instance is gone its Node goes: a cloud controller manager
// looks at Nodes that are not Ready every 5s (--node-monitor-period).
const monitorPeriod = 5 * time.Second

// RemoveNodes has the Nodes of instances that are gone deleted, as a cloud's controller manager
// does, of a cloud that has none, or in a world that needs nothing else of it. Without it they
// stay, and are not Ready.
func RemoveNodes(ctx context.Context, w *world.World, cloud *fakecloud.Cloud) error {
	stop, err := removeNodes(ctx, w, cloud, func(i fakecloud.Instance) string { return i.Name })
	if err != nil {
		return err
	}
	w.OnStop(func() error {
		stop()
		return nil
	})
	return nil
}

// manager is a client with the rights of a cloud's controller manager.
func manager(w *world.World) (kubernetes.Interface, error) {
	user, err := w.Cluster.User("cloud-controller-manager", "system:masters")
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(user)
}

// removeNodes see RemoveNodes; name is that of an instance's Node. It goes on until it is stopped.
func removeNodes(ctx context.Context, w *world.World, cloud *fakecloud.Cloud, name func(fakecloud.Instance) string) (stop func(), err error) {
	client, err := manager(w)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var removing sync.WaitGroup
	unwatch := cloud.Watch(func(change fakecloud.Change) {
		if change.To != fakecloud.Gone {
			return
		}
		removing.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-w.Clock().After(monitorPeriod):
				}
				err := client.CoreV1().Nodes().Delete(ctx, name(change.Instance), metav1.DeleteOptions{})
				if err == nil || apierrors.IsNotFound(err) {
					return
				}
			}
		})
	})
	return func() {
		unwatch()
		cancel()
		removing.Wait()
	}, nil
}
