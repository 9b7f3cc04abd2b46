// Package all has all kinds of clouds that there are. A new one is an import.
package all

import (
	"slices"

	"nodestorm/harness/cloud"
	_ "nodestorm/harness/cloud/aws"
	_ "nodestorm/harness/cloud/hetzner"
	_ "nodestorm/harness/cloud/instances"
	"nodestorm/harness/cloud/live"
	_ "nodestorm/harness/cloud/nodegroups"
	_ "nodestorm/harness/cloud/vsphere"
	"nodestorm/scenarios"
	"nodestorm/sim/history/vocabulary"
)

// Kinds are in the order of their sentences.
var Kinds = live.Registered()

func init() {
	for _, f := range cloud.All() {
		scenarios.AddCloud(f.Name, f.Programs)
	}
	for _, k := range Kinds {
		if k.Operations == nil {
			continue
		}
		names := k.Operations // among them commands, which no record has
		if k.Calls != nil {
			names = k.Calls
		}
		vocabulary.AddCalls(names)
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
