// Package instances puts a cloud of instances into a world: those that a provider of Karpenter's launches one by one,
// which is fakecloud/adapters/karpenter, linked into a release. It has node classes of its own, that are objects.
package instances

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/fakecloud/jsonapi"
	"nodestorm/fakecloud/loopback"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
)

// Name is what builds call it that have its provider.
const Name = "instances"

// Class is the kind of the cloud's node classes.
var Class = schema.GroupVersionKind{Group: "karpenter.nodestorm.sim", Version: "v1alpha1", Kind: "FakeNodeClass"}

//go:embed fakenodeclasses.yaml
var classCRD []byte

// Karpenter's rights on its node classes.
//
//go:embed rights.yaml
var rights []byte

// Cloud is one that is being served.
type Cloud struct {
	*fakecloud.Cloud
	scene.NoGroups
	server *loopback.Server
	token  string
}

// Start makes a cloud without instances. It ends with the world.
func Start(ctx context.Context, s machines.Setting) (*Cloud, error) {
	cloud, err := machines.Start(s, fakecloud.Config{
		Catalogue: instanceapi.Catalogue(), GroupLabel: "karpenter.sh/nodepool", CheckFault: instanceapi.API.CheckFault,
		Durations: instanceapi.Durations(),
	}, "/latest/meta-data/")
	if err != nil {
		return nil, err
	}
	c := &Cloud{Cloud: cloud, token: rand.Text()}
	if c.server, err = instanceapi.API.Serve(context.WithoutCancel(ctx), jsonapi.Config{Cloud: cloud, Token: c.token}); err != nil {
		return nil, fmt.Errorf("serving the cloud: %w", err)
	}
	s.World.OnStop(c.server.Close)
	return c, nil
}

// Environment says where the cloud is.
func (c *Cloud) Environment() []string {
	return []string{"INSTANCES_ENDPOINT=" + c.server.URL(), "INSTANCES_TOKEN=" + c.token}
}

// Values of the chart say nothing of the cloud.
func (*Cloud) Values() map[string]any { return nil }

// CRDs are those of the node classes.
func (c *Cloud) CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(classCRD, crd); err != nil {
		return nil, err
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd}, nil
}

// Rights are what Karpenter may do with them.
func (c *Cloud) Rights() ([]*unstructured.Unstructured, error) { return manifest.Decode(rights) }

// Adapt has objects that speak of node classes of another provider speak of those of the cloud: then what is written for
// one is played on both.
func (c *Cloud) Adapt(o *unstructured.Unstructured, from schema.GroupKind) {
	if o.GroupVersionKind().GroupKind() == from {
		o.SetGroupVersionKind(Class)
		unstructured.RemoveNestedField(o.Object, "spec", "nodeRegistrationDelay")
	}
	for _, path := range [][]string{{"spec", "nodeClassRef"}, {"spec", "template", "spec", "nodeClassRef"}} {
		if ref, found, err := unstructured.NestedMap(o.Object, path...); found && err == nil && ref["kind"] == from.Kind {
			ref["group"], ref["kind"] = Class.Group, Class.Kind
			_ = unstructured.SetNestedMap(o.Object, ref, path...)
		}
	}
}
