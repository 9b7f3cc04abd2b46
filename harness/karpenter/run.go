package karpenter

import (
	"context"
	"fmt"

	"nodestorm/harness/process"
	"nodestorm/harness/world"
)

// Start runs the controller and waits until it is ready. Virtual time passes as
// real time does meanwhile.
func (k *Karpenter) Start(ctx context.Context) (*process.Process, error) {
	account := "system:serviceaccount:" + Name + ":" + Name
	kubeconfig, err := k.world.Kubeconfig(account, "system:serviceaccounts", "system:serviceaccounts:"+Name, "system:authenticated")
	if err != nil {
		return nil, err
	}
	metrics, err := world.FreePort()
	if err != nil {
		return nil, err
	}
	health, err := world.FreePort()
	if err != nil {
		return nil, err
	}
	return k.world.StartComponent(ctx, process.Spec{
		Name:  Name,
		Path:  k.target.Binary(),
		Env:   append(k.env, outsideEnv(kubeconfig, metrics, health)...),
		Lines: logLines(k.world.History()),
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	})
}
