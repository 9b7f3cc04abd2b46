package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/sim/history"
)

// Groups and versions of our kinds, and of the release's that we look at: v1beta1
// is served by v1.9 and, converted, by later ones.
const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	bootstrap      = "bootstrap.cluster.x-k8s.io"
	controlPlane   = "controlplane.cluster.x-k8s.io"
	core           = "cluster.x-k8s.io"
	version        = "v1beta1"
)

// kind is what the provider watches.
type kind struct{ group, resource string }

func (k kind) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.group, Version: version, Resource: k.resource}
}

var (
	clusters      = kind{infrastructure, "nodestormclusters"}
	infraMachines = kind{infrastructure, "nodestormmachines"}
	templates     = kind{infrastructure, "nodestormmachinetemplates"}
	configs       = kind{bootstrap, "nodestormconfigs"}
	controlPlanes = kind{controlPlane, "nodestormcontrolplanes"}
	owners        = kind{core, "machines"}
	infraPools    = kind{infrastructure, "nodestormmachinepools"}
	pools         = kind{core, "machinepools"}
)

// agent is how the provider calls itself, and deploymentLabel is Cluster API's on the
// machines of a MachineDeployment.
const (
	agent           = "nodestorm-provider"
	deploymentLabel = core + "/deployment-name"
)

// ProviderConfig says what a Provider works with. All but History and Workers are
// required.
type ProviderConfig struct {
	// Client has all rights in the management cluster.
	Client *rest.Config
	Clock  clock.WithTicker
	Cloud  *fakecloud.Cloud
	// Kubeconfig is how Cluster API reaches the workload cluster, and Workload the
	// address of its API server, which machines join.
	Kubeconfig []byte
	Workload   string
	// History gets the records of faults. Nil means that they are not recorded.
	History history.Recorder
	// Seed is what the probabilities of faults are drawn from.
	Seed uint64
	// Workers is how many objects are reconciled at once; zero means 10, Cluster
	// API's own default.
	Workers int
}

// Provider makes the instances of NodestormMachines, hands out user data, and says
// that the cluster and its control plane are there, until Close. It is level based,
// as real providers are: each change of an object or of its instance has the object
// looked at anew.
type Provider struct {
	cfg      ProviderConfig
	client   dynamic.Interface
	factory  dynamicinformer.DynamicSharedInformerFactory
	informer map[kind]cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[request]
	ctx      context.Context // ends with the provider
	cancel   context.CancelFunc
	stop     func() // watching the cloud
	running  sync.WaitGroup
	faults   faults
	made     atomic.Int64 // instances of pools, for their names

	mu   sync.Mutex
	last map[request]error // of objects whose last look failed
}

// request is an object to look at.
type request struct {
	kind            kind
	namespace, name string
}

// retryAfter is how long, in virtual time, the provider waits after a failure, as
// long as providers of real clouds do after most.
const retryAfter = 5 * time.Second

// StartProvider returns when the provider sees the objects that are there, or when ctx
// ends.
func StartProvider(ctx context.Context, cfg ProviderConfig) (*Provider, error) {
	if cfg.Workers == 0 {
		cfg.Workers = 10
	}
	if cfg.History == nil {
		cfg.History = history.Discard()
	}
	rc := rest.CopyConfig(cfg.Client)
	rc.UserAgent, rc.QPS = agent, -1
	client, err := dynamic.NewForConfig(rc)
	if err != nil {
		return nil, err
	}
	p := &Provider{cfg: cfg, client: client, informer: map[kind]cache.SharedIndexInformer{}, last: map[request]error{}}
	p.queue = workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[request](retryAfter, retryAfter),
		workqueue.TypedRateLimitingQueueConfig[request]{Clock: cfg.Clock})
	run, cancel := context.WithCancel(context.Background())
	p.ctx, p.cancel = run, cancel
	p.factory = dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, k := range []kind{clusters, infraMachines, templates, configs, controlPlanes, owners, infraPools, pools} {
		p.informer[k] = p.factory.ForResource(k.gvr()).Informer()
		_, err := p.informer[k].AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { p.enqueue(k, o) },
			UpdateFunc: func(_, o any) { p.enqueue(k, o) },
		})
		if err != nil {
			cancel()
			return nil, err
		}
	}
	p.factory.Start(run.Done())
	for gvr, synced := range p.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			cancel()
			p.factory.Shutdown()
			return nil, fmt.Errorf("starting the provider: %s cannot be listed: %w", gvr.Resource, context.Cause(ctx))
		}
	}
	p.stop = cfg.Cloud.Watch(func(c fakecloud.Change) {
		for label, k := range map[string]kind{machineLabel: infraMachines, poolLabel: infraPools} {
			if namespace, name, ok := strings.Cut(c.Instance.Labels[label], "/"); ok {
				p.queue.Add(request{k, namespace, name})
			}
		}
	})
	for range cfg.Workers {
		p.running.Go(func() { p.work(run) })
	}
	return p, nil
}

