// Package usage serves Kubernetes' Metrics API (metrics.k8s.io/v1beta1) in place of metrics-server: what simulated pods use is
// what a scenario says.
package usage

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/utils/clock"
)

// Window is what usage is averaged over, and how long a pod runs before it is measured: metrics-server takes a sample every 15
// seconds, and needs two.
const Window = 15 * time.Second

// Load is what pods use from a moment on.
type Load struct {
	Namespace string
	// Name is that of the one pod; empty: Selector says which.
	Name     string
	Selector labels.Selector
	// Use is what each of the pods uses, or, where they share it, all that run together. The containers of a pod use equal parts.
	Use    corev1.ResourceList
	Shared bool
	// For is how long after its start it is so of a pod; 0: always.
	For time.Duration
}

func (l Load) of(p *corev1.Pod, at time.Time) bool {
	// mutant: a pod uses as much as after its start for ever
	if start, runs := started(p); p.Namespace != l.Namespace || l.For > 0 && (!runs || at.Sub(start) >= l.For) {
		return false
	}
	return p.Name == l.Name || l.Name == "" && l.Selector.Matches(labels.Set(p.Labels))
}

// started is when the last of a pod's containers did, if all of them run.
func started(p *corev1.Pod) (last time.Time, all bool) {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running == nil {
			return last, false
		}
		if at := c.State.Running.StartedAt.Time; at.After(last) {
			last = at
		}
	}
	return last, len(p.Status.ContainerStatuses) > 0
}

// API answers for the group. It is safe for concurrent use.
type API struct {
	client kubernetes.Interface
	clock  clock.PassiveClock
	mux    *http.ServeMux

	mu    sync.Mutex
	loads []Load
}

// New has what pods use be asked for; client may list all pods and nodes.
func New(client kubernetes.Interface, c clock.PassiveClock) *API {
	a := &API{client: client, clock: c, mux: http.NewServeMux()}
	const root = "GET /apis/metrics.k8s.io/v1beta1"
	for path, answer := range map[string]func(*http.Request) (any, error){
		"":                                    a.resources,
		"/pods":                               a.listPods,
		"/namespaces/{namespace}/pods":        a.listPods,
		"/namespaces/{namespace}/pods/{name}": a.getPod,
		"/nodes":                              a.listNodes,
		"/nodes/{name}":                       a.getNode,
	} {
		a.mux.HandleFunc(root+path, func(w http.ResponseWriter, r *http.Request) { reply(w, r, answer) })
	}
	return a
}

// Set has pods use so much from now on. The latest load that is of a pod at the time counts.
func (a *API) Set(l Load) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loads = append(a.loads, l)
}

// ServeHTTP is kube-apiserver's call.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

func reply(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	body, err := answer(r)
	code := http.StatusOK
	if err != nil {
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			status = apierrors.NewInternalError(err)
		}
		status.ErrStatus.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		body, code = status.ErrStatus, int(status.ErrStatus.Code)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the caller may have gone
}

func (a *API) resources(*http.Request) (any, error) {
	read := metav1.Verbs{"get", "list"}
	return metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: v1beta1.SchemeGroupVersion.String(),
		APIResources: []metav1.APIResource{
			{Name: "nodes", Kind: "NodeMetrics", Verbs: read}, {Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: read},
		},
	}, nil
}

