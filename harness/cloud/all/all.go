// Package all has all kinds of clouds that there are.
package all

import (
	"slices"

	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/cloud/instances"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/cloud/vsphere"
	"nodestorm/scenarios"
)

// Kinds are in the order of their sentences.
var Kinds = []*live.Kind{
	hetzner.Kind,
	nodegroups.Kind,
	instances.Kind,
	vsphere.Kind,
}

func init() {
	for _, f := range cloud.All() {
		scenarios.AddCloud(f.Name, f.Programs)
	}
}

// Named is the kind that is called that, nil if none is.
func Named(name string) *live.Kind {
	i := slices.IndexFunc(Kinds, func(k *live.Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return Kinds[i]
}
