package console

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/features"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// EnvCatalogue lists folders as --catalogue does, separated as in PATH.
const EnvCatalogue = "NODESTORM_CATALOGUE"

// UserCatalogue says which catalogue there is beside the one that is built in.
type UserCatalogue struct {
	Folders   []string
	NoBuiltin bool
	Checkout  string // whose records and features there are in place of those built in
	// wrong is what is wrong in folders: what is made of such a file is not played, and the rest goes on.
	wrong []wrongFolder
}

// wrongFolder is a folder with features or records that are not as they should be.
type wrongFolder struct {
	name     string
	problems scenarios.Problems
}

// CatalogueFlags are those of the commands that take a catalogue.
func (e *Console) CatalogueFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&e.Own.Folders, "catalogue", nil,
		"`FOLDER` with your own features and records, beside the built-in ones, or a checkout of nodestorm, in their place; also "+
			EnvCatalogue)
	alias(c, "catalog", "catalogue", func() {})
	_ = c.MarkFlagDirname("catalogue")
	c.Flags().BoolVar(&e.Own.NoBuiltin, "no-builtin", false, "leave out the features and records that are built in")
}

// LoadCatalogue returns the catalogue that is built in, with the user's own. A stray feature there is reported,
// and stops nothing.
func (e *Console) LoadCatalogue() (*scenarios.Catalogue, error) {
	c, err := e.Unchecked()
	if err == nil {
		e.warnOfStrays(c)
	}
	return c, err
}

// ToPlay makes sure that nothing is wrong with what the chosen records are made of, or with
// what was not found; else it reports what is wrong elsewhere.
func (e *Console) ToPlay(c *scenarios.Catalogue, chosen []scenarios.Record, notFound error) error {
	for _, folder := range e.Own.wrong {
		its := slices.ContainsFunc(folder.problems, func(p scenarios.Problem) bool {
			return slices.ContainsFunc(chosen, func(r scenarios.Record) bool { return c.IsWrong(r.ID, p) })
		})
		// mutant: a record with a wrong file is played
		if its || notFound != nil {
			return exit.UsageError(folder.problems)
		}
	}
	if notFound == nil {
		e.warnOfStrays(c)
	}
	return notFound
}

// warnOfStrays names what is left out of the catalogue.
func (e *Console) warnOfStrays(c *scenarios.Catalogue) {
	warn := func(where string, problems scenarios.Problems) {
		if len(problems) == 0 {
			return
		}
		more := ""
		if n := len(problems) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more; %s lists all)", n, oneline.Command("nodestorm", "lint", where))
		}
		e.Say("warning: left out: %s%s", oneline.Of(fmt.Sprint(problems[0])), more)
	}
	warn(e.Own.Checkout, c.Strays())
	for _, folder := range e.Own.wrong {
		warn(folder.name, folder.problems)
	}
}

// Unchecked is catalogue without a word of what is left out.
func (e *Console) Unchecked() (*scenarios.Catalogue, error) {
	e.Own.wrong = nil
	c, err := features.Catalogue()
	if err != nil {
		return nil, exit.UsageError(err)
	}
	if e.Own.NoBuiltin {
		c = scenarios.Empty()
	}
	var folders []string
	for _, folder := range append(filepath.SplitList(os.Getenv(EnvCatalogue)), e.Own.Folders...) {
		switch {
		case folder == "":
		case !buildstore.IsRoot(folder):
			folders = append(folders, folder)
		case e.Own.Checkout != "":
			return nil, exit.UsageError(fmt.Errorf("%s and %s are checkouts of nodestorm; name one", e.Own.Checkout, folder))
		default:
			e.Own.Checkout = folder
			if c, err = scenarios.LoadCheckout(folder); err != nil {
				return nil, exit.UsageError(err)
			}
		}
	}
	var errs []error
	for _, folder := range folders {
		err := c.Add(replay.ReadFolder(folder).Own)
		itself := func(p scenarios.Problem) bool { return p.File == filepath.Clean(folder) }
		if all := (scenarios.Problems)(nil); errors.As(err, &all) && !slices.ContainsFunc(all, itself) {
			e.Own.wrong = append(e.Own.wrong, wrongFolder{folder, all})
			continue
		}
		errs = append(errs, err)
	}
	e.catalogue = c
	return c, exit.UsageError(errors.Join(errs...))
}

// TagsUsage describes the flag --tags.
const TagsUsage = "only scenarios with these tags: an `EXPRESSION` such as \"@karpenter and not @issue-7515\""

// CompleteIDs offers the scenarios that are not on the command line yet.
func (e *Console) CompleteIDs(_ *cobra.Command, ids []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := e.Unchecked()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offer []string
	for _, r := range c.Records() {
		if !slices.Contains(ids, r.ID) {
			offer = append(offer, cobra.CompletionWithDesc(r.ID, r.Title))
		}
	}
	return offer, cobra.ShellCompDirectiveNoFileComp
}
