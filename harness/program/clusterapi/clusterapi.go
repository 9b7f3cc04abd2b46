// Package clusterapi brings a Cluster API release into a world: its core
// controllers with CRDs, RBAC and webhooks as its own kustomization has them, and
// in place of a cloud's providers one of ours, whose machines are instances of a
// fake cloud.
//
//	MachineDeployment ─▶ Machine ─▶ NodestormMachine ─▶ fakecloud.Instance
//	        (the release)              (Provider)              │ harness/cloud/machines
//	            nodeRef ◀──────────── Node ◀───────────────────┘
//
// The world's API server is management and workload cluster in one, unless there is a
// management cluster of its own: then Cluster API, its objects and our providers are
// there, and the nodes in the world's. The workload cluster's control plane belongs to no
// Machine: a NodestormControlPlane says that others look after it, as hosted control
// planes do.
package clusterapi

import (
	"context"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/machine/node"
)

// Name is the component's.
const Name = "cluster-api"

// Kind is Cluster API.
var Kind = deploy.Kind{
	Name: Name, CheckBeside: checkVersion, CheckUpgrade: checkUpgrade, Objects: itsObjects, Sentences: sentences, Way: &Needed,
	Breaks: []scene.Breakable{{List: Faults, Need: Needed, Of: func(s *scene.Scene) fault.Injector { return scene.ProgramOf[Program](s) }}},
}

// account is what the release's Deployment runs as.
var account = deploy.Account{Namespace: "capi-system", Name: "capi-manager"}

// Config says what to bring up. World and Target are required.
type Config struct {
	World  *world.World
	Target builds.Target
	// Management is the cluster in which Cluster API runs; nil is the world's own.
	Management *world.Cluster
	// Seed is what all randomness of the cloud derives from.
	Seed uint64
	// Types are instance types that the cloud has in addition to its own.
	Types []fakecloud.ServerType
	// Containers are what the machines are; nil: simulated.
	Containers machines.Containers
	// Profile is that of the machines' nodes; nil is the default one.
	Profile func(fakecloud.Instance) node.Profile
	// Variables are those of clusterctl that are not to have the release's defaults.
	Variables map[string]string
	// Broken has the controllers' calls to the management cluster's API server go by way of a
	// fault proxy, see [ClusterAPI.Way].
	Broken bool
	// Args are given to the controllers in addition to those that the release's Deployment has,
	// and win over them: "--machine-concurrency=50".
	Args []string
}

// ClusterAPI is one release in one world.
type ClusterAPI struct {
	cfg    Config
	client client.Client // of the management cluster
	// objects are what the release has beside its Deployment, and args those of its container.
	objects []*unstructured.Unstructured
	args    []string
	hooks   deploy.Webhooks
	way     deploy.APIAccess

	cloud    *fakecloud.Cloud
	provider *Provider
}

// Install puts the release's CRDs, RBAC and webhooks into the management cluster, and
// our providers' CRDs. Nothing runs yet: see Start.
func Install(ctx context.Context, cfg Config) (*ClusterAPI, error) {
	if cfg.Management == nil {
		cfg.Management = cfg.World.Cluster
	}
	c, err := client.New(cfg.Management.Admin(), client.Options{})
	if err != nil {
		return nil, err
	}
	hooks, err := deploy.NewWebhooks(cfg.Management, cfg.World.Dir(), "webhooks")
	if err != nil {
		return nil, err
	}
	a := &ClusterAPI{cfg: cfg, client: c, hooks: hooks}
	if err := a.readRelease(); err != nil {
		return nil, err
	}
	ours, err := manifest.Decode(crds)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(a.objects, ours)
	if err := deploy.Create(ctx, c, all...); err != nil {
		return nil, fmt.Errorf("installing %s: %w", cfg.Target.Ref, err)
	}
	return a, a.awaitCRDs(ctx, all)
}

