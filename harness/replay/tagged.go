package replay

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/cucumber/godog"

	"nodestorm/scenarios"
)

// tagExpression is godog's: "@a && ~@b"; "@a,@b" for either.
var tagExpression = regexp.MustCompile(`^~?@[\w.-]+(,~?@[\w.-]+)*( && ~?@[\w.-]+(,~?@[\w.-]+)*)*$`)

// Tagged returns the records of the scenarios that the tag expression chooses;
// that there are none is an error.
func Tagged(c *scenarios.Catalogue, features fs.FS, tags string) ([]scenarios.Record, error) {
	if !tagExpression.MatchString(tags) {
		return nil, fmt.Errorf(`tags %q: want an expression such as "@issue-7515", "@karpenter && ~@issue-7515", or "@a,@b" for either`, tags)
	}
	found, err := godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{"."}, Tags: tags}}.RetrieveFeatures()
	if err != nil {
		return nil, fmt.Errorf("reading the features: %w", err)
	}
	var records []scenarios.Record
	for _, f := range found {
		for _, pickle := range f.Pickles {
			for _, tag := range pickle.Tags {
				if r, err := c.Lookup(strings.TrimPrefix(tag.Name, "@")); err == nil {
					records = append(records, r)
				}
			}
		}
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("tags %q: no scenario has these tags", tags)
	}
	return records, nil
}