// Close ends the provider; its instances stay. It returns what was still failing.
func (p *Provider) Close() error {
	p.stop()
	p.cancel()
	p.queue.ShutDown()
	p.running.Wait()
	p.factory.Shutdown()
	var errs []error
	for _, err := range p.last {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// enqueue has an object looked at; of a Machine or a MachinePool of Cluster API's the
// two that were made for it.
func (p *Provider) enqueue(k kind, o any) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	switch k {
	case owners:
		p.queue.Add(request{infraMachines, u.GetNamespace(), text(u, "spec", "infrastructureRef", "name")})
		p.queue.Add(request{configs, u.GetNamespace(), text(u, "spec", "bootstrap", "configRef", "name")})
		return
	case pools:
		p.queue.Add(request{infraPools, u.GetNamespace(), text(u, "spec", "template", "spec", "infrastructureRef", "name")})
		p.queue.Add(request{configs, u.GetNamespace(), text(u, "spec", "template", "spec", "bootstrap", "configRef", "name")})
		return
	}
	p.queue.Add(request{k, u.GetNamespace(), u.GetName()})
}

func (p *Provider) work(ctx context.Context) {
	for {
		r, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		err := p.reconcile(ctx, r)
		p.mu.Lock()
		delete(p.last, r)
		if err != nil && ctx.Err() == nil {
			p.last[r] = fmt.Errorf("reconciling %s %s/%s: %w", r.kind.resource, r.namespace, r.name, err)
		}
		p.mu.Unlock()
		if err != nil {
			p.queue.AddRateLimited(r)
		} else {
			p.queue.Forget(r)
		}
		p.queue.Done(r)
	}
}

func (p *Provider) reconcile(ctx context.Context, r request) error {
	u := p.lookup(r.kind, r.namespace, r.name)
	if u == nil {
		return nil
	}
	switch r.kind {
	case clusters:
		return p.cluster(ctx, u)
	case controlPlanes:
		return p.controlPlane(ctx, u)
	case templates:
		return p.template(ctx, u)
	case configs:
		return p.config(ctx, u)
	case infraMachines:
		return p.machine(ctx, u)
	case infraPools:
		return p.pool(ctx, u)
	}
	return nil
}

// owner is the Machine or MachinePool that an object was made for; nil until Cluster
// API has adopted it.
func (p *Provider) owner(u *unstructured.Unstructured) *unstructured.Unstructured {
	ref := metav1.GetControllerOf(u)
	if ref == nil {
		return nil
	}
	k := owners
	if ref.Kind == "MachinePool" {
		k = pools
	}
	return p.lookup(k, u.GetNamespace(), ref.Name)
}

// lookup returns a copy of what the provider has seen, nil for nothing.
func (p *Provider) lookup(k kind, namespace, name string) *unstructured.Unstructured {
	o, found, _ := p.informer[k].GetStore().GetByKey(namespace + "/" + name)
	if u, ok := o.(*unstructured.Unstructured); ok && found {
		return u.DeepCopy()
	}
	return nil
}

func text(u *unstructured.Unstructured, at ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, at...)
	return s
}
