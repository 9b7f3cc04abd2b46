package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

// envCatalogue lists folders as --catalogue does, separated as in PATH.
const envCatalogue = "NODESTORM_CATALOGUE"

// own says which catalogue there is besides the one that is built in.
type own struct {
	folders   []string
	noBuiltin bool
	checkout  string // whose records and features there are in place of those built in
	// wrong is what is wrong in folders: nothing of theirs is played, and the rest goes on.
	wrong []wrongFolder
}

// wrongFolder is a folder with features or records that are not as they should be.
type wrongFolder struct {
	name     string
	problems scenarios.Problems
}

// catalogueFlags are those of the commands that take a catalogue.
func (e *env) catalogueFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&e.own.folders, "catalogue", nil, "`folder` with features and records of your own, beside those that are built in, or a checkout of nodestorm, in their place; also "+envCatalogue)
	_ = c.MarkFlagDirname("catalogue")
	c.Flags().BoolVar(&e.own.noBuiltin, "no-builtin", false, "leave out the features and records that are built in")
}

// catalogue is the one that is built in, with the user's own. A stray feature there is told,
// and keeps nobody from anything else.
func (e *env) catalogue() (*scenarios.Catalogue, error) {
	c, err := e.unchecked()
	if err == nil {
		e.warnOfStrays(c)
	}
	return c, err
}

// toPlay makes sure that nothing is wrong with where the chosen records come from, or with
// what was not found; else it tells what is wrong elsewhere.
func (e *env) toPlay(c *scenarios.Catalogue, chosen []scenarios.Record, notFound error) error {
	for _, folder := range e.own.wrong {
		// mutant: what stands beside a stray feature is played
		if notFound != nil || slices.ContainsFunc(chosen, func(r scenarios.Record) bool { return c.IsFrom(r.ID, folder.name) }) {
			return usage(folder.problems)
		}
	}
	if notFound == nil {
		e.warnOfStrays(c)
	}
	return notFound
}

// warnOfStrays names what is left out of the catalogue.
func (e *env) warnOfStrays(c *scenarios.Catalogue) {
	warn := func(where string, problems scenarios.Problems) {
		if len(problems) == 0 {
			return
		}
		more := ""
		if n := len(problems) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more; nodestorm lint %s tells all)", n, where)
		}
		e.say("warning: left out: %s%s", problems[0], more)
	}
	warn(e.own.checkout, c.Strays())
	for _, folder := range e.own.wrong {
		warn(folder.name, folder.problems)
	}
}

// unchecked is catalogue without a word of what is left out.
func (e *env) unchecked() (*scenarios.Catalogue, error) {
	e.own.wrong = nil
	c, err := scenarios.Load()
	if err != nil {
		return nil, usage(err)
	}
	if e.own.noBuiltin {
		c = scenarios.Empty()
	}
	var folders []string
	for _, folder := range append(filepath.SplitList(os.Getenv(envCatalogue)), e.own.folders...) {
		switch {
		case folder == "":
		case !buildstore.IsRoot(folder):
			folders = append(folders, folder)
		case e.own.checkout != "":
			return nil, usage(fmt.Errorf("%s and %s are checkouts of nodestorm; name one", e.own.checkout, folder))
		default:
			e.own.checkout = folder
			if c, err = scenarios.LoadCheckout(folder); err != nil {
				return nil, usage(err)
			}
		}
	}
	var errs []error
	for _, folder := range folders {
		err := c.Add(replay.ReadFolder(folder).Own)
		itself := func(p scenarios.Problem) bool { return p.File == filepath.Clean(folder) }
		if all := (scenarios.Problems)(nil); errors.As(err, &all) && !slices.ContainsFunc(all, itself) {
			e.own.wrong = append(e.own.wrong, wrongFolder{folder, all})
			continue
		}
		errs = append(errs, err)
	}
	return c, usage(errors.Join(errs...))
}

// choose returns the records named by ids and those with the tags, or all. All
// steps of their scenarios have a meaning.
func choose(c *scenarios.Catalogue, features fs.FS, ids []string, tags string, all bool) ([]scenarios.Record, error) {
	records, err := chosen(c, features, ids, tags, all)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := (replay.Request{Record: r, Features: features}).CheckSteps(); err != nil {
			return nil, usage(err)
		}
	}
	return records, nil
}

func chosen(c *scenarios.Catalogue, features fs.FS, ids []string, tags string, all bool) ([]scenarios.Record, error) {
	switch {
	case all && len(ids) == 0 && tags == "":
		return c.Records(), nil
	case all:
		return nil, usage(fmt.Errorf("--all leaves nothing for IDs or --tags to choose"))
	case len(ids) == 0 && tags == "":
		return nil, usage(fmt.Errorf("name a scenario (nodestorm list shows them), or give --tags or --all"))
	}
	var chosen []scenarios.Record
	for _, id := range ids {
		r, err := c.Lookup(id)
		if err != nil {
			return nil, usage(err)
		}
		chosen = append(chosen, r)
	}
	if tags == "" {
		return chosen, nil
	}
	tagged, err := replay.Tagged(c, features, tags)
	if err != nil {
		return nil, usage(err)
	}
	return append(chosen, tagged...), nil
}

// tagsUsage describes the flag --tags.
const tagsUsage = "tag `expression`: \"@karpenter and not (@issue-7515 or @issue-2266)\"; also godog's old form, \"@karpenter && ~@issue-7515\""
