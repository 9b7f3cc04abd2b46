package bisect

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Subject is what is built and played: a record, and what its autoscaler is built of.
type Subject struct {
	Record scenarios.Record
	From   buildstore.Request
	// Provider is the cloud of the builds that the record is played on; empty: any.
	Provider string
}

// Recipe is how one version of it is built: with At, of that commit or tag of the repository.
func (s Subject) Recipe(version, at string) (buildstore.Recipe, error) {
	tags := ""
	if len(s.From.Tags) > 0 {
		tags = s.From.Tags[0]
	} else if program.Named(s.Record.Autoscaler).PerCloud && s.From.Dir != "" {
		tags = s.Provider
	}
	recipe, err := s.From.Recipe(builds.Ref{Name: s.Record.Autoscaler, Version: version}, at, tags)
	recipe.Race = recipe.Race || s.Record.Race
	if s.Provider == builds.Instances && err == nil {
		recipe, err = buildstore.OnInstances(recipe)
	} else if s.Provider != "" && s.From.Provider == "" {
		recipe.Provider = s.Provider
	}
	return recipe, err
}

// Player builds candidates, and plays the record on them.
type Player interface {
	Build(context.Context, buildstore.Recipe) (builds.Target, error)
	// Check returns what keeps the record from being played on the build. It ends the search, as
	// do errors of Play.
	Check(context.Context, builds.Target) error
	Play(context.Context, builds.Target) (Played, error)
}

// Options are what is asked, and with what.
type Options struct {
	Subject
	// Good and Bad are refs of the repository, or versions of the module: without and with the
	// failure.
	Good, Bad   string
	Releases    bool // stop at releases
	Every       bool // ask all releases
	FirstParent bool // ask the commits of the branch that was merged into alone
	Anew        bool // forget what an earlier call has learned
	Rules       Rules
	// Conditions are what else the answers depend on: what was learned with others is not known.
	Conditions []string
	Out        string // folder, see Inquiry.Dir
	Store      *buildstore.Store
	Player     Player
	Say        func(format string, args ...any)
}

// Inquiry is the search for one answer.
type Inquiry struct {
	Options
	source source
	repo   *commits // the source, if it is a repository
	ends   ends
	points map[string]candidate // by the IDs of their points
	memory memory
	hunt   *Hunt
}

// Open finds the ends of what is asked. Nothing is built, and its errors are the caller's.
func Open(ctx context.Context, o Options) (*Inquiry, error) {
	q := &Inquiry{Options: o, points: map[string]candidate{}}
	q.hunt = &Hunt{Try: q.try, Learned: q.learned, Progress: q.progress}
	if o.From.Module != "" {
		q.source = module{q}
	} else {
		repo, err := o.Store.Repository(ctx, o.From.Dir)
		if err != nil {
			return nil, exit.UsageError(fmt.Errorf("--source: %w", err))
		}
		q.repo = &commits{q, repo}
		q.source = q.repo
	}
	var err error
	q.ends, err = q.source.ends(ctx)
	return q, exit.UsageError(err)
}

// Dir is the folder of what was learned, in which the runs belong.
func (q *Inquiry) Dir() string { return q.memory.dir }

// try builds a candidate and plays it until its verdict is certain.
func (q *Inquiry) try(ctx context.Context, p Point) (Trial, error) {
	c := q.points[p.ID]
	t, err := q.Attempt(ctx, func() (builds.Target, error) {
		if build, there := q.found(c); there {
			return build, nil
		}
		return q.Player.Build(ctx, c.recipe)
	})
	t.Name = q.called(p.ID)
	return t, err
}

// Attempt has the record played on a build that get returns, until its verdict is certain. What
// cannot be built is a trial without a verdict.
func (o Options) Attempt(ctx context.Context, get func() (builds.Target, error)) (t Trial, err error) {
	begin := time.Now()
	build, err := get()
	t.BuildSeconds = time.Since(begin).Seconds()
	if err != nil {
		if ctx.Err() != nil || fatal(err) {
			return t, err
		}
		t.Reason = "it cannot be built: " + err.Error()
		return t, nil
	}
	t.Target = build.Ref.String()
	if err := o.Player.Check(ctx, build); err != nil {
		return t, err
	}
	return t, o.Rules.Judge(ctx, &t, func(ctx context.Context) (Played, error) { return o.Player.Play(ctx, build) })
}

// fatal reports whether no other candidate would be without the error.
func fatal(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, new(*buildstore.NoCheckoutError))
}

// learned keeps a trial, and says it.
func (q *Inquiry) learned(t Trial) error {
	err := q.memory.add(t)
	said := string(t.Verdict)
	if t.Verdict == "" {
		said = "skipped: " + t.Reason
	} else if q.hunt.State(t) == Skipped && q.hunt.Old != "" {
		said += ", as neither end is, so skipped: " + t.Reason
	}
	q.Say("%s: %s (built or found in %.0f s, %s in %.0f s)", t.Name, said, t.BuildSeconds, wording.Counted(len(t.Played), "run"), t.seconds())
	return err
}

func (q *Inquiry) progress(p Point, left, steps int) {
	if left == 0 {
		q.Say("asking %s", q.called(p.ID))
		return
	}
	q.Say("asking %s; it could be any of %d, about %s to go", q.called(p.ID), left, wording.Counted(steps, "step"))
}

// runOf is a run that shows what a point does: its own, or that of the end which is the
// same program.
func (q *Inquiry) runOf(id string, want verdict.Verdict) string {
	for _, point := range []string{id, q.ends.older, q.ends.newer} {
		if t := q.hunt.Known[point]; t.Verdict == want {
			return t.Run()
		}
	}
	return ""
}
