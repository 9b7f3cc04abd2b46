package clusterapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/fakecloud"
)

const (
	// finalizer keeps a NodestormMachine until its instance is gone.
	finalizer = infrastructure + "/nodestorm"
	// machineLabel is the instance's label that says whose it is: namespace/name.
	machineLabel = "nodestorm-machine"
	// groupLabel is the one that says which MachineDeployment it belongs to.
	groupLabel = "machine-deployment"
	// ProviderIDPrefix begins the provider IDs of our instances; their cloud ID follows.
	ProviderIDPrefix = "nodestorm://"
)

// machine makes one instance for a NodestormMachine, reports it, and ends it with
// the object.
func (p *Provider) machine(ctx context.Context, u *unstructured.Unstructured) error {
	i, m := p.instance(u), p.owner(u)
	if u.GetDeletionTimestamp() != nil {
		_, held := strikingEffect[atDeletion](p, m)
		switch {
		case held:
			return nil
		case i == nil:
			return p.setFinalizers(ctx, infraMachines, u)
		case i.State != fakecloud.Deleting:
			return p.cfg.Cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(i.ID); return nil })
		}
		return nil // the cloud says when it is gone
	}
	if len(u.GetFinalizers()) == 0 {
		return p.setFinalizers(ctx, infraMachines, u, finalizer)
	}
	id := text(u, "spec", "providerID")
	switch {
	case i == nil && id != "":
		// Gone behind our back. Providers say so and make no other one.
		return p.patch(ctx, infraMachines, u, "status", map[string]any{"ready": false})
	case i == nil && m == nil:
		return nil // Cluster API has not adopted it yet
	case i == nil:
		return p.create(ctx, u, m)
	case i.State != fakecloud.Running:
		return nil
	case id == "":
		return p.patch(ctx, infraMachines, u, "",
			map[string]any{"spec": map[string]any{"providerID": ProviderIDPrefix + strconv.FormatInt(i.ID, 10)}})
	}
	status := map[string]any{
		"ready":          true,
		"initialization": map[string]any{"provisioned": true},
		"instance":       strconv.FormatInt(i.ID, 10),
		"addresses": []any{
			map[string]any{"type": "InternalIP", "address": i.PublicIPv4.String()},
			map[string]any{"type": "Hostname", "address": i.Name},
		},
	}
	if m != nil && text(m, "status", "nodeRef", "name") != "" {
		if by, struck := strikingEffect[atWork](p, m); struck {
			maps.Copy(status, by.reportedStatus())
			return p.patch(ctx, infraMachines, u, "status", status)
		}
	}
	if m != nil && text(m, "spec", "providerID") != "" {
		if by, struck := strikingEffect[atStart](p, m); struck {
			return p.loseInstance(ctx, u, i, status, by)
		}
	}
	return p.patch(ctx, infraMachines, u, "status", status)
}

// loseInstance has the instance of a machine go when its time has come, and something else said of it then than status.
func (p *Provider) loseInstance(
	ctx context.Context, u *unstructured.Unstructured, i *fakecloud.Instance, status map[string]any, by atStart,
) error {
	after, failed := by.lossStatus()
	if wait := after - p.cfg.Clock.Since(i.Created); wait > 0 {
		p.queue.AddAfter(request{infraMachines, u.GetNamespace(), u.GetName()}, wait)
		return p.patch(ctx, infraMachines, u, "status", status)
	}
	maps.Copy(status, failed)
	if err := p.patch(ctx, infraMachines, u, "status", status); err != nil {
		return err
	}
	return p.cfg.Cloud.Update(func(tx *fakecloud.Tx) error { tx.Remove(i.ID); return nil })
}

// instance is the machine's own, nil where there is none.
func (p *Provider) instance(u *unstructured.Unstructured) *fakecloud.Instance {
	for _, i := range p.cfg.Cloud.Instances() {
		if i.Labels[machineLabel] == u.GetNamespace()+"/"+u.GetName() && i.State != fakecloud.Gone {
			return &i
		}
	}
	return nil
}

// create makes the instance of the Machine m once Cluster API has user data for it.
func (p *Provider) create(ctx context.Context, u, m *unstructured.Unstructured) error {
	secret := text(m, "spec", "bootstrap", "dataSecretName")
	if secret == "" {
		return nil
	}
	if by, struck := strikingEffect[atCreation](p, m); struck {
		if status := by.notMade(); status != nil {
			return p.patch(ctx, infraMachines, u, "status", status)
		}
		return nil
	}
	return p.createInstance(ctx, u, secret, map[string]string{
		machineLabel: u.GetNamespace() + "/" + u.GetName(),
		groupLabel:   m.GetLabels()[deploymentLabel],
	}, u.GetName())
}

// createInstance makes an instance of the type that u wants, with the user data in a
// secret.
func (p *Provider) createInstance(ctx context.Context, u *unstructured.Unstructured, secret string, labels map[string]string,
	name string) error {
	data, err := p.client.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(u.GetNamespace()).Get(ctx, secret,
		metav1.GetOptions{})
	if err != nil {
		return err
	}
	var held corev1.Secret
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(data.Object, &held); err != nil {
		return err
	}
	offer := p.cfg.Cloud.Catalogue()
	serverType := offer.ServerType(text(u, "spec", "instanceType"))
	if serverType == nil {
		return fmt.Errorf("the cloud has no instance type %q", text(u, "spec", "instanceType"))
	}
	return p.cfg.Cloud.Update(func(tx *fakecloud.Tx) error {
		_, _, _, err := tx.Create(fakecloud.Spec{
			Name:     name,
			Labels:   labels,
			Type:     serverType,
			Image:    image(tx),
			Location: offer.Locations[0].Name,
			UserData: string(held.Data["value"]),
			Start:    true,
			IPv4:     true,
		})
		return err
	})
}

// image is one that is there for all architectures.
func image(tx *fakecloud.Tx) *fakecloud.Image {
	for _, i := range tx.Images.All() {
		if i.Name == "ubuntu-24.04" {
			return i
		}
	}
	return nil
}

func (p *Provider) setFinalizers(ctx context.Context, k kind, u *unstructured.Unstructured, to ...any) error {
	return p.patch(ctx, k, u, "", map[string]any{"metadata": map[string]any{"finalizers": to}})
}

// patch changes fields of an object, or of its status, unless they are so already.
func (p *Provider) patch(ctx context.Context, k kind, u *unstructured.Unstructured, subresource string, fields map[string]any) error {
	var subresources []string
	if subresource != "" {
		fields, subresources = map[string]any{subresource: fields}, []string{subresource}
	}
	if contains(u.Object, fields) {
		return nil
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = p.client.Resource(k.gvr()).Namespace(u.GetNamespace()).Patch(ctx, u.GetName(), types.MergePatchType, body,
		metav1.PatchOptions{}, subresources...)
	if apierrors.IsNotFound(err) {
		return nil // gone by now
	}
	return err
}

// contains reports whether an object has these fields with these values.
func contains(object, fields map[string]any) bool {
	for name, want := range fields {
		have := object[name]
		if m, ok := want.(map[string]any); ok {
			if inner, ok := have.(map[string]any); !ok || !contains(inner, m) {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(have, want) {
			return false
		}
	}
	return true
}
