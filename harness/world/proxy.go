package world

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/sim/apifault"
)

// KubeconfigThrough is Kubeconfig for an identity that reaches kube-apiserver
// through a fault proxy with these rules. The proxy is the identity's own and ends
// with the world; its rules' records go to the history, its delays are virtual.
func (c *Cluster) KubeconfigThrough(rules []apifault.Rule, name string, groups ...string) (string, *apifault.Proxy, error) {
	w := c.world
	user, err := c.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", nil, fmt.Errorf("making user %q: %w", name, err)
	}
	p, err := apifault.Start(apifault.Config{Client: user.Config(), Writer: c.Admin(), Clock: w.Clock(), History: w.history, Seed: w.cfg.Seed}, rules...)
	if err != nil {
		return "", nil, err
	}
	w.OnStop(p.Close)
	direct, err := user.KubeConfig()
	if err != nil {
		return "", nil, fmt.Errorf("making the kubeconfig of %q: %w", name, err)
	}
	config, err := clientcmd.Load(direct)
	if err != nil {
		return "", nil, err
	}
	through, err := p.Kubeconfig(*config)
	if err != nil {
		return "", nil, err
	}
	path, err := w.writeKubeconfig(through)
	return path, p, err
}
