package sentences

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/cloud"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// startsKarpenter notes that Karpenter runs, with its kinds.
func startsKarpenter(f *scene.Feature, _ words.Args) error {
	f.Started = true
	runs(f, karpenter.Name)
	return nil
}

// runs notes that a program runs which has kinds of its own.
func runs(f *scene.Feature, name string) {
	if f.Runs == nil {
		f.Runs = map[string]bool{}
	}
	f.Runs[name] = true
}

func karpenterAlone(ctx context.Context, s *scene.Scene, _ words.Args) error {
	_, err := startKarpenter(ctx, s)
	return err
}

func karpenterWithFlags(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Flags, err = flagsOf(a.Table); err != nil {
		return err
	}
	return karpenterAlone(ctx, s, a)
}

func karpenterWithPool(ctx context.Context, s *scene.Scene, a words.Args) error {
	k, err := startKarpenter(ctx, s)
	if err != nil {
		return err
	}
	return k.CreatePool(ctx, karpenter.Pool{
		Name: a.Text(0), InstanceTypes: []string{"c-4x-amd64-linux"}, RegistrationDelay: s.Boots.Register, // 4 CPUs, 8 GiB
	})
}

func startKarpenter(ctx context.Context, s *scene.Scene) (k karpenterProgram, err error) {
	on, has := s.Cloud.(karpenter.Cloud)
	if provider := s.Rig.Target.Provider; !has && cloud.Implied(provider) {
		if err := clouds.Named(provider).Start(ctx, s); err != nil {
			return k, err
		}
		on, _ = s.Cloud.(karpenter.Cloud)
	}
	if k.Karpenter, err = karpenter.Install(ctx, s.World, s.Rig.Target, on); err != nil {
		return k, err
	}
	s.Target = k
	s.Run(karpenter.Name, k)
	k.Set(s.Settings.Env, s.Settings.Flags)
	_, err = k.Start(ctx, s.Broken(), s.Rules...)
	return k, err
}

// karpenterProgram is the Karpenter of a scenario.
type karpenterProgram struct{ *karpenter.Karpenter }

// Prepare has node classes be those of the cloud, and "machines that register …" hold for classes that say nothing else, and can.
func (k karpenterProgram) Prepare(s *scene.Scene, o *unstructured.Unstructured) error {
	k.Adapt(o)
	if o.GroupVersionKind().GroupKind() != karpenter.ClassKind || s.Boots.Register == 0 || !k.DelaysRegistration() {
		return nil
	}
	if _, said, _ := unstructured.NestedString(o.Object, "spec", "nodeRegistrationDelay"); said {
		return nil
	}
	return unstructured.SetNestedField(o.Object, s.Boots.Register.String(), "spec", "nodeRegistrationDelay")
}

// Stored has classes be ready whose step does not say how they are.
func (k karpenterProgram) Stored(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GroupVersionKind().GroupKind() != karpenter.ClassKind || o.Object["status"] != nil {
		return nil
	}
	return k.MakeReady(ctx, o.GetName())
}

// Settled waits for NodePools.
func (k karpenterProgram) Settled(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GroupVersionKind().GroupKind() != karpenter.PoolKind {
		return nil
	}
	return k.AwaitPool(ctx, o.GetName())
}
