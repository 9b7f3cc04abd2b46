package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/draft"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/bisect"
	"nodestorm/scenarios"
)

// bisection is one `nodestorm bisect`.
type bisection struct {
	*session
	source
	good, bad   string
	releases    bool // stop at releases
	every       bool // ask all releases
	firstParent bool
	anew        bool
	rules       bisect.Rules
	asJSON      bool
	autoscaler  string // of a scenario without a record

	record scenarios.Record
	points map[string]candidate // by the IDs of their points
	state  *stateFile
	hunt   *bisect.Hunt
}

func (e *env) bisect() *cobra.Command {
	b := &bisection{session: &session{env: e}, points: map[string]candidate{}}
	c := &cobra.Command{
		Use:   "bisect ID|FILE.feature --good REF --bad REF",
		Short: "Find since when a failure is there, or since when it is not: the release, then the commit",
		Long: `Find what broke, or what mended: good is where the failure does not show, bad where it
does, and either can be the older one. Between two releases the releases between them
are asked first, then the commits; each is built from a checkout of its own with
Go's build cache, and played until its verdict is certain. What does not build, or
fails in another way than the record has it, is skipped.

--source is a git repository: a folder of one (bare or not), or a URL. --module asks the
releases of a Go module instead, and needs no repository. Merges are followed as git
bisect does, or with --first-parent along the branch alone.

What was learned is kept below --out: the same command, given again after Ctrl-C, goes
on where it was. Beside it are a page with the last run without the change and the first
with it side by side, and a text in Markdown for upstream.

"nodestorm bisect step" is for a script of git bisect run.

Exit status: 0 the first release or commit is found, 1 several could be it or nothing
changes, 2 usage (also: the refs are the wrong way round), 3 an end cannot be told.`,
		Example: `  nodestorm bisect karpenter-7515-not-ready-noexecute --module sigs.k8s.io/karpenter --good v1.7.0 --bad v1.6.4
  nodestorm bisect karpenter-7515-not-ready-noexecute --source ~/src/karpenter --good v1.7.0 --bad v1.6.4
  nodestorm bisect clusterapi-9132-whole-increase --source https://github.com/kubernetes/autoscaler \
    --good cluster-autoscaler-1.33.0 --bad cluster-autoscaler-1.36.1`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if err := b.prepare(c, args[0]); err != nil {
				return err
			}
			return b.search(c.Context())
		},
	}
	b.session.addFlags(c)
	e.catalogueFlags(c)
	b.addManifest(c)
	c.ValidArgsFunction = e.completeIDs
	c.Flags().StringVar(&b.dir, "source", "", "the git `repository`: a folder, bare or not, or a URL")
	c.Flags().StringVar(&b.module, "module", "", "the Go `module` whose releases are asked, without a repository")
	c.Flags().StringVar(&b.good, "good", "", "`tag`, branch or commit without the failure; of a module a version")
	c.Flags().StringVar(&b.bad, "bad", "", "`tag`, branch or commit with the failure; of a module a version")
	c.Flags().BoolVar(&b.releases, "releases", false, "stop at the release, and ask no commits")
	c.Flags().BoolVar(&b.every, "every", false, "ask every release between, also those that the search does not need")
	c.Flags().BoolVar(&b.firstParent, "first-parent", false, "follow the branch that was merged into only: the answer can be a merge")
	c.Flags().BoolVar(&b.anew, "anew", false, "forget what an earlier call has learned")
	e.outputFlags(c, &b.asJSON)
	b.addCertain(c)
	b.addHow(c)
	c.AddCommand(e.bisectStep())
	return c
}

