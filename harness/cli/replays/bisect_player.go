package replays

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/playing"
	"nodestorm/harness/draft"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/bisect"
)

// bisection is one command about one record on many builds, and plays it.
type bisection struct {
	*session
	bisect.Options
	asJSON     bool
	dry        bool
	autoscaler string // of a scenario without a record
}

func newBisection(e *console.Console) *bisection {
	b := &bisection{session: newSession(e)}
	b.Player = b
	b.Say = b.SayBetween
	return b
}

// addFlags adds the flags that say what is asked, and when a verdict is certain.
func (b *bisection) addFlags(c *cobra.Command) {
	b.session.AddFlags(c)
	b.CatalogueFlags(c)
	b.addManifest(c)
	c.ValidArgsFunction = b.CompleteIDs
	c.Flags().StringVar(&b.autoscaler, "autoscaler", "",
		"`PROGRAM` that a FILE.feature is about: karpenter or cluster-autoscaler")
	_ = c.RegisterFlagCompletionFunc("autoscaler",
		cobra.FixedCompletions([]string{draft.Karpenter, draft.ClusterAutoscaler}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVar(&b.Rules.Healthy, "healthy-runs", 1,
		"`N` healthy runs show that the failure is gone; more for one that is rare")
	c.Flags().IntVar(&b.Rules.Doubts, "max-inconclusive", 3, "skip a build after `N` inconclusive runs")
	b.RenamedFlag(c, "doubts", "max-inconclusive")
	console.HowFlags(c, &b.From)
	playing.AddDryRun(c, &b.dry)
}

func exactlyOneScenario(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return exit.UsageError(fmt.Errorf("%d scenarios are named, want one: %s", len(args), c.UseLine()))
	}
	return nil
}

// prepareScenario finds the scenario, and checks what a session of run does.
func (b *bisection) prepareScenario(c *cobra.Command, name string) (err error) {
	switch {
	case b.Rules.Healthy < 1 || b.Rules.Doubts < 1:
		return exit.UsageError(fmt.Errorf("--healthy-runs %d, --max-inconclusive %d: want 1 or more", b.Rules.Healthy, b.Rules.Doubts))
	case len(b.From.Tags) > 1:
		return exit.UsageError(errors.New("several --tags are several builds, and one is played: put commas between the tags of one build"))
	}
	if b.Catalogue, err = b.Unchecked(); err != nil {
		return err
	}
	files, ids := split([]string{name})
	records, err := b.inFiles(files, "", "")
	b.Features = b.Catalogue.Features()
	if err == nil && len(ids) > 0 {
		records, err = replay.Choose(b.Catalogue, b.Features, ids, "", false)
	}
	if err := b.ToPlay(b.Catalogue, records, err); err != nil {
		return err
	}
	if len(records) != 1 {
		return exit.UsageError(fmt.Errorf("%s has %d scenarios: name one by its ID", name, len(records)))
	}
	b.Record = records[0]
	if err := b.checkBuilds(name); err != nil {
		return exit.UsageError(err)
	}
	if err := b.check(c); err != nil {
		return err
	}
	if err := b.checkInputs(c.Context(), records[:1]); err != nil {
		return err
	}
	b.Provider, b.Options.Store, b.Out = b.Queue.ProviderOf(b.Record), b.Console.Store, b.session.Out
	b.Conditions = b.conditions()
	return nil
}

// checkBuilds makes sure that it is known what is built.
func (b *bisection) checkBuilds(name string) error {
	switch known := []string{draft.Karpenter, draft.ClusterAutoscaler}; {
	case !b.Record.Bare() && b.autoscaler != "" && b.autoscaler != b.Record.Autoscaler:
		return fmt.Errorf("%s is about %s, and --autoscaler is %s", b.Record.ID, b.Record.Autoscaler, b.autoscaler)
	case !b.Record.Bare():
	case b.autoscaler == "":
		return fmt.Errorf("%s has no record that says what is built: add --autoscaler karpenter or --autoscaler cluster-autoscaler", name)
	case !slices.Contains(known, b.autoscaler):
		return fmt.Errorf("--autoscaler %q: want %s", b.autoscaler, strings.Join(known, " or "))
	default:
		b.Record.Autoscaler = b.autoscaler
	}
	if of := program.Named(b.Record.Autoscaler); of.Unbuilt {
		return fmt.Errorf("%s is about %s, of which nothing is built", b.Record.ID, of.Name)
	}
	return nil
}

// conditions are what answers depend on.
func (b *bisection) conditions() []string {
	list := []string{
		b.From.Package, b.From.Provider, fmt.Sprint(b.From.Tags), fmt.Sprint(b.Rules),
		fmt.Sprint(b.World.Seed), b.World.Clock.String(), b.Manifest, fmt.Sprint(b.withNames), b.KubernetesName,
		run.RecordDigest(b.Record), b.Cloud,
	}
	if b.Features != nil {
		if text, err := fs.ReadFile(b.Features, b.Record.Feature); err == nil {
			list = append(list, fmt.Sprintf("%x", sha256.Sum256(text)))
		}
	}
	if b.autoscaler != "" {
		list = append(list, b.autoscaler)
	}
	return list
}

// Build is bisect.Player's.
func (b *bisection) Build(ctx context.Context, recipe buildstore.Recipe) (builds.Target, error) {
	return b.Supplier().Build(ctx, recipe)
}

// Check is bisect.Player's.
func (b *bisection) Check(ctx context.Context, build builds.Target) error {
	if err := replay.CheckClock(b.World.Clock, build); err != nil {
		return exit.UsageError(err)
	}
	return b.CheckManifest(ctx, []queue.Job{b.Job(b.Record, build)})
}

// Play is bisect.Player's.
func (b *bisection) Play(ctx context.Context, build builds.Target) (bisect.Played, error) {
	result, row, err := b.Replay(ctx, b.Job(b.Record, build), "")
	return bisect.Played{Verdict: result.Verdict, Reason: row.Reason, Run: result.Dir, Seconds: row.WallSeconds}, err
}
