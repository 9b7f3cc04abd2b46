package breaks

import (
	"slices"
	"time"

	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// Armed is a fault and what became of it last.
type Armed struct {
	Name   string        `json:"name"`
	On     string        `json:"on,omitempty"`
	Effect string        `json:"effect,omitempty"`
	State  string        `json:"state"` // one of history.FaultVerbs
	Since  time.Duration `json:"since"` // of virtual time, since the world's start
}

// AllArmed are those in the history, in the order in which they were armed.
func AllArmed(s *scene.Scene) []Armed {
	var all []Armed
	for _, r := range s.World.History().Since(0) {
		if r.Source != history.Fault {
			continue
		}
		f := Armed{On: r.Object.Name, State: r.Verb, Since: r.Virtual}
		if r.Object == (history.Object{}) && r.Actor == node.AboutComing.Actor {
			f.On = "new simulated nodes"
		}
		f.Name, _ = r.Detail["fault"].(string)
		f.Effect, _ = r.Detail["effect"].(string)
		i := slices.IndexFunc(all, func(known Armed) bool { return known.Name == f.Name && known.On == f.On })
		if i < 0 {
			all = append(all, f)
		} else {
			all[i] = f
		}
	}
	return all
}
