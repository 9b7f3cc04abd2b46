package replay

import (
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/program"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
)

// Settings say how all replays of one command are done. Kubernetes and Out are required.
type Settings struct {
	// World is what users set of worlds, such as clock and seed; a replay fills in the rest.
	World world.Config
	// Kubernetes is the build that worlds are made of.
	Kubernetes builds.Target
	// ControlPlane is what comes in place of that of Kubernetes.
	ControlPlane ControlPlane
	// Cluster is what the world's clusters are made of.
	Cluster Cluster
	// Machines are what the instances of its cloud are.
	Machines Machines
	// Cloud is that of Karpenter's failures whose records name none; empty means kwok.
	Cloud string
	// Race asks for builds with Go's race detector.
	Race bool
	// Manifest is a file with the Deployment that the user runs the target by; empty
	// means as the target's documentation has it. Only of Cluster Autoscaler.
	Manifest string
	// Order is a file with the order that the target stands for, see OwnOrder;
	// empty means that of a release.
	Order string
	// With are builds of parts of the world, such as a released cloud controller
	// manager, to take in place of nodestorm's own.
	With []builds.Target
	// Stale are the builds whose source has changed since they were made.
	Stale []builds.Ref
	// Checkout is the one whose features are played; empty if they are part of the
	// program.
	Checkout string
	// Out is the folder under which each run gets its own.
	Out   string
	Flags []string // of the command
	// AtOnce and InPlaceOf are what runs note of worlds beside them, see run.Run.
	AtOnce    int
	InPlaceOf string
}

// ForCluster returns the settings for another kind of cluster: a simulated one has simulated machines.
func (s Settings) ForCluster(c Cluster) Settings {
	if s.Cluster = c; c != Kind {
		s.Machines = SimulatedMachines
	}
	return s
}

// Rig returns how worlds for a target start whose history and logs go to dir.
func (s Settings) Rig(target builds.Target, dir string) sentences.Rig {
	w := s.World
	w.Out, w.Kubernetes, w.Plain, w.Start = dir, s.Kubernetes.Bin(), !s.Kubernetes.Virtual(), s.Cluster.start()
	w.ControlPlane, w.Version = s.ControlPlane.Folder, s.ControlPlane.Version
	return sentences.Rig{World: w, Machines: s.Machines.factory(), Target: target, Order: s.Order, With: s.With}
}

// staleOf returns those builds of a replay whose source has changed.
func (r Request) staleOf() (refs []builds.Ref) {
	for _, ref := range r.Stale {
		if ref == r.Target.Ref || slices.ContainsFunc(r.With, func(part builds.Target) bool { return part.Ref == ref }) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// BuildFor is what the store is asked for to replay a record on a target.
func (s Settings) BuildFor(ref builds.Ref, r scenarios.Record) builds.Ref {
	ref.Provider, ref.Race = s.ProviderOf(r), ref.Race || r.Race
	return ref
}

// ProviderOf is the cloud that a build has to serve which a record is replayed on.
func (s Settings) ProviderOf(r scenarios.Record) string {
	if own := r.Provider(); own != "" || program.Named(r.Autoscaler).BuiltIn == "" {
		return own
	}
	return s.Cloud
}
