package clusterapi

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
)

// Upgrade has another release take the place of the one that runs, as clusterctl does it. The controllers end first: the CRDs of the
// other release ask its webhooks to convert what those of this one do not know. CRDs become the other release's, and all else
// that this one has is deleted before the other one's is created.
func (a *ClusterAPI) Upgrade(ctx context.Context, to builds.Target, left scene.LeftBehind) error {
	before := a.objects
	a.cfg.Target = to
	if err := a.readRelease(); err != nil {
		return err
	}
	if err := a.cfg.World.End(ctx, Name); err != nil {
		return err
	}
	for _, o := range before {
		if !replaced(o, left) {
			continue
		}
		if err := client.IgnoreNotFound(a.client.Delete(ctx, o)); err != nil {
			return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	var create, crds []*unstructured.Unstructured
	for _, o := range a.objects {
		switch {
		case deploy.IsCRD(o) && left.CRDs, deploy.Rights(o) && left.Roles:
			continue
		case deploy.IsCRD(o):
			taken, err := a.upgradeCRD(ctx, o, left.Refused)
			if err != nil {
				return err
			}
			if taken {
				crds = append(crds, o)
			}
		default:
			create = append(create, o)
		}
	}
	if err := a.awaitCRDs(ctx, crds); err != nil {
		return err
	}
	if err := deploy.Create(ctx, a.client, create...); err != nil {
		return fmt.Errorf("upgrading to %s: %w", to.Ref, err)
	}
	spec, err := a.spec()
	if err != nil {
		return err
	}
	return a.cfg.World.Replace(ctx, spec)
}

// checkUpgrade finds a CRD of which the other release lacks the version in which this one stores objects: the API server would
// refuse it.
func checkUpgrade(from, to builds.Target, left scene.LeftBehind) error {
	if err := deploy.KeepsLease(to, left); err != nil {
		return err
	}
	// mutant: a way back that CRDs forbid is found out when it is gone
	if left.CRDs || left.Refused || from.Ref == to.Ref {
		return nil
	}
	stored, err := versionsOf(from, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if err != nil {
		return err
	}
	has, err := versionsOf(to, func(apiextensionsv1.CustomResourceDefinitionVersion) bool { return true })
	if err != nil {
		return err
	}
	for _, crd := range slices.Sorted(maps.Keys(stored)) {
		for _, version := range stored[crd] {
			if there, is := has[crd]; is && !slices.Contains(there, version) {
				return fmt.Errorf("%s cannot take the place of %s: the API server refuses its CRD %s, which lacks the version %s that objects "+
					"are stored in", to.Ref, from.Ref, crd, version)
			}
		}
	}
	return nil
}

// versionsOf are the versions of a release's CRDs, by their names, of which keep holds.
func versionsOf(t builds.Target, keep func(apiextensionsv1.CustomResourceDefinitionVersion) bool) (map[string][]string, error) {
	objects, err := render(kustomization(t), nil)
	if err != nil {
		return nil, fmt.Errorf("rendering the kustomization of %s: %w", t.Ref, err)
	}
	versions := map[string][]string{}
	for _, o := range objects {
		if !deploy.IsCRD(o) {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
			return nil, fmt.Errorf("reading CRD %s of %s: %w", o.GetName(), t.Ref, err)
		}
		versions[crd.Name] = []string{}
		for _, v := range crd.Spec.Versions {
			if keep(v) {
				versions[crd.Name] = append(versions[crd.Name], v.Name)
			}
		}
	}
	return versions, nil
}

// replaced reports whether an object of a release goes when another one comes: neither CRDs, with which all objects would go,
// nor namespaces, nor what is left behind.
func replaced(o *unstructured.Unstructured, left scene.LeftBehind) bool {
	// mutant: the CRDs of a release go with it, and all objects with them
	if deploy.IsCRD(o) || o.GetKind() == "Namespace" {
		return false
	}
	return !left.Roles || !deploy.Rights(o)
}

// upgradeCRD has a CRD be that of another release, or creates it. It reports whether it was taken: one that the API server refuses
// may stay as it is.
func (a *ClusterAPI) upgradeCRD(ctx context.Context, crd *unstructured.Unstructured, unlessRefused bool) (taken bool, err error) {
	err = a.client.Patch(ctx, crd.DeepCopy(), client.Merge)
	if apierrors.IsNotFound(err) {
		err = a.client.Create(ctx, crd.DeepCopy())
	}
	if unlessRefused && apierrors.IsInvalid(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("upgrading the CRD %s: %w", crd.GetName(), err)
	}
	return true, nil
}
