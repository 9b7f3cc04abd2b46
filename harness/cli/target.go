package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/target"
)

func (e *env) target() *cobra.Command {
	c := group(&cobra.Command{Use: "target", Short: "The builds under test: build, add, list and remove them"})
	c.AddCommand(e.targetBuild(), e.targetAdd(), e.targetList(), e.targetRemove())
	return c
}

func (e *env) targetBuild() *cobra.Command {
	var source, pkg, provider string
	var tags []string
	c := &cobra.Command{
		Use:   "build NAME@VERSION",
		Short: "Build a target with the clock, from its Go module or from a folder",
		Example: `  nodestorm target build karpenter@v1.7.0
  nodestorm target build karpenter@my-fix --source ~/src/karpenter
  nodestorm target build cluster-autoscaler@1.32.7 --source ~/src/autoscaler/cluster-autoscaler --tags hetzner --provider hetzner`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := target.ParseRef(args[0])
			if err != nil {
				return usage(err)
			}
			recipe := target.FromSource(ref, source)
			if source == "" {
				if recipe, err = target.Known(ref); err != nil {
					return usage(err)
				}
			}
			if pkg != "" {
				recipe.Package = pkg
			}
			if provider != "" {
				recipe.Provider = provider
			}
			if len(tags) > 0 {
				recipe.Tags = tags
			}
			t, err := e.build(c.Context(), recipe)
			if err != nil {
				return usage(err)
			}
			fmt.Fprintf(e.stdout, "%s is ready: %s\n", t.Ref, t.Dir)
			return nil
		},
	}
	c.Flags().StringVar(&source, "source", "", "build from this `folder`, a checkout for example, not from the module")
	c.Flags().StringVar(&pkg, "package", "", "main `package` below the source's root")
	c.Flags().StringVar(&provider, "provider", "", "`cloud` that the build is for")
	c.Flags().StringSliceVar(&tags, "tags", nil, "Go build `tags`")
	return c
}

// build builds with progress on standard error.
func (e *env) build(ctx context.Context, r target.Recipe) (target.Target, error) {
	line := newStatus(e.stderr)
	defer line.clear()
	return e.store.Build(ctx, r, func(u target.Update) {
		text := fmt.Sprintf("%s: %s", u.Ref, u.Stage)
		if u.Total > 0 {
			text += fmt.Sprintf(" %d/%d packages", u.Done, u.Total)
		}
		line.show(fmt.Sprintf("%s, %s", text, u.Elapsed.Round(time.Second)), u.Package)
	})
}

func (e *env) targetAdd() *cobra.Command {
	var source, provider string
	c := &cobra.Command{
		Use:   "add NAME@VERSION FILE",
		Short: "Take a program as it is; it runs in real time only",
		Args:  exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := target.ParseRef(args[0])
			if err != nil {
				return usage(err)
			}
			recipe := target.FromSource(ref, source)
			if source == "" && len(recipe.Assets) > 0 {
				return usage(fmt.Errorf("--source is missing: worlds install the charts and CRDs of %s from its source, such as a checkout", ref.Name))
			}
			if provider != "" {
				recipe.Provider = provider
			}
			t, err := e.store.Add(c.Context(), recipe, args[1])
			if err != nil {
				return usage(err)
			}
			fmt.Fprintf(e.stdout, "%s is ready, for --clock real: %s\n", t.Ref, t.Dir)
			return nil
		},
	}
	c.Flags().StringVar(&source, "source", "", "`folder` of the program's source, for its charts and CRDs")
	c.Flags().StringVar(&provider, "provider", "", "`cloud` that the program is for")
	return c
}

func (e *env) targetList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the targets in the store",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			entries, err := e.store.List()
			if err != nil {
				return err
			}
			if asJSON {
				type row struct {
					target.Manifest
					Dir     string `json:"dir"`
					Problem string `json:"problem,omitempty"`
				}
				rows := []row{}
				for _, t := range entries {
					r := row{Manifest: t.Manifest, Dir: t.Dir}
					if t.Err != nil {
						r.Problem = t.Err.Error()
					}
					rows = append(rows, r)
				}
				return e.json(rows)
			}
			w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "TARGET\tFROM\tGO\tCLOCK\tSIZE\tBUILT")
			for _, t := range entries {
				if t.Err != nil {
					fmt.Fprintf(w, "%s\t%v\n", t.Ref, t.Err)
					continue
				}
				clock := "virtual"
				if !t.Virtual() {
					clock = "real only"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d MB\t%s\n", t.Ref, t.Source.Kind, t.GoVersion, clock, t.Size>>20, t.BuiltAt.Format("2006-01-02 15:04"))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (e *env) targetRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME@VERSION",
		Short: "Remove a target from the store",
		Args:  exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := target.ParseRef(args[0])
			if err != nil {
				return usage(err)
			}
			return usage(e.store.Remove(c.Context(), ref))
		},
	}
}
