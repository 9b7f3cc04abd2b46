package world

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nodestorm/sim/history"
)

// Release is a release of Kubernetes that the programs of a control plane are of.
type Release struct {
	// ControlPlane and Version are as in Config.
	ControlPlane, Version string
}

// on is the configuration with a control plane of a release.
func (c Config) on(r Release) Config {
	c.ControlPlane, c.Version = r.ControlPlane, r.Version
	return c
}

// Release is that which programs of control planes are started of.
func (w *World) Release() Release {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.release
}

// Upgrade has another release of Kubernetes take the place of that of the world's own control plane, on the same data, port,
// certificates and keys. It is done in the order of kubeadm upgrade apply and of Kubernetes' policy on version skew: kube-apiserver
// first, since nothing may be newer than it, then each of the controllers once what comes before it serves. Each ends as a
// kubelet ends it. etcd stays, as one does that is not kubeadm's own. It returns when all of it is ready, see
// [World.StartComponent] for how time passes until then.
func (w *World) Upgrade(ctx context.Context, to Release) error {
	plane, is := w.plane.(*local)
	if !is {
		return errors.New("the control plane can be upgraded in simulated clusters only")
	}
	if err := w.cfg.on(to).check(); err != nil {
		return err
	}
	w.mu.Lock()
	w.release = to
	w.mu.Unlock()
	// mutant: the controllers of a release come before its API server
	for _, name := range slices.Concat([]string{apiServer}, Controllers) {
		if err := w.End(ctx, name); err != nil {
			return err
		}
		c, _ := w.component(name)
		c.Path, c.Launch = w.controlPlaneProgram(name)
		if name == apiServer {
			c.Args = plane.apiServerLine()
		}
		w.recordEvent(history.Started, name, name) // before: what it does is after it
		if _, err := w.startComponent(ctx, c); err != nil {
			return fmt.Errorf("starting another release of %s: %w", name, err)
		}
	}
	return nil
}
