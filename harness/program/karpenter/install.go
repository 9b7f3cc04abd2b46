// Package karpenter brings a Karpenter release into a world as its own chart
// would: CRDs, namespace, RBAC and the container's environment come from the
// files of the release under test, and the process has the rights of its service
// account, no more.
//
// The cloud behind it is the kwok provider that is linked into the release: it
// makes Node objects, and the world's simulated nodes stand in for the kubelets.
// Or it is a Cloud, whose instances become nodes or do not, and the release is linked
// with a provider for it: one of ours, or that of AWS, with which Karpenter comes as a
// release of its own, see edition.
package karpenter

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// Name of the release, the namespace and the service account.
const Name = "karpenter"

// edition is where a release has its files, which are its own for each cloud that it comes with.
type edition struct {
	crds  []string
	chart string
}

// editions are those that there are, by what builds are called.
var editions = map[string]edition{
	Name:                {[]string{"pkg/apis/crds", "kwok/apis/crds"}, "kwok/charts"},
	builds.KarpenterAWS: {[]string{"pkg/apis/crds"}, "charts/karpenter"},
}

//go:embed registration.yaml
var registration []byte

// Karpenter is one release in one world.
type Karpenter struct {
	deploy.Leader

	world  *world.World
	target builds.Target
	client client.Client
	env    []string // of the container, as the chart and the scenario set it
	set    []manifest.Variable
	flags  []string // of the scenario, as set is
	rights []*unstructured.Unstructured
	way    deploy.APIAccess
	hooks  webhooks
	cloud  Cloud // nil: that of the provider kwok
	delays bool  // the node classes of kwok can say how long a machine takes to register
	// Registers is from a machine's launch to its registration, where the cloud is that of the provider kwok and its
	// release cannot say so; zero: at once. It counts before Start.
	Registers time.Duration
	// Replicas are how many processes there are, one unless it says more. It counts before Start.
	Replicas   int
	deployment *unstructured.Unstructured // of the release's chart

	mu    sync.Mutex
	ports map[string]ports
}

// Cloud is one whose provider is linked into a release, and which has node classes of its own.
type Cloud interface {
	// Environment says where it is, and Values are those of the release's chart that have to be set for it.
	Environment() []string
	Values() map[string]any
	// CRDs are those of its node classes, and Rights what Karpenter may do with them; none if the release brings them.
	CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error)
	Rights() ([]*unstructured.Unstructured, error)
	// Adapt has objects that speak of node classes of another kind speak of its own.
	Adapt(o *unstructured.Unstructured, from schema.GroupKind)
}

// ports are those of a process.
type ports struct {
	metrics, webhook int
}

// Settings of the scenario for the controller: variables beside those of the release's chart or in their place, and flags as on a
// command line.
type Settings struct {
	Env   []manifest.Variable
	Flags []string
}

// Install puts the release's CRDs, namespace and RBAC into the world. The
// controller does not run yet: see Start. A build with the provider of a cloud wants that, others nil.
func Install(ctx context.Context, w *world.World, t builds.Target, cloud Cloud, of Settings) (*Karpenter, error) {
	c, err := client.New(w.Admin(), client.Options{})
	if err != nil {
		return nil, err
	}
	k := &Karpenter{
		Leader: deploy.Leader{World: w, Program: Name}, world: w, target: t, client: c, cloud: cloud,
		Replicas: 1, ports: map[string]ports{}, set: of.Env, flags: of.Flags,
	}
	if err := k.readChart(); err != nil {
		return nil, err
	}
	if err := k.installCRDs(false); err != nil {
		return nil, err
	}
	create, err := k.ofCloud()
	if err != nil {
		return nil, err
	}
	create = slices.Concat(create, k.rights, k.hooks.objects, []*unstructured.Unstructured{deploy.Namespace(Name)})
	if err := deploy.Create(ctx, c, create...); err != nil {
		return nil, fmt.Errorf("installing %s: %w", t.Ref, err)
	}
	if cloud == nil {
		w.History().Record(prices(instanceapi.Catalogue()))
	}
	return k, nil
}

// readChart has the controller's environment and its rights be those of the release's chart.
func (k *Karpenter) readChart() error {
	values := map[string]any{}
	if k.cloud != nil {
		values = k.cloud.Values()
	}
	objects, err := render(k.target.Asset(k.edition().chart), values, !k.webhooksOff())
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", k.target.Ref, err)
	}
	k.env, k.rights = nil, nil
	for _, o := range objects {
		if o.GetKind() == "Deployment" {
			k.deployment = o
			if k.env, err = containerEnv(o); err != nil {
				return fmt.Errorf("reading the Deployment of %s: %w", k.target.Ref, err)
			}
		}
		if deploy.Rights(o) {
			k.rights = append(k.rights, o)
		}
	}
	if k.env == nil {
		return fmt.Errorf("the chart of %s has no Deployment", k.target.Ref)
	}
	k.setVariables()
	return k.serveWebhooks(objects)
}

func (k *Karpenter) edition() edition { return editions[k.target.Name] }

