package cli

import (
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

// catalogue is the catalogue with the checkout's features, which must agree.
func catalogue() (*scenarios.Catalogue, fs.FS, error) {
	c, err := scenarios.Load()
	if err != nil {
		return nil, nil, usage(err)
	}
	root, err := target.Root()
	if err != nil {
		return nil, nil, usage(err)
	}
	features := os.DirFS(filepath.Join(root, "features"))
	if err := c.CheckFeatures(features); err != nil {
		return nil, nil, usage(err)
	}
	return c, features, nil
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
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the documented failures",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			c, _, err := catalogue()
			if err != nil {
				return err
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
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
