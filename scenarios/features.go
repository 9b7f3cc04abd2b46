package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"
)

// CheckFeatures compares the catalogue with the features, SYSTEM/*.feature below
// fsys, for every system: each record's feature has one scenario with the
// record's tag, and each scenario has the tag of one record of that feature. The
// error has a line for each place that is wrong.
func (c *Catalogue) CheckFeatures(fsys fs.FS) error {
	var errs []error
	found := map[string]int{} // ID → scenarios with its tag
	for _, system := range Systems {
		names, err := fs.Glob(fsys, system+"/*.feature")
		if err != nil {
			return err
		}
		for _, name := range names {
			ids, problems := c.idsOf(fsys, name)
			for _, problem := range problems {
				errs = append(errs, fmt.Errorf("features/%s: %w", name, problem))
			}
			for _, id := range ids {
				found[id]++
			}
		}
	}
	for _, r := range c.records {
		if _, err := fs.Stat(fsys, r.Feature); err != nil {
			errs = append(errs, fmt.Errorf("%s: feature: features/%s is not there", r.ID, r.Feature))
		} else if found[r.ID] != 1 {
			errs = append(errs, fmt.Errorf("%s: feature: %d scenarios of features/%s have the tag @%s, want one", r.ID, found[r.ID], r.Feature, r.ID))
		}
	}
	return errors.Join(errs...)
}

// idsOf returns the ID of each scenario of a feature, and what is wrong with it.
func (c *Catalogue) idsOf(fsys fs.FS, name string) (ids []string, problems []error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, []error{err}
	}
	defer file.Close()
	newID := func() string { return "" }
	document, err := gherkin.ParseGherkinDocument(file, newID)
	if err != nil {
		return nil, []error{errors.New(strings.Join(strings.Fields(err.Error()), " "))}
	}
	for _, pickle := range gherkin.Pickles(*document, path.Base(name), newID) {
		id, err := c.idOf(pickle, name)
		if err != nil {
			problems = append(problems, fmt.Errorf("scenario %q: %w", pickle.Name, err))
			continue
		}
		ids = append(ids, id)
	}
	return ids, problems
}

func (c *Catalogue) idOf(pickle *messages.Pickle, feature string) (string, error) {
	var ids, tags []string
	for _, tag := range pickle.Tags {
		tags = append(tags, tag.Name)
		id := strings.TrimPrefix(tag.Name, "@")
		i := slices.IndexFunc(c.records, func(r Record) bool { return r.ID == id })
		if i < 0 {
			continue
		}
		if c.records[i].Feature != feature {
			return "", fmt.Errorf("its ID %s belongs to features/%s", id, c.records[i].Feature)
		}
		ids = append(ids, id)
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("none of its tags (%s) is an ID of the catalogue", strings.Join(tags, " "))
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("it has the IDs %s, want one", strings.Join(ids, " and "))
}
