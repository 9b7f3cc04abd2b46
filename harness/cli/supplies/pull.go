package supplies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
)

// pullRow is what became of a target, for machines.
type pullRow struct {
	builds.Ref
	Bytes int64    `json:"bytes,omitempty"`
	Where []string `json:"where,omitempty"` // the references it was found under
	Dir   string   `json:"dir,omitempty"`
	// Built says why no registry has it.
	Built string `json:"built,omitempty"`
}

var _ = Commands.Add(console.Builds, newPull)

func newPull(e *console.Console) *cobra.Command {
	var from buildstore.Registries
	var provider, tags, lock string
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "pull [NAME@VERSION|ID…]",
		Short: "Pull builds from container registries, without Docker or a compiler",
		Long: `Get targets, or what the records named need, from where their projects publish them: the
program out of the image, after its size was told and with all of it checked against its
digests. What no project publishes is named; nodestorm setup builds that. A program that
was built here goes before one that was pulled.

With --from it is taken from where "nodestorm target push" has written builds, if they are
there: those of one team, or of a night. With a digest, as push prints it, that build is
taken and nothing else.

To what digest each reference leads is kept in the store, and with --lock in a file to be
committed, too. One that leads elsewhere later is refused.

Registries are asked with the credentials that docker has for them, and plain HTTP is spoken
on loopback only. What verify and run lack they look for in the same places:
` + buildstore.EnvFrom + ` and ` + buildstore.EnvMirror + ` are --from and --mirror for all commands,
and ` + buildstore.EnvMirror + `=` + buildstore.NoRegistry + ` has nobody asked.`,
		Example: `  nodestorm pull --all
  nodestorm pull cluster-autoscaler@1.33.0 --lock images.lock
  nodestorm pull hetzner-6677-options-error --mirror registry.example/mirror
  nodestorm pull kubernetes@v1.36.3 karpenter@v1.7.0 --from registry.example/team/nodestorm`,
		RunE: func(c *cobra.Command, args []string) error {
			from.Lock = buildstore.Lock(lock)
			named, refs, err := toPull(e, args, provider, tags, all)
			if err != nil {
				return err
			}
			return pullAll(e, c.Context(), named, refs, from, asJSON)
		},
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return completePull(e, c, args, word)
	}
	c.Flags().BoolVar(&all, "all", false, "all that the catalogue names")
	c.Flags().StringVar(&tags, "tags", "", console.TagsUsage)
	registries := console.RegistriesOfEnvironment()
	c.Flags().StringVar(&from.From, "from", registries.From, "`REGISTRY/REPOSITORY[@DIGEST]` that builds were pushed to")
	c.Flags().StringVar(&from.Mirror, "mirror", registries.Mirror,
		"`HOST/PREFIX` to ask in place of the projects' registries; "+buildstore.NoRegistry+": nobody")
	c.Flags().StringVar(&lock, "lock", "", "`file` of digests to check, and to add to")
	c.Flags().StringVar(&provider, "provider", "", "`cloud` that a build is for; default: the one that its recipe has, if any")
	e.CatalogueFlags(c)
	e.OutputFlags(c, &asJSON, console.AsNames)
	return c
}

// toPull are the targets that are named, which are got in any case, and those that records
// need.
func toPull(e *console.Console, args []string, provider, tags string, all bool) (named, needed []builds.Ref, err error) {
	var ids []string
	for _, arg := range args {
		if !strings.Contains(arg, "@") {
			ids = append(ids, arg)
			continue
		}
		ref, err := builds.ParseRef(arg)
		if err != nil {
			return nil, nil, exit.UsageError(err)
		}
		if ref.Provider = provider; provider == "" {
			if known, err := buildstore.Known(ref); err == nil {
				ref.Provider = known.Provider
			}
		}
		named = append(named, ref)
	}
	if len(named) > 0 && len(ids) == 0 && tags == "" && !all {
		return named, nil, nil
	}
	catalogue, err := e.Unchecked()
	if err != nil {
		return nil, nil, err
	}
	records, err := replay.Choose(catalogue, catalogue.Features(), ids, tags, all)
	if err := e.ToPlay(catalogue, records, err); err != nil {
		return nil, nil, err
	}
	needed, err = replay.NeededBy(catalogue, records)
	return named, needed, exit.UsageError(err)
}

// pulling are offers of targets, with a row for each target, also for those that are not offered.
type pulling struct {
	rows   []pullRow
	offers []*buildstore.Offer
	size   int64
}

