package supplies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
)

var _ = Commands.Add(console.Builds, newTarget)

func newTarget(e *console.Console) *cobra.Command {
	c := console.Group(&cobra.Command{Use: "target", Short: "Get, build, add, share and remove builds under test",
		Example: "  nodestorm target get --all\n  nodestorm target list"})
	c.AddCommand(newTargetGet(e), newTargetBuild(e), newTargetAdd(e), newTargetPush(e), newTargetList(e), newTargetRemove(e),
		newTargetImage(e))
	return c
}

// What of an image runs.
const (
	asProcess   = "process"
	asContainer = "container"
)

// addOptions are what program is taken as it is.
type addOptions struct{ source, at, provider, image, path, as string }

func newTargetAdd(e *console.Console) *cobra.Command {
	var o addOptions
	c := &cobra.Command{
		Use:   "add NAME@VERSION FILE | --image IMAGE",
		Short: "Take a program as it is",
		Long: `Take a program as it is, from a file or out of a container image: an OCI layout
(a folder), what docker save wrote (a file), or a reference to a registry. A Go program
lives in virtual time as it is, on Linux where ptrace and seccomp are allowed; another in
real time only.

Where a process out of the image is not enough, because it needs the image's libraries,
its entry point or other files, --as container has runs start the whole image with Docker:
on this machine's network, with the image's own user and environment, without capabilities,
in real time. A Deployment's command, args and memory limit (--manifest) hold as they do in
Kubernetes. Docker gets the image when it is first run, from where it was added, until
target rm; one that needs no registry is a file of docker save. --path is then the program that flags are
looked up in.

A program that is called as a release is, such as karpenter@v1.14.1, does not stand for it:
its runs say that it is called so, are a column of their own in a matrix, and no part of the
track record, and nothing is expected of them but what is right.`,
		Example: `  nodestorm target add cluster-autoscaler@1.32.7 ./cluster-autoscaler
  nodestorm target add cluster-autoscaler@1.32.7 \
    --image registry.example/autoscaling/cluster-autoscaler:v1.32.7
  nodestorm target add cluster-autoscaler@1.32.7 --image saved.tar \
    --path /cluster-autoscaler
  nodestorm target add cluster-autoscaler@1.32.7 --image saved.tar \
    --path /cluster-autoscaler --as container`,
		Args: func(c *cobra.Command, args []string) error {
			if o.image != "" {
				return console.Exactly(1)(c, args)
			}
			return console.Exactly(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(e, c.Context(), args) },
	}
	c.Flags().StringVar(&o.source, "source", "",
		"source for charts and CRDs: a `FOLDER`, or with --ref a git repository or URL")
	c.Flags().StringVar(&o.at, "ref", "", "`REF` of the repository: a tag, branch or commit")
	c.Flags().StringVar(&o.provider, "provider", "", "cloud `PROVIDER` that is compiled in")
	c.Flags().StringVar(&o.image, "image", "", "`IMAGE` that has it: a folder, a file, or a reference in a registry")
	c.Flags().StringVar(&o.path, "path", "", "`PATH` of the program in the image; default: what the image runs")
	c.Flags().StringVar(&o.as, "as", asProcess, "run it as a `FORM`: process (the program alone), or container (the whole image)")
	return c
}

func (o addOptions) run(e *console.Console, ctx context.Context, args []string) error {
	recipe, err := o.recipe(e, ctx, args[0])
	if err != nil {
		return exit.UsageError(err)
	}
	t, err := o.add(e, ctx, recipe, args[1:])
	if err != nil {
		return exit.UsageError(err)
	}
	only := ""
	if t.RealTimeOnly() {
		only = ", for --clock real"
	}
	fmt.Fprintf(e.Stdout, "%s is ready%s: %s\n", t.Ref, only, t.Dir)
	if !t.OfRelease() {
		e.Remark("it is called as a release is, and stands for none: what the catalogue has of %s is not expected of it", t.Ref)
	}
	return nil
}

// recipe is that of the program, whose source has what else worlds need.
func (o addOptions) recipe(e *console.Console, ctx context.Context, name string) (recipe buildstore.Recipe, err error) {
	switch {
	case o.path != "" && o.image == "":
		return recipe, errors.New("--path is a path in an --image, and there is none")
	case o.as != asProcess && o.as != asContainer:
		return recipe, fmt.Errorf("--as %q: want %s or %s", o.as, asProcess, asContainer)
	case o.as == asContainer && o.image == "":
		return recipe, errors.New("--as container runs an --image, and there is none")
	}
	ref, err := builds.ParseRef(name)
	if err != nil {
		return recipe, err
	}
	if o.at != "" && o.source == "" {
		return recipe, errors.New("--ref is one of a repository: name that with --source")
	}
	recipe = buildstore.FromSource(ref, o.source)
	if recipe.At = o.at; o.at != "" {
		if err := checkRefs(e, ctx, o.source, []string{o.at}); err != nil {
			return recipe, err
		}
	}
	if o.source == "" && len(recipe.Assets) > 0 {
		return recipe, fmt.Errorf("--source is missing: worlds install the charts and CRDs of %s from its source, such as a checkout", ref.Name)
	}
	recipe.Provider = cmp.Or(o.provider, recipe.Provider)
	return recipe, nil
}

func (o addOptions) add(e *console.Console, ctx context.Context, recipe buildstore.Recipe, file []string) (builds.Target, error) {
	if o.image == "" {
		return e.Store.Add(ctx, recipe, file[0])
	}
	line := e.NewLine()
	defer line.Clear()
	return e.Store.AddImage(ctx, recipe, o.image, o.path, o.as == asContainer, supply.ShowOn(line, "", ""))
}

func newTargetPush(e *console.Console) *cobra.Command {
	var provider string
	c := &cobra.Command{
		Use:   "push NAME@VERSION REGISTRY/REPOSITORY",
		Short: "Give a build to others, through a container registry",
		Long: `Write a build to an OCI registry, for "nodestorm target get --from" on other machines: those of
one team, or of a night. One repository holds as many as there are: each has a tag of its
name, version, provider, machine and clock. What is pushed twice has one digest, its
provenance is in the annotations, and no path of this machine is in it.

The registry is asked with the credentials that docker has for it. Plain HTTP is spoken
on loopback only.`,
		Example: `  nodestorm target push kubernetes@v1.36.3 registry.example/team/nodestorm
  nodestorm target push cluster-autoscaler@1.33.0 \
    registry.example/team/nodestorm --provider hetzner`,
		Args: console.Exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := builds.ParseRef(args[0])
			if err != nil {
				return exit.UsageError(err)
			}
			ref.Provider = provider
			line := e.NewLine()
			where, err := e.Store.Push(c.Context(), ref, args[1], supply.ShowOn(line, "", ""))
			line.Clear()
			if err != nil {
				return exit.UsageError(err)
			}
			fmt.Fprintf(e.Stdout, "%s is at %s\n", ref, where)
			return nil
		},
	}
	c.Flags().StringVar(&provider, "provider", "", "cloud `PROVIDER` that is compiled in; default: the one built last")
	return c
}

