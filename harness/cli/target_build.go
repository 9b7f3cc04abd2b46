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
	"nodestorm/harness/program/karpenter"
)

// source is what the flags say of where a build comes from.
type source struct {
	dir, module, pkg, provider string
	refs, tags                 []string
	plain, race                bool
}

func (s *source) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&s.dir, "source", "", "build from this `folder`, a checkout for example, not from the module; with --ref a repository, which can be a URL, too")
	c.Flags().StringArrayVar(&s.refs, "ref", nil, "`tag`, branch or commit of the repository, whatever is checked out; may be repeated")
	c.Flags().StringVar(&s.module, "module", "", "build this Go `module`[@version] in its own dependency graph")
	c.Flags().BoolVar(&s.race, "race", false, "build with Go's race detector, which needs a C compiler; the build is plain, and much slower")
	c.Flags().BoolVar(&s.plain, "plain", false, "leave Go's runtime as it is: no clock is built in, and virtual time comes from outside")
	s.addHow(c)
}

// addHow adds the flags that say how to build what is there.
func (s *source) addHow(c *cobra.Command) {
	c.Flags().StringVar(&s.pkg, "package", "", "main `package` below the source's root")
	c.Flags().StringVar(&s.provider, "provider", "", "`cloud` that the build is for; if there is one tag, that is it")
	c.Flags().StringArrayVar(&s.tags, "tags", nil, "Go build `tags`, with commas between them; each --tags is a build of its own")
}

// recipes are those of all builds that the arguments and the flags ask for.
func (s *source) recipes(args []string) (recipes []buildstore.Recipe, err error) {
	switch {
	case s.dir != "" && s.module != "":
		return nil, errors.New("--source and --module are two ways in: give one")
	case len(s.refs) > 0 && s.dir == "":
		return nil, errors.New("--ref is one of a repository: name that with --source")
	case s.provider != "" && len(s.tags) > 1:
		return nil, errors.New("--provider is the cloud of one build, and each --tags is one: leave it out")
	case slices.Contains(s.refs, ""):
		return nil, errors.New("--ref is empty: want a tag, a branch or a commit")
	}
	names, err := s.names(args)
	if err != nil {
		return nil, err
	}
	tags := s.tags
	if len(tags) == 0 {
		tags = []string{""}
	}
	for i, ref := range names {
		at := ""
		if len(s.refs) > 0 {
			at = s.refs[i]
		}
		for _, of := range tags {
			recipe, err := s.recipe(ref, at, of)
			if err != nil {
				return nil, err
			}
			recipes = append(recipes, recipe)
		}
	}
	return recipes, nil
}

// names are what the builds are called: one for each argument, or for each ref.
func (s *source) names(args []string) (names []builds.Ref, err error) {
	if len(args) == 1 && !strings.Contains(args[0], "@") && len(s.refs) > 0 {
		for _, ref := range s.refs {
			version, err := builds.VersionOf(ref)
			if err != nil {
				return nil, err
			}
			args = append(args, args[0]+"@"+version)
		}
		args = args[1:]
	}
	for _, arg := range args {
		name, err := builds.ParseRef(arg)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if len(s.refs) > 0 && len(s.refs) != len(names) {
		return nil, fmt.Errorf("%d NAME@VERSION and %d --ref: want one --ref for each, or one NAME without a version", len(names), len(s.refs))
	}
	return names, nil
}

// recipe is that of one build.
func (s *source) recipe(ref builds.Ref, at, tags string) (recipe buildstore.Recipe, err error) {
	recipe = buildstore.FromSource(ref, s.dir)
	recipe.At = at
	if s.dir == "" && s.module == "" {
		if recipe, err = buildstore.Known(ref); err != nil {
			return recipe, err
		}
	}
	recipe.Plain, recipe.Race = recipe.Plain || s.plain, s.race
	if s.module != "" {
		recipe.Module, recipe.Query, _ = strings.Cut(s.module, "@")
	}
	if s.pkg != "" {
		recipe.Package = s.pkg
	}
	if tags != "" {
		recipe.Tags = strings.Split(tags, ",")
	}
	switch {
	case s.provider == builds.Instances && ref.Name == karpenter.Name:
		return buildstore.OnInstances(recipe)
	case s.provider != "":
		recipe.Provider = s.provider
	case len(recipe.Tags) == 1:
		recipe.Provider = recipe.Tags[0]
	}
	return recipe, nil
}

func (e *env) targetBuild() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "build NAME@VERSION…",
		Short: "Build a target with the clock, from its Go module, a folder or a repository",
		Long: `Build a target with the clock, from its Go module, from a folder or from a repository.

A folder is a checkout of the program, or of the repository that has it in a folder
of its name; what it has changed is built too. With --ref the source is a git
repository, a folder of one (bare or not) or a URL, and that tag, branch or commit of
it is built, whatever is checked out; in a folder nothing is changed. A NAME without a
version gets that of its ref.

Cluster Autoscaler builds for one cloud with that cloud's build tag, and for all
without. One version can have a build for each cloud, and a replay takes the one for
its own: each --tags is a build.

Karpenter comes with the provider kwok, in whose cloud nothing can fail. With
--provider instances it is linked with one of nodestorm's that dials a fake cloud.

A build has nodestorm's clock in Go's runtime. With --plain it is what the go command
makes of the source, as a released binary is, and lives in virtual time as those do.
With --race it has Go's race detector besides: a run of such a build in which it finds a
data race breaks the invariant no-race. Records about data races are played on such builds,
and anything else with "run --race" and "explore --race".`,
		Example: `  nodestorm target build karpenter@v1.7.0
  nodestorm target build karpenter@my-fix --source ~/src/karpenter
  nodestorm target build karpenter@v1.7.0 --provider instances
  nodestorm target build karpenter@v1.7.0 --plain
  nodestorm target build cluster-autoscaler@1.32.7 --source ~/src/autoscaler --tags hetzner
  nodestorm target build cluster-autoscaler --source https://github.com/kubernetes/autoscaler \
    --ref cluster-autoscaler-1.32.5 --ref cluster-autoscaler-1.33.0 --tags hetzner --tags clusterapi
  nodestorm target build my-controller@v2 --source ~/src/my-controller --package ./cmd/controller
  nodestorm target build my-controller@v2 --module example.com/my-controller@v2.0.1 --package ./cmd/controller`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactly(1)(c, args)
			}
			recipes, err := s.recipes(args)
			if err != nil {
				return usage(err)
			}
			if err := e.checkRefs(c.Context(), s.dir, s.refs); err != nil {
				return err
			}
			for _, recipe := range recipes {
				t, err := e.build(c.Context(), recipe)
				if err != nil {
					return usage(err)
				}
				fmt.Fprintf(e.stdout, "%s is ready: %s\n", t.Ref, t.Dir)
			}
			return nil
		},
	}
	s.addFlags(c)
	return c
}

// checkRefs makes sure that the repository has them before anything is built, and says
// what is left out of it.
func (e *env) checkRefs(ctx context.Context, dir string, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	repo, err := e.store.Repository(ctx, dir)
	if err != nil {
		return usage(fmt.Errorf("--source: %w", err))
	}
	for _, ref := range refs {
		if _, err := repo.Commit(ctx, ref); err != nil {
			return usage(fmt.Errorf("--ref: %w", err))
		}
	}
	if repo.Dirty(ctx) {
		e.say("%s has changes that are in no commit: --ref leaves them out", repo.Name)
	}
	return nil
}
