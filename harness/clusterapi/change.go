package clusterapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rotate has a MachineDeployment replace its machines by those of a new template.
func (a *ClusterAPI) Rotate(ctx context.Context, deployment, template, instanceType string) error {
	machine := MachineTemplate(template, instanceType)
	if err := a.create(ctx, machine); err != nil {
		return err
	}
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"spec":{"template":{"spec":{"infrastructureRef":{"name":%q}}}}}`, template))
}

// Pause has Cluster API leave a MachineDeployment as it is. (spec.paused holds up
// rollouts only.)
func (a *ClusterAPI) Pause(ctx context.Context, deployment string) error {
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"metadata":{"annotations":{%q:""}}}`, core+"/paused"))
}

// SetReplicas says how many machines a MachineDeployment is to have, as controllers do
// that think it theirs: by a write to the object itself.
func (a *ClusterAPI) SetReplicas(ctx context.Context, deployment string, replicas int) error {
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}

// SetMinReady has a MachineDeployment count a new machine as available only after its
// node has been Ready for so long.
func (a *ClusterAPI) SetMinReady(ctx context.Context, deployment string, d time.Duration) error {
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"spec":{"minReadySeconds":%d}}`, int64(d.Seconds())))
}

// SetTaint has a MachineDeployment's new machines taint their nodes. Cluster API knows
// that from v1.12 on, by its API version v1beta2 only, and with TaintPropagation.
func (a *ClusterAPI) SetTaint(ctx context.Context, deployment string, taint corev1.Taint) error {
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"taints": []any{
		map[string]any{"key": taint.Key, "value": taint.Value, "effect": taint.Effect, "propagation": "Always"},
	}}}}})
	if err != nil {
		return err
	}
	md := object(core+"/v1beta2", "MachineDeployment", deployment)
	if err := a.client.Patch(ctx, md, mergePatch(string(body))); err != nil {
		return fmt.Errorf("tainting machines of MachineDeployment %q: %w", deployment, err)
	}
	return nil
}

// SetMaximum says how many machines a MachineDeployment may have.
func (a *ClusterAPI) SetMaximum(ctx context.Context, deployment string, most int) error {
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, MaximumAnnotation, most))
}

// Touch changes a MachineDeployment in nothing that matters to it, as controllers
// that report on it do.
func (a *ClusterAPI) Touch(ctx context.Context, deployment, value string) error {
	return a.patchDeployment(ctx, deployment, fmt.Sprintf(`{"metadata":{"annotations":{"example.org/seen":%q}}}`, value))
}

func (a *ClusterAPI) patchDeployment(ctx context.Context, name, patch string) error {
	md := object(core+"/"+version, "MachineDeployment", name)
	if err := a.client.Patch(ctx, md, mergePatch(patch)); err != nil {
		return fmt.Errorf("changing MachineDeployment %q: %w", name, err)
	}
	return nil
}

func mergePatch(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }
