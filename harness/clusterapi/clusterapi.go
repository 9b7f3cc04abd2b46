// Package clusterapi brings a Cluster API release into a world: its core
// controllers with CRDs, RBAC and webhooks as its own kustomization has them, and
// in place of a cloud's providers one of ours, whose machines are instances of a
// fake cloud.
//
//	MachineDeployment ─▶ Machine ─▶ NodestormMachine ─▶ fakecloud.Instance
//	        (the release)              (Provider)              │ harness/join
//	            nodeRef ◀──────────── Node ◀───────────────────┘
//
// The world's API server is management and workload cluster in one. Its control
// plane belongs to no Machine: a NodestormControlPlane says that others look after
// it, as hosted control planes do.
package clusterapi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/join"
	"nodestorm/harness/manifest"
	"nodestorm/harness/process"
	"nodestorm/harness/target"
	"nodestorm/harness/world"
)

// Name is the component's.
const Name = "cluster-api"

// account is what the release's Deployment runs as.
const (
	namespace = "capi-system"
	account   = "system:serviceaccount:" + namespace + ":capi-manager"
)

// ClusterAPI is one release in one world.
type ClusterAPI struct {
	world  *world.World
	target target.Target
	client client.Client
	args   []string // of the container, as the release sets them
	hooks  endpoint

	cloud    *fakecloud.Cloud
	provider *Provider
}

// Install puts the release's CRDs, RBAC and webhooks into the world, and our
// providers' CRDs. variables are those of clusterctl that are not to have the release's
// defaults; nil means none. Nothing runs yet: see Start.
func Install(ctx context.Context, w *world.World, t target.Target, variables map[string]string) (*ClusterAPI, error) {
	c, err := client.New(w.Admin(), client.Options{})
	if err != nil {
		return nil, err
	}
	hooks, err := newEndpoint(filepath.Join(w.Dir(), "webhooks"))
	if err != nil {
		return nil, fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	a := &ClusterAPI{world: w, target: t, client: c, hooks: hooks}
	objects, err := render(t.Asset("config/default"), variables)
	if err != nil {
		return nil, fmt.Errorf("rendering the kustomization of %s: %w", t.Ref, err)
	}
	ours, err := manifest.Decode(crds)
	if err != nil {
		return nil, err
	}
	for _, o := range append(objects, ours...) {
		switch o.GetKind() {
		case "Certificate", "Issuer", "Service": // newEndpoint's part
			continue
		case "Deployment":
			if a.args, err = containerArgs(o); err != nil {
				return nil, fmt.Errorf("reading the Deployment of %s: %w", t.Ref, err)
			}
			continue
		}
		if err := hooks.redirect(o); err != nil {
			return nil, fmt.Errorf("redirecting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("creating %s %s of %s: %w", o.GetKind(), o.GetName(), t.Ref, err)
		}
	}
	if a.args == nil {
		return nil, fmt.Errorf("the kustomization of %s has no Deployment", t.Ref)
	}
	return a, a.awaitCRDs(ctx, append(objects, ours...))
}

// Start runs the controllers and waits until they and their webhooks are ready.
// Virtual time passes as real time does meanwhile.
func (a *ClusterAPI) Start(ctx context.Context) (*process.Process, error) {
	kubeconfig, err := a.world.Kubeconfig(account, "system:serviceaccounts", "system:serviceaccounts:"+namespace, "system:authenticated")
	if err != nil {
		return nil, err
	}
	health, err := world.FreePort()
	if err != nil {
		return nil, err
	}
	return a.world.StartComponent(ctx, process.Spec{
		Name: Name,
		Path: a.target.Binary(),
		Args: append(outsideArgs(a.args),
			"--kubeconfig="+kubeconfig,
			"--webhook-port="+fmt.Sprint(a.hooks.port),
			"--webhook-cert-dir="+a.hooks.dir,
			fmt.Sprintf("--health-addr=127.0.0.1:%d", health),
			"--diagnostics-address=0", // metrics, which nobody asks for
		),
		Env:   []string{"POD_NAMESPACE=" + namespace, "POD_NAME=capi-controller-manager", "POD_UID=", "HOME=" + os.TempDir()},
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	})
}

// Up brings a release up in a world: a fake cloud whose instances become nodes, the
// controllers, our providers, and a cluster that is initialized. All of it ends with
// the world.
func Up(ctx context.Context, w *world.World, t target.Target, seed uint64, variables map[string]string) (*ClusterAPI, error) {
	a, err := Install(ctx, w, t, variables)
	if err != nil {
		return nil, err
	}
	if a.cloud, err = fakecloud.New(fakecloud.Config{Clock: w.Clock(), Seed: seed, Recorder: w.History(), GroupLabel: groupLabel}); err != nil {
		return nil, err
	}
	w.OnStop(func() error { a.cloud.Close(); return nil })
	joiner, err := join.New(join.Config{Cloud: a.cloud, Fleet: w.Fleet(), History: w.History(), Seed: seed})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { joiner.Close(); return nil })
	if _, err := a.Start(ctx); err != nil {
		return nil, err
	}
	if err := a.startProvider(ctx); err != nil {
		return nil, err
	}
	return a, a.CreateCluster(ctx)
}

// Cloud has the instances of the machines.
func (a *ClusterAPI) Cloud() *fakecloud.Cloud { return a.cloud }

func (a *ClusterAPI) startProvider(ctx context.Context) error {
	path, err := a.world.Kubeconfig(Name+"-remote", "system:masters")
	if err != nil {
		return err
	}
	kubeconfig, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	a.provider, err = StartProvider(ctx, ProviderConfig{
		Client: a.world.Admin(), Clock: a.world.Clock(), Cloud: a.cloud, Kubeconfig: kubeconfig, History: a.world.History(),
	})
	if err != nil {
		return err
	}
	a.world.OnStop(a.provider.Close)
	return nil
}

// Inject arms a fault of the infrastructure or bootstrap provider.
func (a *ClusterAPI) Inject(f Fault) error { return a.provider.Inject(f) }

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(Namespace)
	o.SetName(name)
	return o
}
