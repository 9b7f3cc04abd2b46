package karpenter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/node"
)

var sentences = []deploy.Sentences{
	{Thens: then.NodeClaims, Sentences: scene.Sentences{
		Worlds: "Karpenter", Records: "calls to the API server (api), Karpenter's log (log), simulated nodes (node)",
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `Karpenter`, Check: starts, Act: deployAlone},
			{Role: scene.Given, Words: `Karpenter with the flags:`, Table: true,
				Wants: scene.WantsFlags, Check: scene.WithFlags(starts), Act: withFlags},
			{Role: scene.Given, Words: `Karpenter with a NodePool "NAME"`, Check: starts, Act: withPool},
		},
	}},
	{Sentences: scene.Sentences{
		Worlds: "Karpenter, with real kubelets", Records: "kubelets (node), faults of them (fault)",
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `machines with kubelets that register DURATION after their launch and have a network DURATION later`,
				Needs: []scene.Need{scene.Kubelet}, Act: machinesWithKubelets},
		},
	}},
}

// starts notes that Karpenter runs, with its kinds, and finds a scenario with groups that it knows nothing of.
func starts(f *scene.Feature, _ words.Args) error {
	f.Owed = append(f.Owed, func(f *scene.Feature) error {
		// mutant: Karpenter may have node groups
		if f.Grouped {
			return errors.New(`Karpenter has no node groups: leave them out, or say "Cluster Autoscaler" in its place`)
		}
		return nil
	})
	f.Brings(Name)
	if f.Runs[builds.KarpenterAWS] { // which an AWS region has noted
		return f.Starts(builds.KarpenterAWS)
	}
	return f.Starts(Name)
}

func deployAlone(ctx context.Context, s *scene.Scene, _ words.Args) error {
	_, err := deployInScene(ctx, s)
	return err
}

func withFlags(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Flags, err = scene.Flags(a.Table); err != nil {
		return err
	}
	return deployAlone(ctx, s, a)
}

func withPool(ctx context.Context, s *scene.Scene, a words.Args) error {
	k, err := deployInScene(ctx, s)
	if err != nil {
		return err
	}
	return k.CreatePool(ctx, Pool{
		Name: a.Text(0), InstanceTypes: []string{"c-4x-amd64-linux"}, RegistrationDelay: s.Boots.Register, // 4 CPUs, 8 GiB
	})
}

func deployInScene(ctx context.Context, s *scene.Scene) (k inScene, err error) {
	on, has := s.Cloud.(Cloud)
	if provider := s.Rig.Target.Provider; !has && cloud.Implied(provider) {
		if err := clouds.Named(provider).Start(ctx, s); err != nil {
			return k, err
		}
		on, _ = s.Cloud.(Cloud)
	}
	first, err := s.FirstRelease()
	if err != nil {
		return k, err
	}
	if k.Karpenter, err = Install(ctx, s.World, first, on, Settings{s.Settings.Env, s.Settings.Flags}); err != nil {
		return k, err
	}
	s.Target = k
	s.Run(Name, k)
	k.Registers = s.Boots.Register
	if s.Settings.Replicas > 0 {
		k.Replicas = s.Settings.Replicas
	}
	return k, k.Start(ctx, s.Broken(), s.Rules...)
}

// inScene is the Karpenter of a scenario.
type inScene struct{ *Karpenter }

// Prepare has node classes be those of the cloud, and "machines that register …" hold for classes that say nothing else.
func (k inScene) Prepare(s *scene.Scene, o *unstructured.Unstructured) error {
	k.Adapt(o)
	if o.GroupVersionKind().GroupKind() != ClassKind || s.Boots.Register == 0 || !k.delays {
		return nil
	}
	if _, said, _ := unstructured.NestedString(o.Object, "spec", "nodeRegistrationDelay"); said {
		return nil
	}
	return unstructured.SetNestedField(o.Object, s.Boots.Register.String(), "spec", "nodeRegistrationDelay")
}

// Stored has classes be ready whose step does not say how they are.
func (k inScene) Stored(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GroupVersionKind().GroupKind() != ClassKind || o.Object["status"] != nil {
		return nil
	}
	return k.MakeReady(ctx, o.GetName())
}

// Settled waits for NodePools.
func (k inScene) Settled(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GroupVersionKind().GroupKind() != PoolKind {
		return nil
	}
	return k.AwaitPool(ctx, o.GetName())
}

func machinesWithKubelets(_ context.Context, s *scene.Scene, a words.Args) error {
	after := a.Duration(1)
	s.Boots.Register, s.Boots.RealLaunched, s.Boots.Profile.ReadyDelay = a.Duration(0), true, after
	Kubelets(s.World, s.Kubelets, func() kubelet.Machine {
		return kubelet.Machine{Cores: 4, Memory: 8 * kubelet.GiB, NetworkDelay: after}
	})
	return nil
}

// adopts has Nodes of the provider kwok be simulated machines, where they have no kubelets.
func adopts(s *scene.Scene, n *corev1.Node) (node.Profile, bool) {
	if s.Boots.RealLaunched {
		return node.Profile{}, false
	}
	return Machines(s.Boots.Next)(n)
}

// itsObjects are NodePools and what belongs to them, and CapacityBuffers, of releases that have them.
func itsObjects(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	switch group := kind.Group; {
	case strings.HasPrefix(group, "karpenter.k8s."):
		return true, fmt.Errorf("the cloud of the world's Karpenter is kwok: want kind KWOKNodeClass of karpenter.kwok.sh/v1alpha1 "+
			"in place of %s of %s, or \"an AWS region\" before", kind.Kind, kind.GroupVersion())
	case group == "autoscaling.x-k8s.io":
		return runs, nil
	case (group == PoolKind.Group || strings.HasPrefix(group, "karpenter.")) && !runs:
		return true, deploy.NoKind(kind, `say "Given Karpenter" before`)
	default:
		return group == PoolKind.Group || strings.HasPrefix(group, "karpenter."), nil
	}
}
