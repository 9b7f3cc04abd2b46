package world

import (
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// KubeconfigThrough is Kubeconfig for an identity that reaches kube-apiserver
// through a fault proxy with these rules, which does some creations later if that is not nil. The proxy is the identity's own
// and ends with the world; its rules' events go to the history, its delays are virtual.
func (c *Cluster) KubeconfigThrough(
	rules []fault.Fault, later *apifault.Later, name string, groups ...string,
) (string, *apifault.Proxy, error) {
	w := c.world
	user, err := c.identity(name, groups...)
	if err != nil {
		return "", nil, err
	}
	p, err := apifault.Start(apifault.Config{
		Client: user, Writer: c.Admin(), Clock: w.Clock(), History: w.history, Seed: w.cfg.Seed, Later: later,
	}, rules...)
	if err != nil {
		return "", nil, err
	}
	w.OnStop(p.Close)
	through, err := p.Kubeconfig(kubeconfig(user))
	if err != nil {
		return "", nil, err
	}
	path, err := w.writeKubeconfig(through)
	return path, p, err
}
