package clusterautoscaler

import (
	"slices"

	"nodestorm/harness/world"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history/audit"
)

// reach is how a process reaches API servers: that with its cloud provider's
// objects, which may be the same, through a fault proxy if it is to be broken. What can be broken is the same for all processes.
func (a *Autoscaler) reach(process string) (flags, error) {
	if a.ways != nil && (a.cfg.Broken || process == Name) {
		return slices.Clone(a.ways), nil
	}
	groups := []string{audit.ProgramGroup(Name)}
	if process != Name {
		groups = append(groups, audit.ReplicaGroup(process))
	}
	ways, err := a.reachAs(groups)
	if process == Name {
		a.ways = ways
	}
	return slices.Clone(ways), err
}

func (a *Autoscaler) reachAs(groups []string) (flags, error) {
	cluster, management := a.cfg.World.Cluster, a.cfg.Management
	if management == nil || management == cluster {
		path, err := a.kubeconfig(cluster, a.cfg.Broken, groups)
		ways := flags{{"kubeconfig", path}}
		if a.cfg.CloudConfig != "" {
			ways = append(ways, flag{"cloud-config", a.cfg.CloudConfig})
		}
		return ways, err
	}
	path, err := a.kubeconfig(cluster, false, groups)
	if err != nil {
		return nil, err
	}
	cloud, err := a.kubeconfig(management, a.cfg.Broken, groups)
	return flags{{"kubeconfig", path}, {"cloud-config", cloud}}, err
}

func (a *Autoscaler) kubeconfig(c *world.Cluster, broken bool, groups []string) (path string, err error) {
	way, err := a.account.Reach(c, broken, a.cfg.Rules, groups...)
	if broken {
		a.way = way.Proxy
	}
	return way.Kubeconfig, err
}

// Way is its way to the API server where that can be broken, or nil.
func (a *Autoscaler) Way() *apifault.Proxy { return a.way }
