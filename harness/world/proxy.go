package world

import (
	"slices"

	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// KubeconfigThrough is Kubeconfig for an identity that reaches kube-apiserver
// through a fault proxy with these rules, which does some creations later if that is not nil. The proxy is the identity's own
// and ends with the world; its rules' events go to the history, its delays are virtual.
func (c *Cluster) KubeconfigThrough(
	rules []fault.Fault, later *apifault.Later, name string, groups ...string,
) (string, *apifault.Proxy, error) {
	return c.kubeconfigThrough(apifault.Config{Later: later}, rules, name, groups...)
}

func (c *Cluster) kubeconfigThrough(
	cfg apifault.Config, rules []fault.Fault, name string, groups ...string,
) (_ string, _ *apifault.Proxy, err error) {
	w := c.world
	if cfg.Client, err = c.identity(name, groups...); err != nil {
		return "", nil, err
	}
	cfg.Writer, cfg.Clock, cfg.History, cfg.Seed = c.Admin(), w.Clock(), w.history, w.cfg.Seed
	p, err := apifault.Start(cfg, rules...)
	if err != nil {
		return "", nil, err
	}
	w.OnStop(p.Close)
	through, err := p.Kubeconfig(kubeconfig(cfg.Client))
	if err != nil {
		return "", nil, err
	}
	path, err := w.writeKubeconfig(through)
	return path, p, err
}

// controllerKubeconfig is the way of a controller of the control plane: through a fault proxy where that is wished for.
func (c *Cluster) controllerKubeconfig(name string, wishes ClusterOptions) (path string, err error) {
	if !slices.Contains(wishes.Breakable, name) {
		return c.Kubeconfig("system:" + name)
	}
	// With --use-service-account-credentials each of its controllers has a token of its own.
	path, p, err := c.kubeconfigThrough(apifault.Config{Tokens: name == controllerManager}, nil, "system:"+name)
	if err != nil {
		return "", err
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ways[name] = p
	return path, nil
}

// Way is the fault proxy of a program of [ClusterOptions.Breakable], nil for others.
func (w *World) Way(name string) *apifault.Proxy {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ways[name]
}
