package karpenter

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/process"
	"nodestorm/harness/world"
	"nodestorm/sim/apifault"
)

// Start runs the controller and waits until it is ready. Virtual time passes as
// real time does meanwhile. Rules are faults between it and the API server.
func (k *Karpenter) Start(ctx context.Context, rules ...apifault.Rule) (*process.Process, error) {
	account, groups := "system:serviceaccount:"+Name+":"+Name, []string{"system:serviceaccounts", "system:serviceaccounts:" + Name, "system:authenticated"}
	kubeconfig, err := "", error(nil)
	if len(rules) > 0 {
		kubeconfig, _, err = k.world.KubeconfigThrough(rules, account, groups...)
	} else {
		kubeconfig, err = k.world.Kubeconfig(account, groups...)
	}
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
		Args:  k.flags,
		Env:   append(slices.Clone(k.env), outsideEnv(kubeconfig, metrics, health)...),
		Lines: logLines(k.world.History()),
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	})
}
