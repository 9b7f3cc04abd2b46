package folder

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/sim/oneline"
)

// row is one of a Scenario Outline's Examples.
type row struct {
	line   int
	cells  []string
	others []int // lines of the outline's other rows
}

// rowsOf are the rows of a scenario, by their IDs in the document.
func rowsOf(s *messages.Scenario) map[string]row {
	rows, lines := map[string]row{}, []int{}
	for _, examples := range s.Examples {
		for _, r := range examples.TableBody {
			of := row{line: int(r.Location.Line)}
			for _, cell := range r.Cells {
				of.cells = append(of.cells, cell.Value)
			}
			rows[r.Id], lines = of, append(lines, of.line)
		}
	}
	for id, r := range rows {
		r.others = slices.DeleteFunc(slices.Clone(lines), func(line int) bool { return line == r.line })
		rows[id] = r
	}
	return rows
}

var placeholder = regexp.MustCompile(`<([^<>\s"]+)>`)

// misnamed is a place in an outline where a value is missing.
type misnamed struct {
	line int
	text string
}

// wrongPlaceholders finds steps of an outline that name what its Examples do not have.
func wrongPlaceholders(s *messages.Scenario) (all []misnamed) {
	if len(s.Examples) == 0 && strings.HasPrefix(s.Keyword, "Scenario ") { // Outline or Template
		return []misnamed{{int(s.Location.Line),
			fmt.Sprintf("the outline %q has no Examples: give it a table of values, or call it Scenario", s.Name)}}
	}
	for _, examples := range s.Examples {
		var names []string
		if examples.TableHeader != nil {
			for _, cell := range examples.TableHeader.Cells {
				names = append(names, cell.Value)
			}
		}
		for _, step := range s.Steps {
			for _, m := range placeholder.FindAllStringSubmatch(step.Text, -1) {
				if !slices.Contains(names, m[1]) {
					all = append(all, misnamed{int(step.Location.Line),
						fmt.Sprintf("<%s> is no column of the Examples in line %d, which have %s", m[1], examples.Location.Line, strings.Join(names, ", "))})
				}
			}
		}
	}
	return all
}

// longestRow is what of a row's values is in names.
const longestRow = 40

// valuesText are the row's values, for people.
func (r row) valuesText() string {
	text := oneline.Of(strings.Join(r.cells, ", "))
	if len(text) > longestRow {
		text = strings.ToValidUTF8(text[:longestRow], "") + "…"
	}
	return text
}

// nameRows gives the rows of an outline different names if they have the same: one without <values> in
// its name has the same for all.
func nameRows(pickles []*messages.Pickle, rows map[string]row) {
	named := map[string]int{}
	for _, p := range pickles {
		named[p.Name]++
	}
	taken := map[string]bool{}
	for _, p := range pickles {
		r, is := rows[p.AstNodeIds[len(p.AstNodeIds)-1]]
		if !is || named[p.Name] == 1 {
			continue
		}
		name := fmt.Sprintf("%s (%s)", p.Name, r.valuesText())
		if taken[slug(name)] {
			name = fmt.Sprintf("%s (line %d)", p.Name, r.line)
		}
		taken[slug(name)], p.Name = true, name
	}
}
