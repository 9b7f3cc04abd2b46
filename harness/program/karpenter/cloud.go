package karpenter

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/machine/node"
)

// FakeClassKind is the kind of the classes of Cloud.
var FakeClassKind = schema.GroupKind{Group: "karpenter.nodestorm.sim", Kind: "FakeNodeClass"}

const fakeClassVersion = "karpenter.nodestorm.sim/v1alpha1"

//go:embed fakenodeclasses.yaml
var fakeClassCRD []byte

// Karpenter's rights on FakeNodeClasses.
//
//go:embed cloud.yaml
var cloudRights []byte

// OnCloud tells whether a build is linked with the provider that dials a Cloud, and needs one.
func OnCloud(t builds.Target) bool { return t.Provider == builds.Instances }

// CloudConfig is what StartCloud works with. World is required.
type CloudConfig struct {
	World *world.World
	Seed  uint64
	// Kubelets, Containers and Profile say what runs on the instances and how they behave, see join.Config.
	Kubelets   func(fakecloud.Instance) *kubelet.Machines
	Containers machines.Containers
	Profile    func(fakecloud.Instance) node.Profile
}

// Cloud is a cloud of instances that Karpenter launches one by one.
type Cloud struct {
	*fakecloud.Cloud
	server *instanceapi.Server
	token  string
}

// launchTakes is how long creating an instance takes, and as long starting it: what Karpenter waits for is
// said of the registration alone.
const launchTakes = 500 * time.Millisecond

// StartCloud makes a cloud without instances. It ends with the world.
func StartCloud(ctx context.Context, cfg CloudConfig) (*Cloud, error) {
	w := cfg.World
	cloud, err := fakecloud.New(fakecloud.Config{
		Clock: w.Clock(), Seed: cfg.Seed, Recorder: w.History(), Catalogue: instanceapi.Catalogue(), GroupLabel: "karpenter.sh/nodepool",
		Durations: map[string]time.Duration{"create_server": launchTakes, "start_server": launchTakes},
	})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { cloud.Close(); return nil })
	joined, err := machines.New(machines.Config{
		Cloud: cloud, Fleet: w.Fleet(), Kubelets: cfg.Kubelets, Containers: cfg.Containers, History: w.History(), Seed: cfg.Seed, Profile: cfg.Profile, Metadata: "/latest/meta-data/",
	})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { joined.Close(); return nil })
	c := &Cloud{Cloud: cloud, token: rand.Text()}
	if c.server, err = instanceapi.Serve(context.WithoutCancel(ctx), instanceapi.Config{Cloud: cloud, Token: c.token}); err != nil {
		return nil, fmt.Errorf("serving the cloud: %w", err)
	}
	w.OnStop(c.server.Close)
	return c, nil
}

// Inject arms a fault.
func (c *Cloud) Inject(f fault.Fault) error {
	if err := cloudfault.Check(f, instanceapi.Operations()); err != nil {
		return err
	}
	return c.Cloud.Inject(f)
}

// environment says where the cloud is.
func (c *Cloud) environment() []string {
	return []string{"INSTANCES_ENDPOINT=" + c.server.URL(), "INSTANCES_TOKEN=" + c.token}
}

// BootDelay is how long an instance takes from running to its registration, which comes so long after its
// launch.
func BootDelay(registration time.Duration) time.Duration {
	return max(registration-2*launchTakes, time.Millisecond)
}

// cloudCRDs are those of the cloud's classes.
func cloudCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(fakeClassCRD, crd); err != nil {
		return nil, err
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd}, nil
}

// ForCloud has objects that speak of the classes of the provider kwok speak of those of the cloud, if Karpenter
// is on one: then what is written for one is played on both.
func ForCloud(t builds.Target, o *unstructured.Unstructured) {
	if !OnCloud(t) {
		return
	}
	if of := o.GroupVersionKind(); of.Group == ClassKind.Group && of.Kind == ClassKind.Kind {
		o.SetAPIVersion(fakeClassVersion)
		o.SetKind(FakeClassKind.Kind)
		unstructured.RemoveNestedField(o.Object, "spec", "nodeRegistrationDelay")
	}
	for _, path := range [][]string{{"spec", "nodeClassRef"}, {"spec", "template", "spec", "nodeClassRef"}} {
		if ref, found, err := unstructured.NestedMap(o.Object, path...); found && err == nil && ref["kind"] == ClassKind.Kind {
			ref["group"], ref["kind"] = FakeClassKind.Group, FakeClassKind.Kind
			_ = unstructured.SetNestedMap(o.Object, ref, path...)
		}
	}
}
