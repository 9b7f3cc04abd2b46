package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
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
	var source, module, pkg, provider string
	var tags []string
	c := &cobra.Command{
		Use:   "build NAME@VERSION",
		Short: "Build a target with the clock, from its Go module or from a folder",
		Long: `Build a target with the clock, from its Go module or from a folder.

A folder is a checkout of the program, or of the repository that has it in a folder
of its name; what it has changed is built too. Cluster Autoscaler builds for one cloud
with that cloud's build tag, and for all without. One version can have a build for each
cloud, and a replay takes the one for its own.`,
		Example: `  nodestorm target build karpenter@v1.7.0
  nodestorm target build karpenter@my-fix --source ~/src/karpenter
  nodestorm target build cluster-autoscaler@1.32.7 --source ~/src/autoscaler --tags hetzner
  nodestorm target build my-controller@v2 --source ~/src/my-controller --package ./cmd/controller
  nodestorm target build my-controller@v2 --module example.com/my-controller@v2.0.1 --package ./cmd/controller`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := target.ParseRef(args[0])
			if err != nil {
				return usage(err)
			}
			if source != "" && module != "" {
				return usage(errors.New("--source and --module are two ways in: give one"))
			}
			recipe := target.FromSource(ref, source)
			if source == "" && module == "" {
				if recipe, err = target.Known(ref); err != nil {
					return usage(err)
				}
			}
			if module != "" {
				recipe.Module, recipe.Query, _ = strings.Cut(module, "@")
			}
			if pkg != "" {
				recipe.Package = pkg
			}
			if len(tags) > 0 {
				recipe.Tags = tags
			}
			if provider == "" && len(tags) == 1 {
				provider = tags[0]
			}
			if provider != "" {
				recipe.Provider = provider
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
	c.Flags().StringVar(&module, "module", "", "build this Go `module`[@version] in its own dependency graph")
	c.Flags().StringVar(&pkg, "package", "", "main `package` below the source's root")
	c.Flags().StringVar(&provider, "provider", "", "`cloud` that the build is for; if there is one tag, that is it")
	c.Flags().StringSliceVar(&tags, "tags", nil, "Go build `tags`")
	return c
}

// build builds with progress on standard error.
func (e *env) build(ctx context.Context, r target.Recipe) (target.Target, error) {
	line := newStatus(e.stderr)
	defer line.clear()
	return e.store.Build(ctx, r, line.update)
}

// update shows the news of a build.
func (s *status) update(u target.Update) {
	text := fmt.Sprintf("%s: %s", u.Ref, u.Stage)
	switch {
	case u.Stage == target.Unpacking:
		text += fmt.Sprintf(" layer %d of %d", u.Done+1, u.Total)
	case u.Total > 0:
		text += fmt.Sprintf(" %d/%d packages", u.Done, u.Total)
	}
	s.show(fmt.Sprintf("%s, %s", text, u.Elapsed.Round(time.Second)), u.Package)
}

func (e *env) targetAdd() *cobra.Command {
	var source, provider, image, path string
	c := &cobra.Command{
		Use:   "add NAME@VERSION FILE | --image IMAGE",
		Short: "Take a program as it is; it runs in real time only",
		Long: `Take a program as it is, from a file or out of a container image: an OCI layout
(a folder), what docker save wrote (a file), or a reference to a registry. It has not
been built with the clock and runs in real time only.`,
		Example: `  nodestorm target add cluster-autoscaler@1.32.7 ./cluster-autoscaler
  nodestorm target add cluster-autoscaler@1.32.7 --image registry.example/autoscaling/cluster-autoscaler:v1.32.7
  nodestorm target add cluster-autoscaler@1.32.7 --image saved.tar --path /cluster-autoscaler`,
		Args: func(c *cobra.Command, args []string) error {
			if image != "" {
				return exactly(1)(c, args)
			}
			return exactly(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if path != "" && image == "" {
				return usage(errors.New("--path is a path in an --image, and there is none"))
			}
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
			var t target.Target
			if image != "" {
				line := newStatus(e.stderr)
				t, err = e.store.AddImage(c.Context(), recipe, image, path, line.update)
				line.clear()
			} else {
				t, err = e.store.Add(c.Context(), recipe, args[1])
			}
			if err != nil {
				return usage(err)
			}
			fmt.Fprintf(e.stdout, "%s is ready, for --clock real: %s\n", t.Ref, t.Dir)
			return nil
		},
	}
	c.Flags().StringVar(&source, "source", "", "`folder` of the program's source, for its charts and CRDs")
	c.Flags().StringVar(&provider, "provider", "", "`cloud` that the program is for")
	c.Flags().StringVar(&image, "image", "", "take it out of this `image`: a folder, a file, or a registry's name:tag")
	c.Flags().StringVar(&path, "path", "", "the program's `path` in the image, if it is not what the image runs")
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
					RealTimeOnly bool   `json:"realTimeOnly"`
					Dir          string `json:"dir"`
					Problem      string `json:"problem,omitempty"`
				}
				rows := []row{}
				for _, t := range entries {
					r := row{Manifest: t.Manifest, RealTimeOnly: !t.Virtual(), Dir: t.Dir}
					if t.Err != nil {
						r.Problem = t.Err.Error()
					}
					rows = append(rows, r)
				}
				return e.json(rows)
			}
			w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "TARGET\tFOR\tFROM\tGO\tCLOCK\tSIZE\tBUILT")
			for _, t := range entries {
				if t.Err != nil {
					fmt.Fprintf(w, "%s\t%v\n", t.Ref, t.Err)
					continue
				}
				clock := "virtual"
				if !t.Virtual() {
					clock = "real only"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d MB\t%s\n", t.Ref, cmp.Or(t.Provider, "-"), t.Source.Kind, t.GoVersion, clock, t.Size>>20, t.BuiltAt.Format("2006-01-02 15:04"))
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
