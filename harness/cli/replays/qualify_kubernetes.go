package replays

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/reports/matrix"
)

// findPlanes finds the releases of Kubernetes that --kubernetes names: nodestorm's own, unless it names others.
func (q *qualifying) findPlanes() error {
	for _, version := range strings.Split(cmp.Or(q.KubernetesName, builds.Kubernetes.Version), ",") {
		ref, err := builds.ParseRef(builds.Kubernetes.Name + "@" + version)
		if err == nil {
			err = buildstore.CheckKubernetes(ref.Version)
		}
		if err == nil && slices.Contains(q.planes, version) {
			err = errors.New("it is there twice")
		}
		if err != nil {
			return fmt.Errorf("--kubernetes %s: %w; want releases such as %s, with commas between them", q.KubernetesName, err,
				builds.Kubernetes.Version)
		}
		q.planes = append(q.planes, version)
	}
	return nil
}

// checkPlanes makes sure that the store has them, before anything is played. Nodestorm's own is built as others are.
func (q *qualifying) checkPlanes() error {
	store, err := buildstore.Open("")
	if err != nil {
		return err
	}
	for _, version := range q.planes {
		// mutant: a Kubernetes that the store lacks is found out when the first one is played
		if ref := (builds.Ref{Name: builds.Kubernetes.Name, Version: version}); ref != builds.Kubernetes {
			if _, err := store.Get(ref); err != nil {
				return fmt.Errorf("--kubernetes %s: %w", version, err)
			}
		}
	}
	return nil
}

// take has what is played from now on be played on a Kubernetes, by workers as well: of two flags the last counts.
func (q *qualifying) take(plane string) {
	q.plane, q.KubernetesName, q.Release, q.ControlPlane = plane, plane, builds.Ref{}, replay.ControlPlane{}
	if plane != builds.Kubernetes.Version {
		q.Release = builds.Ref{Name: builds.Kubernetes.Name, Version: plane}
	}
	q.Args = append(slices.Clone(q.Arguments), "--kubernetes="+plane)
}

// onPlane is what a target is called in runs on a Kubernetes.
func onPlane(target, plane string) string {
	if plane == builds.Kubernetes.Version {
		return target
	}
	return matrix.OnKubernetes(target, plane)
}
