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

// getOptions are what target get is to get, and how.
type getOptions struct {
	from                     buildstore.Registries
	provider, tags, lock     string
	all, pull, build, asJSON bool
}

func newTargetGet(e *console.Console) *cobra.Command {
	var o getOptions
	c := &cobra.Command{
		Use:   "get [NAME@VERSION|ID…]",
		Short: "Download published builds, and build the others",
		Long: `Get targets, or what the named records need. What projects publish is downloaded: the
program out of the image, after its size was shown, and checked against its digests. The
rest is built from Go modules. No Docker is needed. A program that was built here goes
before one that was downloaded.

With --pull nothing is built, and what no project publishes is named. With --build no
registry is asked. From nothing, --all --build takes 25 minutes on two cores, 10 GB of Go's
build cache and 1 GB of builds; what is there already is not built again. Cluster
Autoscaler has no Go module: "nodestorm doctor" prints what builds it from a checkout.

With --from, builds are taken from where "nodestorm target push" has written them, if they
are there. With a digest, as push prints it, that build is taken and nothing else.

The digest of each reference is kept in the store, and with --lock in a file to be
committed, too. A reference that has another digest later is refused.

Registries are asked with the credentials that docker has for them. Plain HTTP is used on
loopback only. All commands read ` + buildstore.EnvFrom + ` and ` + buildstore.EnvMirror + `, which are --from
and --mirror; with ` + buildstore.EnvMirror + `=` + buildstore.NoRegistry + ` no registry is asked.`,
		Example: `  nodestorm target get --all
  nodestorm target get --all --build
  nodestorm target get cluster-autoscaler@1.33.0 --lock images.lock
  nodestorm target get hetzner-6677-options-error --mirror registry.example/m
  nodestorm target get karpenter@v1.7.0 --from registry.example/team/nodestorm`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(e, c.Context(), args) },
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return completeGet(e, c, args, word)
	}
	c.Flags().BoolVar(&o.all, "all", false, "all that the catalogue names")
	c.Flags().BoolVar(&o.pull, "pull", false, "download only, and build nothing")
	c.Flags().BoolVar(&o.build, "build", false, "build only, and ask no registry")
	c.Flags().StringVar(&o.tags, "tags", "", console.TagsUsage)
	registries := console.RegistriesOfEnvironment()
	c.Flags().StringVar(&o.from.From, "from", registries.From, "`REGISTRY/REPOSITORY[@DIGEST]` that builds were pushed to")
	c.Flags().StringVar(&o.from.Mirror, "mirror", registries.Mirror,
		"`HOST/PREFIX` to ask in place of the projects' registries; "+buildstore.NoRegistry+": none")
	c.Flags().StringVar(&o.lock, "lock", "", "`FILE` of digests to check, and to add to")
	c.Flags().StringVar(&o.provider, "provider", "", "cloud `PROVIDER` that is compiled in; default: the recipe's, if any")
	e.CatalogueFlags(c)
	e.OutputFlags(c, &o.asJSON, console.AsNames)
	console.MutuallyExclusive(c, "pull", "build")
	return c
}

func (o getOptions) run(e *console.Console, ctx context.Context, args []string) error {
	o.from.Lock = buildstore.Lock(o.lock)
	var named, needed []builds.Ref
	var err error
	if o.build && o.all && len(args) == 0 && o.tags == "" {
		needed, err = replay.Needed()
	} else {
		named, needed, err = toGet(e, args, o)
	}
	if err != nil {
		return exit.UsageError(err)
	}
	p := &pulling{rows: []pullRow{}}
	if !o.build {
		if err := p.pullAll(e, ctx, named, needed, o); err != nil {
			return err
		}
	}
	if !o.pull {
		if err := p.buildRest(e, ctx, named, needed, o); err != nil {
			return err
		}
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
	case o.asJSON:
		return e.JSON(p.rows)
	}
	return nil
}

// buildRest builds what no registry was asked for, or has. Of all builds of the catalogue those that
// cannot be built are left out.
func (p *pulling) buildRest(e *console.Console, ctx context.Context, named, needed []builds.Ref, o getOptions) error {
	todo := slices.Concat(named, needed)
	if !o.build {
		todo = nil
		for _, row := range p.rows {
			if row.Built != "" {
				todo = append(todo, row.Ref)
			}
		}
	}
	e.Supplier().WithoutRegistries()
	all := func(builds.Target) error { return nil }
	left := 0
	have, err := e.Supplier().Ensure(ctx, all, func(ref builds.Ref, err error) error {
		if !o.all || ref == builds.Kubernetes {
			return exit.UsageError(err)
		}
		left++
		return nil
	}, todo...)
	for ref, t := range have {
		at := slices.IndexFunc(p.rows, func(row pullRow) bool { return row.Ref == ref })
		if at < 0 {
			at, p.rows = len(p.rows), append(p.rows, pullRow{Ref: ref})
		}
		p.rows[at].Dir = t.Dir
	}
	if err == nil && left > 0 {
		e.Remark("left out: %s of Cluster Autoscaler, which has no Go module; nodestorm doctor prints how to build them",
			wording.Counted(left, "release"))
	}
	return err
}

