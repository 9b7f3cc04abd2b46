package replay

import (
	"errors"
	"fmt"
	"io/fs"

	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
)

// Choose returns the records named by ids and those with the tags, or all. All
// steps of their scenarios have a meaning.
func Choose(c *scenarios.Catalogue, features fs.FS, ids []string, tags string, all bool) ([]scenarios.Record, error) {
	records, err := chosen(c, features, ids, tags, all)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := (Request{Record: r, Features: features}).CheckSteps(); err != nil {
			return nil, exit.UsageError(err)
		}
	}
	return records, nil
}

func chosen(c *scenarios.Catalogue, features fs.FS, ids []string, tags string, all bool) ([]scenarios.Record, error) {
	switch {
	case all && len(ids) == 0 && tags == "":
		return c.Records(), nil
	case all:
		return nil, exit.UsageError(errors.New("--all is every record: leave out either --all, or the IDs and --tags"))
	case len(ids) == 0 && tags == "":
		return nil, exit.UsageError(fmt.Errorf("name a scenario (nodestorm list shows them), or give --tags or --all"))
	}
	var chosen []scenarios.Record
	for _, id := range ids {
		r, err := c.Lookup(id)
		if err != nil {
			return nil, exit.UsageError(err)
		}
		chosen = append(chosen, r)
	}
	if tags == "" {
		return chosen, nil
	}
	tagged, err := Tagged(c, features, tags)
	if err != nil {
		return nil, exit.UsageError(err)
	}
	return append(chosen, tagged...), nil
}
