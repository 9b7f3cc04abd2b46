package clusterapi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rotate has a MachineDeployment replace its machines by those of a new template.
func (a *ClusterAPI) Rotate(ctx context.Context, deployment, template, instanceType string) error {
	if err := a.create(ctx, MachineTemplate(template, instanceType)); err != nil {
		return err
	}
	md := object(core+"/"+version, "MachineDeployment", deployment)
	patch := fmt.Appendf(nil, `{"spec":{"template":{"spec":{"infrastructureRef":{"name":%q}}}}}`, template)
	if err := a.client.Patch(ctx, md, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("changing MachineDeployment %q: %w", deployment, err)
	}
	return nil
}
