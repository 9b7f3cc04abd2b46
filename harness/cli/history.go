package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/bisect"
	"nodestorm/reports"
	"nodestorm/scenarios"
)

func (e *env) history() *cobra.Command {
	b := &bisection{session: &session{env: e}}
	var get getting
	c := &cobra.Command{
		Use:   "history ID",
		Short: "Replay a failure on every release that the store has: which are affected",
		Long: `Replay a failure on every release that the store has, oldest first, and say which is
the first and which the last that is affected, and what is healthy in between. Releases
that the catalogue knows and the store lacks are named. With --pull those are taken out of
a registry that "nodestorm target push" has put there, and what else it has of releases
is played too; with --build those that can be had are built: of a Go module as such,
others from a repository with --source, by their tags.

Exit status: 0 as the catalogue expects, 1 not, 2 usage, 3 inconclusive.`,
		Example: `  nodestorm history karpenter-7515-not-ready-noexecute
  nodestorm history karpenter-7515-not-ready-noexecute --build --json
  nodestorm history karpenter-7515-not-ready-noexecute --pull registry.example/team/nodestorm
  nodestorm history hetzner-8402-min-size --build --source https://github.com/kubernetes/autoscaler`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if b.dir != "" && !get.build {
				return usage(errors.New("--source is where to build from: it needs --build"))
			}
			if err := b.one(c, args[0]); err != nil {
				return err
			}
			return b.tellHistory(c.Context(), get)
		},
	}
	b.session.addFlags(c)
	e.catalogueFlags(c)
	b.addManifest(c)
	c.ValidArgsFunction = e.completeIDs
	c.Flags().StringVar(&get.pull, "pull", "", "take what the store lacks out of this `repository` of a registry")
	c.Flags().BoolVar(&get.build, "build", false, "build the releases that the catalogue knows and the store lacks")
	c.Flags().StringVar(&b.dir, "source", "", "the git `repository` to build them from, by their tags: a folder, bare or not, or a URL")
	e.outputFlags(c, &b.asJSON)
	b.addCertain(c)
	b.addHow(c)
	return c
}

// getting is where the releases come from that the store lacks.
type getting struct {
	pull   string   // a repository of a registry
	pushed []string // the versions that are there
	build  bool
}

// past is a record over releases, for machines.
type past struct {
	ID string `json:"id"`
	bisect.Summary
	Releases []bisect.Release `json:"releases"`
}

// tellHistory plays all releases there are.
func (b *bisection) tellHistory(ctx context.Context, get getting) error {
	versions, err := scenarios.ReleasesOf(b.record.Autoscaler)
	if err != nil {
		return usage(err)
	}
	if get.pull != "" {
		if get.pushed, err = b.store.Pushed(ctx, b.record.Autoscaler, b.builtFor(versions[0]), get.pull); err != nil {
			return usage(fmt.Errorf("--pull: %w", err))
		}
	}
	versions = b.versions(versions, get.pushed)
	if _, err := b.open(ctx, refuse); err != nil {
		return err
	}
	p := past{ID: b.record.ID}
	var outcomes []verdict.Outcome
	for i, version := range versions {
		r := bisect.Release{Version: version, Expected: string(b.record.Expected(b.record.Autoscaler + "@" + version))}
		got, err := b.releaseOf(ctx, version, get)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			r.Reason = err.Error()
		default:
			b.say("%d of %d: %s", i+1, len(versions), version)
			t := bisect.Trial{}
			if err := b.judge(ctx, &t, got); err != nil {
				return err
			}
			r.Verdict, r.Reason, r.Run = cmp.Or(t.Verdict, verdict.Inconclusive), t.Reason, t.Run()
			outcomes = append(outcomes, verdict.Compare(scenarios.Expectation(r.Expected), r.Verdict))
			if r.Expected == "" { // the ranges say nothing of it, so nothing was promised
				outcomes = outcomes[:len(outcomes)-1]
			}
		}
		p.Releases = append(p.Releases, r)
	}
	p.Summary = bisect.Summarize(p.Releases)
	b.status.clear()
	if b.asJSON {
		err = b.json(p)
	} else {
		err = b.printHistory(p)
	}
	if code := verdict.ExitStatus(outcomes...); err == nil && code != AsExpected {
		return &exit.Error{Code: code}
	}
	return err
}

// versions are the releases of the catalogue, of the store, and those that were pushed,
// oldest first.
func (b *bisection) versions(catalogue, pushed []string) []string {
	versions, more := slices.Clone(catalogue), slices.Clone(pushed)
	for _, ref := range b.store.Refs() {
		if ref.Name == b.record.Autoscaler {
			more = append(more, ref.Version)
		}
	}
	for _, version := range more {
		if m := tagPattern.FindStringSubmatch(version); m == nil || m[1] != "" || slices.Contains(versions, version) {
			continue
		}
		if _, err := semver.NewVersion(version); err == nil { // its numbers may be too large
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(x, y string) int { return semver.MustParse(x).Compare(semver.MustParse(y)) })
	return versions
}

// builtFor is the cloud that the record's build of a release is for.
func (b *bisection) builtFor(version string) string {
	wanted := b.providerOf(b.record)
	if known, err := buildstore.Known(builds.Ref{Name: b.record.Autoscaler, Version: version, Provider: wanted}); err == nil {
		return known.Provider
	}
	return wanted
}

// releaseOf is a build that the store has, or gets.
func (b *bisection) releaseOf(ctx context.Context, version string, get getting) (builds.Target, error) {
	ref := builds.Ref{Name: b.record.Autoscaler, Version: version, Provider: b.builtFor(version), Race: b.record.Race}
	got, err := b.store.Get(ref)
	none := (*buildstore.NotFoundError)(nil)
	switch {
	case !errors.As(err, &none):
		return got, err
	case slices.Contains(get.pushed, version):
		return b.take(ctx, ref, buildstore.Registries{From: get.pull, Mirror: buildstore.NoRegistry})
	case !get.build:
		return got, err
	}
	at := ""
	if b.dir != "" {
		repo, err := b.store.Repository(ctx, b.dir)
		if err != nil {
			return got, err
		}
		for _, tag := range []string{b.record.Autoscaler + "-" + version, version} {
			if at, err = repo.Commit(ctx, tag); err == nil {
				at = tag
				break
			}
		}
		if err != nil {
			return got, err
		}
	}
	recipe, err := b.toBuild(version, at)
	if err != nil {
		return got, err
	}
	return b.env.build(ctx, recipe)
}

func (b *bisection) printHistory(p past) error {
	w := tabwriter.NewWriter(b.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RELEASE\tVERDICT\tEXPECTED\tWHY")
	for _, r := range p.Releases {
		why := ""
		if r.Verdict == "" || r.Verdict == verdict.Inconclusive || r.Verdict == verdict.Failed {
			why = reports.Cut(r.Reason, 120)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", reports.Clean(r.Version), cmp.Or(string(r.Verdict), "-"), cmp.Or(r.Expected, "-"), reports.Clean(why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.stdout, "\n%s: %s\n", p.ID, p.Summary)
	return err
}