// prices is the record of what the types of the provider kwok cost, which is linked into Karpenter and has no cloud that could
// say so. Those of the cloud of instances are called as its own and cost the same, in all zones.
func prices(of *fakecloud.Catalogue) history.Event {
	onDemand, spot := map[string]any{}, map[string]any{}
	for _, t := range of.ServerTypes {
		onDemand[t.Name], spot[t.Name] = t.Prices[0].Hourly(), t.Prices[0].SpotHourly()
	}
	return history.Event{Source: history.Harness, Verb: history.Prices, Actor: "nodestorm",
		Detail: history.Detail{"currency": of.Currency, "onDemand": onDemand, "spot": spot}}
}

// installCRDs brings those of the release. Those that are refused may stay as they are.
func (k *Karpenter) installCRDs(unlessRefused bool) (err error) {
	crds := envtest.CRDInstallOptions{ErrorIfPathMissing: true, PollInterval: 10 * time.Millisecond} // real: time may jump in between
	for _, path := range k.crdPaths() {
		crds.Paths = append(crds.Paths, k.target.Asset(path))
	}
	if k.cloud != nil {
		if crds.CRDs, err = k.cloud.CRDs(); err != nil {
			return err
		}
	}
	if err := envtest.ReadCRDFiles(&crds); err != nil {
		return fmt.Errorf("reading the CRDs of %s: %w", k.target.Ref, err)
	}
	crds.Paths = nil // they are read
	if k.hasWebhooks() {
		redirect(crds.CRDs, k.hooks.service.Port())
	}
	if unlessRefused {
		if crds, err = k.withoutRefused(crds); err != nil {
			return err
		}
	}
	installed, err := envtest.InstallCRDs(k.world.Admin(), crds)
	if err != nil {
		return fmt.Errorf("installing the CRDs of %s: %w", k.target.Ref, err)
	}
	k.delays = slices.ContainsFunc(installed, delaysRegistration)
	return nil
}

// withoutRefused are the CRDs that the API server takes, each of which it is asked for, as Helm does it.
func (k *Karpenter) withoutRefused(crds envtest.CRDInstallOptions) (envtest.CRDInstallOptions, error) {
	taken := envtest.CRDInstallOptions{PollInterval: crds.PollInterval}
	for _, crd := range crds.CRDs {
		switch err := envtest.CreateCRDs(k.world.Admin(), []*apiextensionsv1.CustomResourceDefinition{crd}); {
		case err == nil:
			taken.CRDs = append(taken.CRDs, crd)
		case !apierrors.IsInvalid(err):
			return crds, fmt.Errorf("installing the CRDs of %s: %w", k.target.Ref, err)
		}
	}
	return taken, nil
}

// delaysRegistration reports whether a CRD is that of kwok's node classes, and has the field for it.
func delaysRegistration(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Group == ClassKind.Group && slices.ContainsFunc(crd.Spec.Versions,
		func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				return false
			}
			_, has := v.Schema.OpenAPIV3Schema.Properties["spec"].Properties["nodeRegistrationDelay"]
			return has
		})
}

// ofCloud are objects that the cloud asks for: what mends the Nodes of the provider kwok, or Karpenter's rights on what
// another cloud has of its own.
func (k *Karpenter) ofCloud() ([]*unstructured.Unstructured, error) {
	if k.cloud != nil {
		return k.cloud.Rights()
	}
	policies, err := manifest.Decode(registration)
	for _, o := range policies {
		o.SetAPIVersion(k.world.Policies())
	}
	return policies, err
}

// Adapt has an object that speaks of the node classes of the provider kwok speak of those of the cloud, if there is one.
func (k *Karpenter) Adapt(o *unstructured.Unstructured) {
	if k.cloud != nil {
		k.cloud.Adapt(o, ClassKind)
	}
}

// Settings are the controller's command line and environment, but for what says where it is.
func (k *Karpenter) Settings() []string { return slices.Concat(k.flags, k.env) }

// render is the chart's objects, with the webhooks that releases before v1.1 have or without.
func render(dir string, of map[string]any, webhooks bool) ([]*unstructured.Unstructured, error) {
	values := map[string]any{"webhook": map[string]any{"enabled": webhooks}}
	maps.Copy(values, of)
	return deploy.Chart(dir, Name, Name, values)
}

// containerEnv is the environment of the Deployment's first container, as far as
// it does not depend on where the pod runs.
func containerEnv(o *unstructured.Unstructured) ([]string, error) {
	c, err := deploy.Container(o)
	if err != nil {
		return nil, err
	}
	env := []string{}
	for _, v := range c.Env {
		switch {
		case v.ValueFrom == nil && v.Name == "FEATURE_GATES":
			env = append(env, v.Name+"="+settled(v.Value))
		case v.ValueFrom == nil:
			env = append(env, v.Name+"="+v.Value)
		case v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == "metadata.namespace":
			env = append(env, v.Name+"="+Name)
		}
	}
	return env, nil
}

// settled leaves out the gates that have no value: the kwok charts of later releases name some
// that their values have not, and Karpenter ends because of them.
func settled(gates string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(gates, ","), func(gate string) bool {
		return strings.HasSuffix(gate, "=")
	}), ",")
}

// outsideEnv is what a process outside a pod needs in place of the pod's.
func outsideEnv(kubeconfig string, metrics, health int) []string {
	return []string{
		"KUBECONFIG=" + kubeconfig,
		fmt.Sprintf("METRICS_PORT=%d", metrics),
		fmt.Sprintf("HEALTH_PROBE_PORT=%d", health),
		"LEADER_ELECTION_NAMESPACE=" + Name,
	}
}
