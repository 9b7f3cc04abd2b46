package replay

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"

	"nodestorm/scenarios"
)

// tagExpression is godog's: "@a && ~@b"; "@a,@b" for either.
var tagExpression = regexp.MustCompile(`^~?@[\w.-]+(,~?@[\w.-]+)*( && ~?@[\w.-]+(,~?@[\w.-]+)*)*$`)

// HasTags tells whether a scenario with these tags is chosen by the expression, of which
// "" chooses all.
func HasTags(expression string, tags []string) (bool, error) {
	if expression == "" {
		return true, nil
	}
	if !tagExpression.MatchString(expression) {
		return false, fmt.Errorf(wantTags, expression)
	}
	for all := range strings.SplitSeq(expression, " && ") {
		any := false
		for tag := range strings.SplitSeq(all, ",") {
			name, not := strings.CutPrefix(tag, "~")
			any = any || slices.Contains(tags, name) != not
		}
		if !any {
			return false, nil
		}
	}
	return true, nil
}

const wantTags = `tags %q: want an expression such as "@issue-7515", "@karpenter && ~@issue-7515", or "@a,@b" for either`

// Tagged returns the records of the scenarios that the tag expression chooses;
// that there are none is an error.
func Tagged(c *scenarios.Catalogue, features fs.FS, tags string) ([]scenarios.Record, error) {
	if !tagExpression.MatchString(tags) {
		return nil, fmt.Errorf(wantTags, tags)
	}
	found, err := pickles(features, tags)
	if err != nil {
		return nil, err
	}
	var records []scenarios.Record
	for _, pickle := range found {
		for _, tag := range pickle.Tags {
			if r, err := c.Lookup(strings.TrimPrefix(tag.Name, "@")); err == nil {
				records = append(records, r)
			}
		}
	}
	if len(records) > 0 {
		return records, nil
	}
	all, err := pickles(features, "")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, pickle := range all {
		for _, tag := range pickle.Tags {
			if _, err := c.Lookup(strings.TrimPrefix(tag.Name, "@")); err != nil { // IDs are listed by nodestorm list
				known[tag.Name] = true
			}
		}
	}
	return nil, fmt.Errorf("tags %q: no scenario has these tags; there are @ and an ID each, and %s", tags, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// pickles are the scenarios with the tags.
func pickles(features fs.FS, tags string) (list []*messages.Pickle, err error) {
	found, err := godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{"."}, Tags: tags}}.RetrieveFeatures()
	if err != nil {
		return nil, fmt.Errorf("reading the features: %w", err)
	}
	for _, f := range found {
		list = append(list, f.Pickles...)
	}
	return list, nil
}
