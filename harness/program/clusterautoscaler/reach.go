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

func (a *Autoscaler) kubeconfig(c *world.Cluster, broken bool) (path string, err error) {
	way, err := a.account.Reach(c, broken, a.cfg.Rules, audit.ProgramGroup(Name))
	if broken {
		a.way = way.Proxy
	}
	return way.Kubeconfig, err
}

// Way is its way to the API server where that can be broken, or nil.
func (a *Autoscaler) Way() *apifault.Proxy { return a.way }
