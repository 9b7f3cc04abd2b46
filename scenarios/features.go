package scenarios

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/sim/strict"
)

// CheckFeatures compares the catalogue with the features, */*.feature below fsys
// except those of world/, instances/ and scale/, which are about no failure: each record's feature has one
// scenario with the record's tag, and each scenario has the tag of one record of
// that feature. The error has a line for each place that is wrong.
func (c *Catalogue) CheckFeatures(fsys fs.FS) error {
	strays, err := c.checkFeatures(fsys)
	if len(strays) > 0 {
		err = errors.Join(err, strays)
	}
	return err
}

// checkFeatures separates features that no record is about, and that are not as they should be,
// from those that are wrong.
func (c *Catalogue) checkFeatures(fsys fs.FS) (strays Problems, err error) {
	names, err := fs.Glob(fsys, "*/*.feature")
	if err != nil {
		return nil, err
	}
	var errs []error
	recorded := map[string]bool{}
	for _, r := range c.records {
		recorded[r.Feature] = true
	}
	found := map[string]int{}  // ID → scenarios with its tag
	wrong := map[string]bool{} // features with problems of their own
	for _, name := range names {
		if slices.Contains([]string{"world", "instances", "eks", "workloads", "scale"}, path.Dir(name)) {
			if err := readable(fsys, name); err != nil {
				strays = append(strays, Problem{File: "features/" + name, Line: LineIn(err.Error()), Text: err.Error()})
			}
			continue
		}
		ids, problems := c.idsOf(fsys, name)
		if !recorded[name] {
			for _, problem := range problems {
				strays = append(strays, Problem{File: "features/" + name, Line: LineIn(problem.Error()), Text: problem.Error()})
			}
			continue
		}
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("features/%s: %w", name, problem))
			wrong[name] = true
		}
		for _, id := range ids {
			found[id]++
		}
	}
	for _, r := range c.records {
		if _, err := fs.Stat(fsys, r.Feature); err != nil {
			errs = append(errs, fmt.Errorf("%s: feature: features/%s is not there", r.ID, r.Feature))
		} else if found[r.ID] != 1 && !wrong[r.Feature] {
			errs = append(errs, fmt.Errorf("%s: feature: %d scenarios of features/%s have the tag @%s, want one", r.ID, found[r.ID],
				r.Feature, r.ID))
		}
	}
	return strays, errors.Join(errs...)
}

// readable reports whether a feature can be read at all.
func readable(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err == nil {
		_, err = ParseFeature(text, func() string { return "" })
	}
	return err
}

// idsOf returns the ID of each scenario of a feature, and what is wrong with it.
func (c *Catalogue) idsOf(fsys fs.FS, name string) (ids []string, problems []error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, []error{err}
	}
	newID := func() string { return "" }
	document, err := ParseFeature(text, newID)
	if err != nil {
		return nil, []error{err}
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

// longestLine is what the parser takes: it ends without a word at a longer one, or panics.
const longestLine = bufio.MaxScanTokenSize - 2

// ParseFeature reads a feature. The error is the first thing that is wrong.
func ParseFeature(text []byte, newID func() string) (*messages.GherkinDocument, error) {
	n := 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		// mutant: a line may be as long as it likes
		if n++; len(line) > longestLine {
			return nil, fmt.Errorf("malformed: (%d:1): a line has more than %d KiB; steps take files beside the feature, too", n, longestLine>>10)
		}
	}
	document, err := gherkin.ParseGherkinDocument(bytes.NewReader(text), newID)
	if err != nil {
		return nil, firstProblem(err)
	}
	return document, nil
}

// longestProblem is how much of one is shown.
const longestProblem = 300

var (
	// unexpected is what the parser says of a line that begins with none of its words: the place, and the first word.
	unexpected = regexp.MustCompile(`^(\(\d+:\d+\):) expected: .*, got '\s*(\pL[\pL:]*).*'$`)
	keywords   = []string{"Feature:", "Rule:", "Background:", "Scenario:", "Examples:", "Given", "When", "Then", "And", "But"}
)

// firstProblem is the first line of what the parser says, after its heading; the
// others mostly follow from it.
func firstProblem(err error) error {
	lines := strings.Split(err.Error(), "\n")
	text := lines[min(1, len(lines)-1)]
	// mutant: the parser's own words say what is wrong
	if m := unexpected.FindStringSubmatch(text); m != nil && !slices.Contains(keywords, m[2]) {
		text = fmt.Sprintf("%s %q begins no line of a feature: a step begins with Given, When, Then, And or But%s", m[1], m[2],
			strict.Meant(m[2], keywords))
	}
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) >= 0 {
		text = strconv.QuoteToASCII(text[:min(len(text), longestProblem)]) // of a file that is no text
	}
	if len(text) > longestProblem {
		text = strings.ToValidUTF8(text[:longestProblem], "") + "…"
	}
	return errors.New("malformed: " + text)
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
		return "", fmt.Errorf("none of its tags (%s) is an ID of the catalogue, whose records are in scenarios/", strings.Join(tags, " "))
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("it has the IDs %s, want one", strings.Join(ids, " and "))
}

// fromFile is how a step names a file beside its feature.
var fromFile = regexp.MustCompile(`\bfrom the file "([^"]*)"`)

// FileOf is the file beside the feature that a step's text names.
func FileOf(step string) (name string, ok bool) {
	m := fromFile.FindStringSubmatch(step)
	if m == nil {
		return "", false
	}
	return m[1], true
}
