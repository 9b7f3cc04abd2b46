package scene

import (
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/sim/history"
)

// Parts are the names of what Rig.With can hold: nodestorm's own parts of worlds, and
// the released ones that can stand in for them.
var Parts = []string{
	builds.CSRApprover.Name, builds.ReleasedCSRApprover,
	builds.CCM.Name, builds.ReleasedCCM,
	builds.CCMVSphere.Name, builds.ReleasedCCMVSphere,
}

// StandsIn reports whether a program of Parts is one of ours, or the released one for it.
func StandsIn(name string, own builds.Ref) bool {
	i := slices.Index(Parts, own.Name)
	return i >= 0 && (name == own.Name || name == Parts[i+1])
}

// Part is a program of the world beside the target: a released one that the user has
// chosen, or nodestorm's own as the store has it.
func (s *Scene) Part(own builds.Ref) (t builds.Target, err error) {
	i := slices.IndexFunc(s.Rig.With, func(t builds.Target) bool { return StandsIn(t.Name, own) })
	if i >= 0 {
		t = s.Rig.With[i]
	} else {
		store, err := buildstore.Open("")
		if err != nil {
			return t, err
		}
		if t, err = store.Get(own); err != nil {
			return t, err
		}
	}
	s.World.History().Record(history.Event{
		Source: history.Harness, Verb: "part", Actor: t.Name,
		Detail: map[string]any{"version": t.Version, "source": string(t.Source.Kind), "sha256": t.SHA256},
	})
	return t, nil
}