// pullAll gets the named targets, and of those that are needed what is not there.
func pullAll(e *console.Console, ctx context.Context, named, needed []builds.Ref, from buildstore.Registries, asJSON bool) error {
	p, err := ask(e, ctx, named, needed, from)
	if err != nil {
		return exit.UsageError(err)
	}
	people := !asJSON && e.Form != console.AsNames
	if people {
		if err := tellOffers(e, p.rows, p.size); err != nil {
			return err
		}
	}
	if err := p.take(e, ctx, people); err != nil {
		return exit.UsageError(err)
	}
	switch {
	case e.Form == console.AsNames:
		var dirs []string
		for _, row := range p.rows {
			if row.Dir != "" {
				dirs = append(dirs, row.Dir)
			}
		}
		return e.Names(dirs)
	case asJSON:
		return e.JSON(p.rows)
	}
	return nil
}

// ask asks registries for the named targets, and of those that are needed for what is not there.
func ask(e *console.Console, ctx context.Context, named, needed []builds.Ref, from buildstore.Registries) (*pulling, error) {
	status := e.NewLine()
	defer status.Clear()
	p := &pulling{rows: []pullRow{}}
	seen := map[builds.Ref]bool{}
	for i, ref := range slices.Concat(named, needed) {
		if published, err := buildstore.Published(ref); err == nil && len(published) > 0 && from.From == "" {
			ref.Provider = "" // one for all
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		where := from
		if i >= len(named) {
			if _, err := e.Supplier().Find(ref); err == nil {
				continue
			}
			where = supply.Places(ref, from)
		}
		if len(named)+len(needed) > 1 {
			status.Show("", "asking for "+ref.String(), "")
		}
		offer, err := e.Store.Ask(ctx, ref, where)
		var unpublished *buildstore.UnpublishedError
		switch {
		case err == nil:
			p.offers, p.size = append(p.offers, offer), p.size+offer.Size
			p.rows = append(p.rows, pullRow{Ref: ref, Bytes: offer.Size, Where: offer.Where})
		case errors.As(err, &unpublished) && i >= len(named):
			p.rows = append(p.rows, pullRow{Ref: ref, Built: unpublished.Error()})
		case errors.As(err, &unpublished):
			return nil, fmt.Errorf("%w; %s", err, (&buildstore.NotFoundError{Ref: ref}).Command())
		default:
			return nil, withoutNetwork(err)
		}
	}
	return p, nil
}

// take takes what is offered.
func (p *pulling) take(e *console.Console, ctx context.Context, people bool) error {
	status := e.NewLine()
	defer status.Clear()
	for i, offer := range p.offers {
		number := ""
		if len(p.offers) > 1 {
			number = fmt.Sprintf("[%d/%d] ", i+1, len(p.offers))
		}
		t, err := e.Store.Take(ctx, offer, supply.ShowOn(status, number, ""))
		status.Clear()
		if err != nil {
			return withoutNetwork(err)
		}
		for r := range p.rows {
			if p.rows[r].Ref == offer.Ref {
				p.rows[r].Dir = t.Dir
			}
		}
		if !people {
			continue
		}
		fmt.Fprintf(e.Stdout, "%s is ready: %s\n", t.Ref, t.Dir)
		if used, err := e.Store.Get(offer.Ref); err == nil && used.Dir != t.Dir {
			fmt.Fprintf(e.Stdout, "  but the build of %s goes before it: %s\n", used.BuiltAt.Format("2006-01-02 15:04"), used.Dir)
		}
	}
	return nil
}

// tellOffers says what there is to get, before anything is.
func tellOffers(e *console.Console, rows []pullRow, size int64) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(e.Stdout, "all of it is in the store")
		return err
	}
	table := [][]string{{"TARGET", "SIZE", "FROM"}}
	images, built := 0, 0
	for _, row := range rows {
		if row.Built != "" {
			built++
			_, why, _ := strings.Cut(row.Built, "has to be built: ")
			table = append(table, []string{row.Ref.String(), "-", "has to be built: " + why})
			continue
		}
		where := row.Where[0]
		if n := len(row.Where); n > 1 {
			where += fmt.Sprintf(" and %d more", n-1)
		}
		images += len(row.Where)
		table = append(table, []string{row.Ref.String(), megabytes(row.Bytes), where})
	}
	if err := e.Table(console.Columns(e.Stdout), 1, table); err != nil {
		return err
	}
	text := "nothing to pull"
	if images > 0 {
		text = fmt.Sprintf("%s, %s in all", wording.Counted(images, "image"), megabytes(size))
	}
	if built > 0 {
		text += fmt.Sprintf("; %d to build: nodestorm setup", built)
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%s\n", text)
	return err
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// withoutNetwork adds the way out where no registry answers.
func withoutNetwork(err error) error {
	var none *registry.UnreachableError
	if !errors.As(err, &none) {
		return err
	}
	return fmt.Errorf("%w: nodestorm setup builds what has a Go module, and --mirror names another place to ask", none)
}

// completePull offers records and targets.
func completePull(e *console.Console, c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	ids, _ := e.CompleteIDs(c, args, word)
	targets, how := console.CompleteTargets(c, args, word)
	return append(targets, ids...), how
}
