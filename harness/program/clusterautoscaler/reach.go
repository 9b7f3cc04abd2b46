package clusterautoscaler

import (
	"nodestorm/harness/world"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history/audit"
)

// reach is how the autoscaler reaches API servers: that with its cloud provider's
// objects, which may be the same, through a fault proxy if it is to be broken.
func (a *Autoscaler) reach() (flags, error) {
	cluster, management := a.cfg.World.Cluster, a.cfg.Management
	if management == nil || management == cluster {
		path, err := a.kubeconfig(cluster, a.cfg.Broken)
		ways := flags{{"kubeconfig", path}}
		if a.cfg.CloudConfig != "" {
			ways = append(ways, flag{"cloud-config", a.cfg.CloudConfig})
		}
		return ways, err
	}
	path, err := a.kubeconfig(cluster, false)
	if err != nil {
		return nil, err
	}
	cloud, err := a.kubeconfig(management, a.cfg.Broken)
	return flags{{"kubeconfig", path}, {"cloud-config", cloud}}, err
}

func (a *Autoscaler) kubeconfig(c *world.Cluster, proxied bool) (path string, err error) {
	user := "system:serviceaccount:" + a.namespace + ":" + a.account
	groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + a.namespace, "system:authenticated", audit.TargetGroup, audit.ProgramGroup(Name)}
	if !proxied {
		return c.Kubeconfig(user, groups...)
	}
	path, a.way, err = c.KubeconfigThrough(a.cfg.Rules, user, groups...)
	return path, err
}

// Way is its way to the API server where that can be broken, or nil.
func (a *Autoscaler) Way() *apifault.Proxy { return a.way }
