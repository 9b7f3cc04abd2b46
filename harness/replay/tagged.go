package replay

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"
	tagexpressions "github.com/cucumber/tag-expressions/go/v6"

	"nodestorm/scenarios"
	"nodestorm/sim/strict"
)

// godogTags is godog's old form: "@a && ~@b"; "@a,@b" for either.
var godogTags = regexp.MustCompile(`^~?@[\w.-]+(,~?@[\w.-]+)*( && ~?@[\w.-]+(,~?@[\w.-]+)*)*$`)

// filterOf reads a tag expression, Cucumber's or of godog's old form. "" chooses all.
func filterOf(expression string) (chooses func(tags []string) bool, err error) {
	if expression == "" {
		return func([]string) bool { return true }, nil
	}
	if godogTags.MatchString(expression) {
		return func(tags []string) bool { return hasGodogTags(expression, tags) }, nil
	}
	wrong := func(why string) error {
		return fmt.Errorf(`tags %q: %s; want an expression such as "@issue-7515", "@a or (@b and not @c)", `+
			`or in godog's old form "@a && ~@b", "@a,@b"`,
			expression, why)
	}
	words := strings.FieldsFunc(expression, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == ')' })
	for i, word := range words {
		operator := word == "and" || word == "or" || word == "not"
		switch {
		case !operator && !strings.HasPrefix(word, "@"):
			return nil, wrong(fmt.Sprintf("%q is not a tag (a tag begins with @)", word))
		// mutant: a tag expression may end with an operator
		case operator && i == len(words)-1: // the library takes what is not there from an empty stack
			return nil, wrong(fmt.Sprintf("a tag is missing after %q", word))
		case !operator && strings.ContainsAny(word, ",~&"):
			return nil, wrong("the two forms do not mix")
		}
	}
	if len(words) == 0 {
		return nil, wrong("it names no tag")
	}
	parsed, err := tagexpressions.Parse(expression)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), "syntax error: ")
		return nil, wrong(strings.TrimSuffix(strings.ToLower(why), "."))
	}
	return parsed.Evaluate, nil
}

func hasGodogTags(expression string, tags []string) bool {
	for all := range strings.SplitSeq(expression, " && ") {
		any := false
		for tag := range strings.SplitSeq(all, ",") {
			name, not := strings.CutPrefix(tag, "~")
			any = any || slices.Contains(tags, name) != not
		}
		if !any {
			return false
		}
	}
	return true
}

// HasTags reports whether a scenario with these tags is chosen by the expression, of which
// "" chooses all.
func HasTags(expression string, tags []string) (bool, error) {
	chooses, err := filterOf(expression)
	return err == nil && chooses(tags), err
}

// Tagged returns the records of the scenarios that the tag expression chooses;
// that there are none is an error.
func Tagged(c *scenarios.Catalogue, features fs.FS, tags string) ([]scenarios.Record, error) {
	if tags == "" {
		tags = " " // which names no tag
	}
	chooses, err := filterOf(tags)
	if err != nil {
		return nil, err
	}
	all, err := pickles(features)
	if err != nil {
		return nil, err
	}
	var records []scenarios.Record
	for _, pickle := range all {
		if !chooses(tagsOf(pickle)) {
			continue
		}
		for _, tag := range tagsOf(pickle) {
			if r, err := c.Lookup(strings.TrimPrefix(tag, "@")); err == nil {
				records = append(records, r)
			}
		}
	}
	if len(records) > 0 {
		return records, nil
	}
	known := map[string]bool{}
	for _, pickle := range all {
		for _, tag := range tagsOf(pickle) {
			if _, err := c.Lookup(strings.TrimPrefix(tag, "@")); err != nil { // IDs are listed by nodestorm list
				known[tag] = true
			}
		}
	}
	names, meant := slices.Sorted(maps.Keys(known)), ""
	for _, tag := range oneTag.FindAllString(tags, -1) {
		if _, err := c.Lookup(strings.TrimPrefix(tag, "@")); err != nil && !known[tag] {
			meant = strict.Meant(tag, names)
		}
	}
	others := slices.DeleteFunc(names, func(tag string) bool { return strings.HasPrefix(tag, "@issue-") })
	return nil, fmt.Errorf("tags %q: no scenario has these tags%s; want @ID, @issue-NUMBER, or one of %s",
		tags, meant, strings.Join(others, ", "))
}

// oneTag is one in an expression of them.
var oneTag = regexp.MustCompile(`@[A-Za-z0-9_-]+`)

// pickles are the scenarios of the features.
func pickles(features fs.FS) (list []*messages.Pickle, err error) {
	found, err := godog.TestSuite{Options: &godog.Options{FS: features, Paths: []string{"."}}}.RetrieveFeatures()
	if err != nil {
		return nil, fmt.Errorf("reading the features: %w", err)
	}
	for _, f := range found {
		list = append(list, f.Pickles...)
	}
	return list, nil
}

// tagsOf are the tags of a scenario, with their @.
func tagsOf(pickle *messages.Pickle) (tags []string) {
	for _, tag := range pickle.Tags {
		tags = append(tags, tag.Name)
	}
	return tags
}