func newTargetList(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the targets in the store",
		Example: "  nodestorm target list -o wide",
		Args:    console.Exactly(0),
		RunE: func(*cobra.Command, []string) error {
			entries, err := e.Store.List()
			if err != nil {
				return err
			}
			switch {
			case e.Form == console.AsNames:
				var names []string
				for _, t := range entries {
					names = append(names, t.Ref.String())
				}
				return e.Names(slices.Compact(names))
			case asJSON:
				type row struct {
					builds.Manifest
					RealTimeOnly bool   `json:"realTimeOnly"`
					Dir          string `json:"dir"`
					Problem      string `json:"problem,omitempty"`
				}
				rows := []row{}
				for _, t := range entries {
					r := row{Manifest: t.Manifest, RealTimeOnly: t.RealTimeOnly(), Dir: t.Dir}
					if t.Err != nil {
						r.Problem = t.Err.Error()
					}
					rows = append(rows, r)
				}
				return e.JSON(rows)
			}
			width := console.Columns(e.Stdout)
			if e.Form == console.AsWide {
				width = 0
			}
			return e.Table(width, 1, targetRows(entries))
		},
	}
	e.OutputFlags(c, &asJSON, console.AsWide, console.AsNames)
	return c
}

// targetRows are a line for each build: of one name and provider the first is the one that
// is used.
func targetRows(entries []buildstore.Entry) [][]string {
	rows := [][]string{{"TARGET", "FOR", "BUILT", "SHA256", "CLOCK", "SIZE", "GO", "OF"}}
	for _, t := range entries {
		of := originOf(t.Source)
		if t.Err != nil {
			of = t.Err.Error()
		}
		clock := "virtual"
		switch {
		case t.RealTimeOnly():
			clock = "real only"
		case !t.Virtual():
			clock = "as it is"
		}
		if t.Race {
			clock += ", race"
		}
		built := "-"
		if !t.BuiltAt.IsZero() {
			built = t.BuiltAt.Format("2006-01-02 15:04")
		}
		digest := wording.Clean(t.SHA256[:min(12, len(t.SHA256))])
		rows = append(rows, []string{
			t.Ref.String(), cmp.Or(t.Provider, "-"), built, cmp.Or(digest, "-"), clock, fmt.Sprintf("%d MB", t.Size>>20),
			cmp.Or(wording.Clean(t.GoVersion), "-"), wording.Clean(of),
		})
	}
	return rows
}