func (a *API) listPods(r *http.Request) (any, error) {
	selector, err := labels.Parse(r.FormValue("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	all, err := a.measure(r.Context())
	if err != nil {
		return nil, err
	}
	list := v1beta1.PodMetricsList{TypeMeta: meta("PodMetricsList"), Items: []v1beta1.PodMetrics{}}
	for _, m := range all {
		of := r.PathValue("namespace")
		if (of == "" || m.pod.Namespace == of) && selector.Matches(labels.Set(m.pod.Labels)) {
			list.Items = append(list.Items, a.podMetrics(m))
		}
	}
	return list, nil
}

func (a *API) getPod(r *http.Request) (any, error) {
	all, err := a.measure(r.Context())
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.pod.Namespace == r.PathValue("namespace") && m.pod.Name == r.PathValue("name") {
			return a.podMetrics(m), nil
		}
	}
	return nil, apierrors.NewNotFound(v1beta1.Resource("podmetrics"), r.PathValue("namespace")+"/"+r.PathValue("name"))
}

// listNodes has no Nodes whose pods are not measured: what a machine uses without pods is not simulated.
func (a *API) listNodes(r *http.Request) (any, error) {
	selector, err := labels.Parse(r.FormValue("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	nodes, err := a.nodes(r.Context(), metav1.ListOptions{LabelSelector: selector.String()})
	return v1beta1.NodeMetricsList{TypeMeta: meta("NodeMetricsList"), Items: nodes}, err
}

func (a *API) getNode(r *http.Request) (any, error) {
	nodes, err := a.nodes(r.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Name == r.PathValue("name") {
			return n, nil
		}
	}
	return nil, apierrors.NewNotFound(v1beta1.Resource("nodemetrics"), r.PathValue("name"))
}

func (a *API) nodes(ctx context.Context, which metav1.ListOptions) (all []v1beta1.NodeMetrics, err error) {
	nodes, err := a.client.CoreV1().Nodes().List(ctx, which)
	if err != nil {
		return nil, err
	}
	measured, err := a.measure(ctx)
	if err != nil {
		return nil, err
	}
	use := map[string]corev1.ResourceList{}
	for _, m := range measured {
		of := use[m.pod.Spec.NodeName]
		if of == nil {
			of = corev1.ResourceList{}
		}
		for name, q := range m.use {
			sum := of[name]
			sum.Add(q)
			of[name] = sum
		}
		use[m.pod.Spec.NodeName] = of
	}
	all = []v1beta1.NodeMetrics{}
	for _, n := range nodes.Items {
		if of := use[n.Name]; of != nil {
			all = append(all, v1beta1.NodeMetrics{
				TypeMeta: meta("NodeMetrics"), ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
				Timestamp: metav1.NewTime(a.clock.Now()), Window: metav1.Duration{Duration: Window}, Usage: of,
			})
		}
	}
	return all, nil
}

// measured is a pod and what it uses.
type measured struct {
	pod corev1.Pod
	use corev1.ResourceList
}

// measure is what all pods use that have run for long enough, and of which something is said.
func (a *API) measure(ctx context.Context) (all []measured, err error) {
	pods, err := a.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	sharing := map[int]int{} // by the load
	now := a.clock.Now()
	load := func(p *corev1.Pod) int { return lastIndex(a.loads, func(l Load) bool { return l.of(p, now) }) }
	for _, p := range pods.Items {
		if i := load(&p); i >= 0 && p.Status.Phase == corev1.PodRunning {
			sharing[i]++
		}
	}
	for _, p := range pods.Items {
		i := load(&p)
		if i < 0 || !a.sampled(&p) {
			continue
		}
		by := 1
		if a.loads[i].Shared {
			by = sharing[i]
		}
		all = append(all, measured{p, part(a.loads[i].Use, by)})
	}
	return all, nil
}

func lastIndex(loads []Load, is func(Load) bool) int {
	for i, l := range slices.Backward(loads) {
		if is(l) {
			return i
		}
	}
	return -1
}

// sampled reports whether all containers of a pod have run for long enough.
func (a *API) sampled(p *corev1.Pod) bool {
	start, runs := started(p)
	// mutant: a pod is measured that has just started
	return p.Status.Phase == corev1.PodRunning && runs && a.clock.Since(start) >= Window
}

// part is one of n equal parts, in thousandths of a CPU and in bytes.
func part(of corev1.ResourceList, n int) corev1.ResourceList {
	parts := corev1.ResourceList{}
	for name, q := range of {
		if name == corev1.ResourceCPU {
			parts[name] = *resource.NewMilliQuantity(q.MilliValue()/int64(n), resource.DecimalSI)
		} else {
			parts[name] = *resource.NewQuantity(q.Value()/int64(n), resource.BinarySI)
		}
	}
	return parts
}

func (a *API) podMetrics(m measured) v1beta1.PodMetrics {
	of := v1beta1.PodMetrics{
		TypeMeta: meta("PodMetrics"), ObjectMeta: metav1.ObjectMeta{Namespace: m.pod.Namespace, Name: m.pod.Name, Labels: m.pod.Labels},
		Timestamp: metav1.NewTime(a.clock.Now()), Window: metav1.Duration{Duration: Window},
	}
	for _, c := range m.pod.Spec.Containers {
		of.Containers = append(of.Containers, v1beta1.ContainerMetrics{Name: c.Name, Usage: part(m.use, len(m.pod.Spec.Containers))})
	}
	return of
}

func meta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: v1beta1.SchemeGroupVersion.String()}
}
