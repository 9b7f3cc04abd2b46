package node

import (
	"context"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"nodestorm/sim/internal/feed"
)

// bound selects the pods that a scheduler has placed. The rest is most of the
// traffic while thousands of pods wait, and no kubelet ever asks for it.
const bound = "spec.nodeName!="

func (f *Fleet) watchNodes(ctx context.Context) {
	nodes := f.cfg.Client.CoreV1().Nodes()
	feed.Feed[*corev1.Node]{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return nodes.List(ctx, o)
		},
		Watch:  nodes.Watch,
		Put:    f.putNode,
		Drop:   f.dropNode,
		Synced: sync.OnceFunc(f.listed),
		Failed: f.watchFailed("watching nodes"),
	}.Run(ctx, f.cfg.Clock)
}

func (f *Fleet) watchPods(ctx context.Context) {
	pods := f.cfg.Client.CoreV1().Pods(metav1.NamespaceAll)
	feed.Feed[*corev1.Pod]{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = bound
			return pods.List(ctx, o)
		},
		Watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = bound
			return pods.Watch(ctx, o)
		},
		Put:    f.putPod,
		Drop:   f.dropPod,
		Synced: sync.OnceFunc(f.listed),
		Failed: f.watchFailed("watching pods"),
	}.Run(ctx, f.cfg.Clock)
}

func (f *Fleet) listed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lists++; f.lists == 2 {
		close(f.ready)
	}
}

func (f *Fleet) watchFailed(what string) func(error) {
	return func(err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.failed(what, err)
	}
}

func (f *Fleet) putNode(node *corev1.Node) {
	node.ManagedFields = nil // nothing here reads them, and they are half of the object
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.kubelets[node.Name]; k != nil {
		k.see(node)
		f.nodeWork.Add(node.Name)
		return
	}
	if f.declined[node.UID] {
		return
	}
	f.adopt(node)
}

// adopt asks whether a machine of ours is behind node, and if so starts it. The
// caller holds f.mu.
func (f *Fleet) adopt(node *corev1.Node) {
	profile, ours := f.cfg.Adopt(node)
	if ours {
		if err := profile.check(); err != nil {
			f.failed("adopting node "+node.Name, err)
			ours = false
		}
	}
	if !ours {
		f.declined[node.UID] = true
		return
	}
	k := f.start(Spec{
		Name:        node.Name,
		ProviderID:  node.Spec.ProviderID,
		Labels:      node.Labels,
		Annotations: node.Annotations,
		Taints:      node.Spec.Taints,
		Capacity:    node.Status.Capacity,
		Allocatable: node.Status.Allocatable,
		Addresses:   node.Status.Addresses,
		Profile:     profile,
	})
	k.adopted = true
	k.see(node)
}

func (f *Fleet) dropNode(node *corev1.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.declined, node.UID)
	k := f.kubelets[node.Name]
	if k == nil || k.node == nil || k.node.UID != node.UID {
		return
	}
	k.node = nil
	if k.profile.GoneWithNode {
		delete(f.kubelets, node.Name)
	}
	k.emit(f.cfg.Clock.Now(), "deleted", map[string]any{"machineGone": k.profile.GoneWithNode})
	f.nodeWork.Add(node.Name)
}

func (f *Fleet) putPod(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return // a client that does not know the field selector
	}
	p.ManagedFields = nil
	f.mu.Lock()
	defer f.mu.Unlock()
	key := podKey(p)
	state := f.pods[key]
	if state == nil {
		state = newPod(p)
		f.pods[key] = state
		f.boundTo(p.Spec.NodeName).add(key, state)
	}
	state.object = p
	if f.kubelets[p.Spec.NodeName] != nil {
		f.podWork.Add(key)
	}
}

func (f *Fleet) dropPod(p *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := podKey(p)
	state := f.pods[key]
	if state == nil || state.object.UID != p.UID {
		return
	}
	delete(f.pods, key)
	bound := f.boundTo(p.Spec.NodeName)
	if bound.remove(key, state); len(bound.pods) == 0 {
		delete(f.byNode, p.Spec.NodeName)
	}
}

// boundPods are the pods of one Node, ours or not.
type boundPods struct {
	pods    map[types.NamespacedName]*pod
	running int
}

func (f *Fleet) boundTo(node string) *boundPods {
	if f.byNode[node] == nil {
		f.byNode[node] = &boundPods{pods: map[types.NamespacedName]*pod{}}
	}
	return f.byNode[node]
}

func (b *boundPods) add(key types.NamespacedName, p *pod) {
	b.pods[key] = p
	if p.running() {
		b.running++
	}
}

func (b *boundPods) remove(key types.NamespacedName, p *pod) {
	delete(b.pods, key)
	if p.running() {
		b.running--
	}
}

// counting keeps count of the running pods across change. The caller holds f.mu.
func (f *Fleet) counting(p *pod, change func()) {
	before := p.running()
	change()
	after, bound := p.running(), f.byNode[p.object.Spec.NodeName]
	switch {
	case before == after || bound == nil || bound.pods[podKey(p.object)] != p:
	case after:
		bound.running++
	default:
		bound.running--
	}
}

// older reports whether resource version a was written before b. Versions of one
// resource grow; one that is no number, as with client-go's fake, is never older.
func older(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x < y
}