// originOf is what a build was made of, which distinguishes two builds of one name.
func originOf(s builds.Source) string {
	words := []string{string(s.Kind)}
	if s.Ref != "" {
		words = append(words, s.Ref)
	}
	if s.Commit != "" {
		words = append(words, s.Commit[:min(12, len(s.Commit))])
	}
	if s.Dirty {
		words = append(words, "with changes")
	}
	switch s.Kind {
	case builds.FromModule:
		words = append(words, strings.TrimSpace(s.Module+" "+s.Version))
	case builds.FromImage:
		words = append(words, s.Image)
		if s.Container {
			words = append(words, "as a container")
		}
	case builds.FromBinary:
		words = append(words, s.File)
	default:
		words = append(words, s.Dir)
	}
	return strings.Join(words, " ")
}

// buildOf is a build in a line, for who has just removed it.
func buildOf(t buildstore.Entry) string {
	text := t.Ref.String()
	if t.Provider != "" {
		text += " for " + t.Provider
	}
	if t.Race {
		text += " with the race detector"
	}
	if t.BuiltAt.IsZero() {
		return text + ", which was damaged"
	}
	return wording.Clean(fmt.Sprintf("%s of %s, %d MB, of %s", text, t.BuiltAt.Format("2006-01-02 15:04"), t.Size>>20, originOf(t.Source)))
}

func newTargetRemove(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME@VERSION",
		Aliases: []string{"delete"},
		Short:   "Remove a target from the store",
		Example: "  nodestorm target rm karpenter@v1.7.0",
		Long: `Remove all builds of that name and version from the store. The image of one that was
added --as container is removed from Docker as well, if Docker got it from nodestorm and no
other target needs it.`,
		Args: console.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := builds.ParseRef(args[0])
			if err != nil {
				return exit.UsageError(err)
			}
			entries, err := e.Store.List()
			if err != nil {
				return err
			}
			if err := e.Store.Remove(c.Context(), ref); err != nil {
				return exit.UsageError(err)
			}
			for _, t := range entries {
				if t.Name == ref.Name && t.Version == ref.Version {
					fmt.Fprintf(e.Stdout, "removed %s\n", buildOf(t))
				}
			}
			sweepImages(e, c.Context())
			return nil
		},
	}
}