// addCertain adds the flags that say what is asked, and when a verdict is certain.
func (b *bisection) addCertain(c *cobra.Command) {
	c.Flags().StringVar(&b.autoscaler, "autoscaler", "", "what a FILE.feature is about, karpenter or cluster-autoscaler; a record says it itself")
	_ = c.RegisterFlagCompletionFunc("autoscaler", cobra.FixedCompletions([]string{draft.Karpenter, draft.ClusterAutoscaler}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVar(&b.rules.Healthy, "healthy-runs", 1, "how many healthy runs show that the failure is not there; of one that does not always come, more")
	c.Flags().IntVar(&b.rules.Doubts, "doubts", 3, "how many inconclusive runs skip a build")
}

func exactlyOneScenario(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage(fmt.Errorf("%d scenarios are named, want one: %s", len(args), c.UseLine()))
	}
	return nil
}

// prepare finds what is wrong with the arguments before anything is built.
func (b *bisection) prepare(c *cobra.Command, name string) (err error) {
	switch {
	case (b.dir == "") == (b.module == ""):
		return usage(errors.New("name where to look, one of both: --source REPOSITORY or --module PATH"))
	case b.good == "" || b.bad == "":
		return usage(errors.New("--good REF and --bad REF are both needed: without and with the failure, either can be the older"))
	case b.good == b.bad:
		return usage(fmt.Errorf("--good and --bad are the same: %s", b.good))
	}
	return b.one(c, name)
}

// one finds the scenario, and checks what a session of run does.
func (b *bisection) one(c *cobra.Command, name string) (err error) {
	switch {
	case b.rules.Healthy < 1 || b.rules.Doubts < 1:
		return usage(fmt.Errorf("--healthy-runs %d, --doubts %d: want 1 or more", b.rules.Healthy, b.rules.Doubts))
	case len(b.tags) > 1:
		return usage(errors.New("several --tags are several builds, and one is played: put commas between the tags of one build"))
	}
	if b.catalogue, err = b.unchecked(); err != nil {
		return err
	}
	files, ids := split([]string{name})
	records, err := b.inFiles(files, "", "")
	b.features = b.catalogue.Features()
	if err == nil && len(ids) > 0 {
		records, err = choose(b.catalogue, b.features, ids, "", false)
	}
	if err := b.toPlay(b.catalogue, records, err); err != nil {
		return err
	}
	if len(records) != 1 {
		return usage(fmt.Errorf("%s has %d scenarios: name one by its ID", name, len(records)))
	}
	b.record = records[0]
	switch known := []string{draft.Karpenter, draft.ClusterAutoscaler}; {
	case !b.record.Bare() && b.autoscaler != "" && b.autoscaler != b.record.Autoscaler:
		return usage(fmt.Errorf("%s is about %s, and --autoscaler is %s", b.record.ID, b.record.Autoscaler, b.autoscaler))
	case !b.record.Bare():
	case b.autoscaler == "":
		return usage(fmt.Errorf("%s has no record that says what is built: add --autoscaler karpenter or --autoscaler cluster-autoscaler", name))
	case !slices.Contains(known, b.autoscaler):
		return usage(fmt.Errorf("--autoscaler %q: want %s", b.autoscaler, strings.Join(known, " or ")))
	default:
		b.record.Autoscaler = b.autoscaler
	}
	if b.record.Autoscaler == "kubespray" {
		return usage(fmt.Errorf("%s is about kubespray, of which nothing is built", b.record.ID))
	}
	return b.check(c)
}

// toBuild is how a candidate is built.
func (b *bisection) toBuild(version, at string) (buildstore.Recipe, error) {
	tags := ""
	if len(b.tags) > 0 {
		tags = b.tags[0]
	} else if b.record.Autoscaler == "cluster-autoscaler" && b.dir != "" {
		tags = b.providerOf(b.record)
	}
	recipe, err := b.recipe(builds.Ref{Name: b.record.Autoscaler, Version: version}, at, tags)
	recipe.Race = recipe.Race || b.record.Race
	if provider := b.providerOf(b.record); provider == builds.Instances && err == nil {
		recipe, err = buildstore.OnInstances(recipe)
	} else if provider != "" && b.provider == "" {
		recipe.Provider = provider
	}
	return recipe, err
}

// search is all of it, from the ends to the report.
func (b *bisection) search(ctx context.Context) error {
	ends, err := b.ends(ctx)
	if err != nil {
		return usage(err)
	}
	if _, err := b.open(ctx, refuse); err != nil {
		return err
	}
	if err := b.remember(ends); err != nil {
		return err
	}
	b.hunt = &bisect.Hunt{Try: b.try, Known: b.state.known(), Learned: b.learned, Progress: b.progress}
	found, err := b.find(ctx, ends)
	var sides *bisect.SidesError
	switch {
	case errors.As(err, &sides) && sides.Swapped:
		return usage(err)
	case errors.As(err, &sides) && sides.Untold:
		return &exit.Error{Code: Inconclusive, Err: err}
	case errors.As(err, &sides):
		return &exit.Error{Code: NotAsExpected, Err: err}
	case err != nil:
		if ctx.Err() != nil && len(b.state.Trials) > 0 {
			b.say("%s learned so far: kept in %s, and the same command goes on from there", counted(len(b.state.Trials), "answer"), b.state.path)
		}
		return err
	}
	return b.report(ctx, ends, found)
}
