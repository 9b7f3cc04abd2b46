package queue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences/scene"
)

// Open gets nodestorm's own Kubernetes and the targets, and builds what is missing. What
// cannot be had is cannot's to refuse or to do without.
func (q *Queue) Open(
	ctx context.Context, cannot func(builds.Ref, error) error, refs ...builds.Ref,
) (have map[builds.Ref]builds.Target, err error) {
	refs = append(slices.Clone(refs), builds.Kubernetes)
	if q.Release != (builds.Ref{}) {
		refs = append(refs, q.Release)
	}
	have, err = q.Supply.Ensure(ctx, func(t builds.Target) error {
		q.CheckSource(ctx, t)
		return q.checkClock(t)
	}, cannot, refs...)
	if err != nil {
		return nil, err
	}
	q.Kubernetes = have[builds.Kubernetes]
	if q.Release != (builds.Ref{}) {
		q.ControlPlane = replay.OfBuild(have[q.Release])
	}
	if plane := q.ControlPlane.String(); q.ControlPlane.Chosen() && !q.Worker && q.plane != plane {
		q.plane = plane
		q.Output.Remark("the control plane is that of Kubernetes %s", plane)
	}
	var shown []builds.Ref
	for _, ref := range refs {
		if t, is := have[ref]; is && !slices.Contains(shown, ref) {
			shown = append(shown, ref)
			q.detailOf(t)
		}
	}
	return have, nil
}

func (q *Queue) detailOf(t builds.Target) {
	q.Output.Detail("%s is the build of %s in %s", t.Ref, t.BuiltAt.Format("2006-01-02 15:04"), t.Dir)
}

// checkClock makes sure that a build can live in the time of the worlds.
func (q *Queue) checkClock(t builds.Target) error {
	return exit.UsageError(replay.CheckClock(q.World.Clock, t))
}

// CheckSource says once of a build that its source has changed since it was made.
func (q *Queue) CheckSource(ctx context.Context, t builds.Target) {
	if slices.Contains(q.Stale, t.Ref) {
		return
	}
	changed, err := buildstore.SourceChanged(ctx, t)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		q.Output.Say("cannot determine whether the source of %s has changed since it was built: %v", t.Ref, err)
	case changed:
		q.Output.Say("%s is stale: its source has changed since it was built on %s; build it again with: %s",
			t.Ref, t.BuiltAt.Format("2006-01-02 15:04"), buildstore.Rebuild(t))
		q.Stale = append(q.Stale, t.Ref)
	}
}

// TakeParts takes builds of the store in place of nodestorm's own, as --with names them.
func (q *Queue) TakeParts(ctx context.Context, names []string) error {
	q.With = nil
	for _, name := range names {
		ref, err := builds.ParseRef(name)
		if err == nil && !slices.Contains(scene.Parts, ref.Name) {
			err = fmt.Errorf("%s is no part of worlds (those are %s)", ref.Name, strings.Join(scene.Parts, ", "))
		}
		var part builds.Target
		if err == nil {
			part, err = q.Supply.Store.Get(ref)
		}
		if err == nil {
			err = replay.CheckClock(q.World.Clock, part)
		}
		if err != nil {
			return exit.UsageError(fmt.Errorf("--component %s: %w", name, err))
		}
		q.CheckSource(ctx, part)
		q.With = append(q.With, part)
	}
	return nil
}

// partsOf are the builds that a replay takes out of the store beside its target. Those that
// others stand in for are not among them.
func (q *Queue) partsOf(r replay.Request) ([]builds.Ref, error) {
	refs, err := r.Needs()
	return slices.DeleteFunc(refs, func(ref builds.Ref) bool {
		return slices.ContainsFunc(q.With, func(with builds.Target) bool { return scene.StandsIn(with.Name, ref) })
	}), err
}

// ensureParts gets what a replay's steps name beside the target.
func (q *Queue) ensureParts(ctx context.Context, r replay.Request) error {
	parts, err := q.partsOf(r)
	if err == nil {
		_, err = q.Supply.Ensure(ctx, q.checkClock, supply.Refuse, parts...)
	}
	return err
}