// readRelease has the objects and the controllers' arguments be those of the release's kustomization.
func (a *ClusterAPI) readRelease() error {
	t := a.cfg.Target
	rendered, err := render(kustomization(t), a.cfg.Variables)
	if err != nil {
		return fmt.Errorf("rendering the kustomization of %s: %w", t.Ref, err)
	}
	a.objects, a.args = nil, nil
	for _, o := range rendered {
		switch o.GetKind() {
		case "Certificate", "Issuer", "Service": // stand-ins for them are in deploy.Webhooks
			continue
		case "Deployment":
			if a.args, err = containerArgs(o); err != nil {
				return fmt.Errorf("reading the Deployment of %s: %w", t.Ref, err)
			}
			continue
		}
		if err := a.hooks.Redirect(o); err != nil {
			return fmt.Errorf("redirecting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		a.objects = append(a.objects, o)
	}
	if a.args == nil {
		return fmt.Errorf("the kustomization of %s has no Deployment", t.Ref)
	}
	return nil
}

// Start runs the controllers and waits until they and their webhooks are ready.
// Virtual time passes as real time does until then.
func (a *ClusterAPI) Start(ctx context.Context) (p *process.Process, err error) {
	if a.way, err = account.Reach(a.cfg.Management, a.cfg.Broken, nil); err != nil {
		return nil, err
	}
	spec, err := a.spec()
	if err != nil {
		return nil, err
	}
	return a.cfg.World.StartComponent(ctx, spec)
}

// spec is how the release is started.
func (a *ClusterAPI) spec() (spec process.Spec, err error) {
	health, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	return container.Program(a.cfg.World, a.cfg.Target, container.Settings{}, process.Spec{
		Name: Name,
		Args: slices.Concat(outsideArgs(a.args), a.cfg.Args, []string{
			"--kubeconfig=" + a.way.Kubeconfig,
			"--webhook-port=" + fmt.Sprint(a.hooks.Port),
			"--webhook-cert-dir=" + a.hooks.Dir,
			fmt.Sprintf("--health-addr=127.0.0.1:%d", health),
			"--diagnostics-address=0", // metrics, which nothing asks for
		}),
		Lines: panics(a.cfg.World.History()),
		Env:   []string{"POD_NAMESPACE=" + account.Namespace, "POD_NAME=capi-controller-manager", "POD_UID="},
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	}), nil
}

// Way is the controllers' way to the API server where that can be broken, or nil.
func (a *ClusterAPI) Way() *apifault.Proxy { return a.way.Proxy }

// Start brings a release up in a world: a fake cloud whose instances become nodes, the
// controllers, our providers, and a cluster that is initialized. All of it ends with
// the world.
func Start(ctx context.Context, cfg Config) (*ClusterAPI, error) {
	a, err := Install(ctx, cfg)
	if err != nil {
		return nil, err
	}
	on := machines.Setting{World: cfg.World, Seed: cfg.Seed, Types: cfg.Types, Containers: cfg.Containers, Profile: cfg.Profile}
	if a.cloud, err = machines.Start(on, fakecloud.Config{Catalogue: fakecloud.Hetzner(), GroupLabel: groupLabel}, ""); err != nil {
		return nil, err
	}
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

// Management is the cluster in which Cluster API runs.
func (a *ClusterAPI) Management() *world.Cluster { return a.cfg.Management }

func (a *ClusterAPI) startProvider(ctx context.Context) error {
	ctx, cancel := a.cfg.World.Alive(ctx)
	defer cancel(nil)
	w := a.cfg.World
	path, err := w.Kubeconfig(Name+"-remote", "system:masters")
	if err != nil {
		return err
	}
	kubeconfig, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	a.provider, err = StartProvider(ctx, ProviderConfig{
		Client: a.cfg.Management.Admin(), Clock: w.Clock(), Cloud: a.cloud, Kubeconfig: kubeconfig, Workload: w.Admin().Host,
		History: w.History(), Seed: a.cfg.Seed,
	})
	if err != nil {
		return err
	}
	w.OnStop(a.provider.Close)
	return nil
}

// Inject arms a fault of the infrastructure or bootstrap provider.
func (a *ClusterAPI) Inject(f fault.Fault) error { return a.provider.Inject(f) }

// Clear ends one.
func (a *ClusterAPI) Clear(name string) error { return a.provider.Clear(name) }

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(Namespace)
	o.SetName(name)
	return o
}
