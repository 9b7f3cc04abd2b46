package scenarios

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/oneline"
)

// Problem is something wrong with a catalogue, at a place.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Field is that of a record, as in symptom.sequence[0].match; empty elsewhere.
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Problems are an error of a line each.
type Problems []Problem

// mostProblems are shown at once.
const mostProblems = 100

func (p Problems) Error() string {
	var lines []string
	for _, problem := range p[:min(len(p), mostProblems)] {
		lines = append(lines, oneline.Of(problem.String()))
	}
	if more := len(p) - mostProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Sort orders problems by their places.
func (p Problems) Sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}

// atLine is where the parsers of Gherkin and YAML say that something is.
var atLine = regexp.MustCompile(`\((\d+):\d+\)|line (\d+)`)

// LineIn is the line that the text of such an error names, or 0.
func LineIn(text string) int {
	m := atLine.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	line, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
	return line
}

var (
	fieldWord = regexp.MustCompile(`^([A-Za-z][\w-]*)((?:\[\d+\])*)(\.|: )?`)
	unknown   = regexp.MustCompile(`^(?:(?:unknown|duplicate) )?field "([^"]+)"`)
	noValue   = regexp.MustCompile(`^"?([^"]+?)"? is no duration`)
)

// Locate finds the field that the text about a record begins with, and its line.
func Locate(document *yaml.Node, text string) (field string, line int) {
	if m := unknown.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if len(document.Content) == 0 {
		return "", 0
	}
	node := document.Content[0]
	line = node.Line
	for {
		m := fieldWord.FindStringSubmatch(text)
		if m == nil {
			return field, line
		}
		key, value := member(node, m[1])
		if value == nil {
			if field == "" { // it is missing
				field = m[1]
			}
			return field, line
		}
		field, line, node = strings.TrimPrefix(field+"."+m[1], "."), key.Line, value
		for index := range strings.FieldsSeq(strings.NewReplacer("[", " ", "]", " ").Replace(m[2])) {
			i, err := strconv.Atoi(index)
			if err != nil || node.Kind != yaml.SequenceNode || i >= len(node.Content) {
				return field, line
			}
			node = node.Content[i]
			field, line = field+"["+index+"]", node.Line
		}
		if m[3] == "" {
			return field, line
		}
		text = text[len(m[0]):]
	}
}

// LocateValue finds the field with the value that the text about a record begins with, and its line: who reads a value does not
// know where it is. It is 0 if there is none.
func LocateValue(document *yaml.Node, text string) (field string, line int) {
	if m := noValue.FindStringSubmatch(text); m != nil {
		return valued(document, m[1], "")
	}
	return "", 0
}

func valued(n *yaml.Node, value, path string) (field string, line int) {
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return path, n.Line
	}
	for i, child := range n.Content {
		below := path
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 0:
			continue // a key
		case n.Kind == yaml.MappingNode:
			below = strings.TrimPrefix(path+"."+n.Content[i-1].Value, ".")
		case n.Kind == yaml.SequenceNode:
			below = fmt.Sprintf("%s[%d]", path, i)
		}
		if field, line = valued(child, value, below); line > 0 {
			return field, line
		}
	}
	return "", 0
}

// member is a field of a mapping.
func member(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}
