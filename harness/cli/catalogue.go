package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/cucumber/godog"
	"github.com/spf13/cobra"

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

// tagsPattern is godog's tag expression: "@a && ~@b", "@a,@b" for either.
var tagsPattern = regexp.MustCompile(`^~?@[\w.-]+(,~?@[\w.-]+)*( && ~?@[\w.-]+(,~?@[\w.-]+)*)*$`)

// choose returns the records named by ids and those with the tags, or all.
func choose(c *scenarios.Catalogue, features fs.FS, ids []string, tags string, all bool) ([]scenarios.Record, error) {
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
	if !tagsPattern.MatchString(tags) {
		return nil, usage(fmt.Errorf(`--tags %q: want tags such as "@issue-7515", "@karpenter && ~@issue-7515", or "@a,@b" for either`, tags))
	}
	found, err := godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{"."}, Tags: tags}}.RetrieveFeatures()
	if err != nil {
		return nil, usage(fmt.Errorf("reading the features: %w", err))
	}
	for _, f := range found {
		for _, pickle := range f.Pickles {
			for _, tag := range pickle.Tags {
				if r, err := c.Lookup(strings.TrimPrefix(tag.Name, "@")); err == nil {
					chosen = append(chosen, r)
				}
			}
		}
	}
	if len(chosen) == 0 {
		return nil, usage(fmt.Errorf("--tags %q: no scenario has these tags", tags))
	}
	return chosen, nil
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
