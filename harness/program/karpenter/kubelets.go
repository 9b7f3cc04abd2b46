package karpenter

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
)

// Kubelets has a real kubelet run on each of the kwok provider's Nodes, from its
// registration to its deletion and until the world ends: what Machines does with
// simulated ones. machine says what it runs on; its name is the Node's.
func Kubelets(w *world.World, machines *kubelet.Machines, machine func() kubelet.Machine) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		on, deleting := map[string]bool{}, map[string]bool{} // by name
		for seq := uint64(0); ; {
			r, err := w.History().WaitAfter(ctx, seq, func(r history.Entry) bool {
				return r.Source == history.API && r.Object.Resource == "nodes" && r.Code < 300
			})
			if err != nil {
				return // the world ends
			}
			seq = r.Seq
			providerID := r.Detail.Text("providerID")
			switch name := r.Object.Name; {
			case !on[name] && r.Verb == "create" && strings.HasPrefix(providerID, providerIDPrefix):
				on[name] = true
				m := machine()
				m.Name = name
				if err := machines.Boot(m); err != nil {
					w.History().Record(history.Death("kubelet."+name, err))
				}
			case on[name]:
				deleting[name] = deleting[name] || r.Verb == "delete"
				if deleting[name] && nodeGone(ctx, w, name) {
					delete(on, name)
					delete(deleting, name)
					_ = machines.Shutdown(name) // its kubelet may have ended by itself
				}
			}
		}
	}()
	w.OnStop(func() error { cancel(); <-ended; return nil })
}

// nodeGone reports whether a Node that is being deleted is gone: with a finalizer, as
// Karpenter has one, it stays until its pods are drained.
func nodeGone(ctx context.Context, w *world.World, name string) bool {
	n, err := w.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && n.DeletionTimestamp == nil // there is another already
}
