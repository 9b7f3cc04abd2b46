package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/target"
	"nodestorm/scenarios"
)

// envCatalogue lists folders as --catalogue does, separated as in PATH.
const envCatalogue = "NODESTORM_CATALOGUE"

// own says which catalogue there is besides the one that is built in.
type own struct {
	folders   []string
	noBuiltin bool
	checkout  string // whose records and features there are in place of those built in
}

// catalogueFlags are those of the commands that take a catalogue.
func (e *env) catalogueFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&e.own.folders, "catalogue", nil, "`folder` with features and records of your own, beside those that are built in, or a checkout of nodestorm, in their place; also "+envCatalogue)
	_ = c.MarkFlagDirname("catalogue")
	c.Flags().BoolVar(&e.own.noBuiltin, "no-builtin", false, "leave out the features and records that are built in")
}

// catalogue is the one that is built in, with the user's own.
func (e *env) catalogue() (*scenarios.Catalogue, error) {
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
		case !target.IsRoot(folder):
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
		errs = append(errs, c.Add(replay.ReadFolder(folder)))
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

func (e *env) list() *cobra.Command {
	var asJSON, always bool
	var split sharding
	c := &cobra.Command{
		Use:   "list",
		Short: "List the documented failures",
		Long: `List the documented failures. With --shard i/N the replays of that part of
"nodestorm verify --all" are listed, and how long each is expected to take; with
--invariants what must hold in every run, whatever its scenario is about.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if always {
				return e.listInvariants(asJSON)
			}
			c, err := e.catalogue()
			if err != nil {
				return err
			}
			if split.asked() {
				return e.listShard(cmd.Context(), split, c.Records(), asJSON)
			}
			if asJSON {
				return e.json(c.Entries())
			}
			w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tISSUE\tTARGETS\tTITLE")
			for _, r := range c.Records() {
				var targets []string
				for _, t := range r.Targets {
					targets = append(targets, fmt.Sprintf("%s %s", t.Version(), t.Expected))
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Issue, strings.Join(targets, ", "), r.Title)
			}
			for _, s := range c.Bare() {
				fmt.Fprintf(w, "%s\t\tno record\t%s\n", s.Record.ID, s.Name)
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&always, "invariants", false, "list what must hold in every run")
	split.addFlags(c)
	e.catalogueFlags(c)
	return c
}