// toGet are the targets that are named, which are got in any case, and those that records
// need.
func toGet(e *console.Console, args []string, o getOptions) (named, needed []builds.Ref, err error) {
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
		if ref.Provider = o.provider; o.provider == "" {
			if known, err := buildstore.Known(ref); err == nil {
				ref.Provider = known.Provider
			}
		}
		named = append(named, ref)
	}
	if len(named) > 0 && len(ids) == 0 && o.tags == "" && !o.all {
		return named, nil, nil
	}
	catalogue, err := e.Unchecked()
	if err != nil {
		return nil, nil, err
	}
	records, err := replay.Choose(catalogue, catalogue.Features(), ids, o.tags, o.all)
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

// pullAll gets out of registries the named targets, and of those that are needed what is not there.
func (p *pulling) pullAll(e *console.Console, ctx context.Context, named, needed []builds.Ref, o getOptions) error {
	if err := p.findOffers(e, ctx, named, needed, o); err != nil {
		return exit.UsageError(err)
	}
	people := !o.asJSON && e.Form != console.AsNames
	if people && (o.pull || len(p.offers) > 0) {
		if err := tellOffers(e, p.rows, p.size, o.pull); err != nil {
			return err
		}
	}
	return exit.UsageError(p.pullOffers(e, ctx, people))
}

// findOffers asks registries for the named targets, and of those that are needed for what is not there.
func (p *pulling) findOffers(e *console.Console, ctx context.Context, named, needed []builds.Ref, o getOptions) error {
	status := e.NewLine()
	defer status.Clear()
	seen := map[builds.Ref]bool{}
	for i, ref := range slices.Concat(named, needed) {
		if published, err := buildstore.Published(ref); err == nil && len(published) > 0 && o.from.From == "" {
			ref.Provider = "" // one for all
		}
		if seen[ref] {
			continue
		}
		seen[ref] = true
		where := o.from
		if i >= len(named) {
			if _, err := e.Supplier().Find(ref); err == nil {
				continue
			}
			where = supply.Places(ref, o.from)
		}
		if len(named)+len(needed) > 1 {
			status.Show("", "asking for "+ref.String(), "")
		}
		offer, err := e.Store.FindOffer(ctx, ref, where)
		var unpublished *buildstore.UnpublishedError
		switch {
		case err == nil:
			p.offers, p.size = append(p.offers, offer), p.size+offer.Size
			p.rows = append(p.rows, pullRow{Ref: ref, Bytes: offer.Size, Where: offer.Where})
		case errors.As(err, &unpublished) && (i >= len(named) || !o.pull):
			p.rows = append(p.rows, pullRow{Ref: ref, Built: unpublished.Error()})
		case errors.As(err, &unpublished):
			return fmt.Errorf("%w; %s", err, (&buildstore.NotFoundError{Ref: ref}).Command())
		default:
			return withoutNetwork(err)
		}
	}
	return nil
}

// pullOffers takes what is offered.
func (p *pulling) pullOffers(e *console.Console, ctx context.Context, people bool) error {
	status := e.NewLine()
	defer status.Clear()
	for i, offer := range p.offers {
		number := ""
		if len(p.offers) > 1 {
			number = fmt.Sprintf("[%d/%d] ", i+1, len(p.offers))
		}
		t, err := e.Store.PullOffer(ctx, offer, supply.ShowOn(status, number, ""))
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
func tellOffers(e *console.Console, rows []pullRow, size int64, pullOnly bool) error {
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
	text := "nothing to download"
	if images > 0 {
		text = fmt.Sprintf("%s, %s in all", wording.Counted(images, "image"), megabytes(size))
	}
	if built > 0 {
		text += fmt.Sprintf("; %d to build", built)
		if pullOnly {
			text += ": leave out --pull"
		}
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
	return fmt.Errorf("%w: --build builds what has a Go module, and --mirror names another place to ask", none)
}

// completeGet offers records and targets.
func completeGet(e *console.Console, c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	ids, _ := e.CompleteIDs(c, args, word)
	targets, how := console.CompleteTargets(c, args, word)
	return append(targets, ids...), how
}
