package buildstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodestorm/harness/builds"
)

// Request is what a user asks to be built, and how: from a folder or a repository, or from a Go
// module. With neither it is what is known of the name.
type Request struct {
	// Dir is the source, see Recipe.Dir; Module is a Go module, with @VERSION or without.
	Dir, Module string
	// Package and Provider are in place of what is known of the name.
	Package, Provider string
	// Refs are tags, branches or commits of the repository; each is a build.
	Refs []string
	// Tags are Go build tags with commas between them; each of the list is a build.
	Tags        []string
	Plain, Race bool
}

// Recipes are those of all builds that are asked for under names: NAME@VERSION, or NAME alone
// where Refs say the versions.
func (q *Request) Recipes(names []string) (recipes []Recipe, err error) {
	switch {
	case q.Dir != "" && q.Module != "":
		return nil, errors.New("--source and --module are two ways in: give one")
	case len(q.Refs) > 0 && q.Dir == "":
		return nil, errors.New("--ref is one of a repository: name that with --source")
	case q.Provider != "" && len(q.Tags) > 1:
		return nil, errors.New("--provider is the cloud of one build, and each --tags is one: leave it out")
	case slices.Contains(q.Refs, ""):
		return nil, errors.New("--ref is empty: want a tag, a branch or a commit")
	}
	refs, err := q.named(names)
	if err != nil {
		return nil, err
	}
	tags := q.Tags
	if len(tags) == 0 {
		tags = []string{""}
	}
	for i, ref := range refs {
		at := ""
		if len(q.Refs) > 0 {
			at = q.Refs[i]
		}
		for _, of := range tags {
			recipe, err := q.Recipe(ref, at, of)
			if err != nil {
				return nil, err
			}
			recipes = append(recipes, recipe)
		}
	}
	return recipes, nil
}

// named are what the builds are called: one for each name, or for each of Refs.
func (q *Request) named(names []string) (refs []builds.Ref, err error) {
	if len(names) == 1 && !strings.Contains(names[0], "@") && len(q.Refs) > 0 {
		for _, ref := range q.Refs {
			version, err := builds.VersionOf(ref)
			if err != nil {
				return nil, err
			}
			names = append(names, names[0]+"@"+version)
		}
		names = names[1:]
	}
	for _, name := range names {
		ref, err := builds.ParseRef(name)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	if len(q.Refs) > 0 && len(q.Refs) != len(refs) {
		return nil, fmt.Errorf("%d NAME@VERSION and %d --ref: want one --ref for each, or one NAME without a version", len(refs), len(q.Refs))
	}
	return refs, nil
}

// Recipe is that of one build: of the repository's at if that is not empty, with the tags.
func (q *Request) Recipe(ref builds.Ref, at, tags string) (recipe Recipe, err error) {
	recipe = FromSource(ref, q.Dir)
	recipe.At = at
	if q.Dir == "" && q.Module == "" {
		if recipe, err = Known(ref); err != nil {
			return recipe, err
		}
	}
	// mutant: a plain build has the clock all the same
	recipe.Plain, recipe.Race = recipe.Plain || q.Plain, q.Race
	if q.Module != "" {
		recipe.Module, recipe.Query, _ = strings.Cut(q.Module, "@")
	}
	if q.Package != "" {
		recipe.Package = q.Package
	}
	if tags != "" {
		recipe.Tags = strings.Split(tags, ",")
	}
	switch {
	case q.Provider == builds.Instances && ref.Name == "karpenter":
		return OnInstances(recipe)
	case q.Provider != "":
		recipe.Provider = q.Provider
	case len(recipe.Tags) == 1:
		recipe.Provider = recipe.Tags[0]
	}
	return recipe, nil
}
