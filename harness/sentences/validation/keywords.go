package validation

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/sim/strict"
)

// keywords are those of steps.
var keywords = []string{"Given", "When", "Then", "And", "But"}

// Misread is a line of a feature that is meant as a step and is read as a description.
type Misread struct {
	Line int
	Err  error
}

// Keywords finds the lines of a feature that are a sentence after a word that is almost a keyword. Gherkin takes such a line for
// a part of the description above it.
func Keywords(text string) (wrong []Misread) {
	quotes := false
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "```") {
			quotes = !quotes
		}
		word, rest, _ := strings.Cut(line, " ")
		if quotes || rest == "" || slices.Contains(keywords, word) {
			continue
		}
		near := strict.Nearest(word, keywords)
		for _, keyword := range keywords {
			if strings.EqualFold(word, keyword) {
				near = keyword
			}
		}
		// mutant: a step may begin with any word
		if near != "" && isSentence(rest) {
			wrong = append(wrong, Misread{n, fmt.Errorf("%q begins no step: did you mean %q?", word, near)})
		}
	}
	return wrong
}

// isSentence reports whether a text is that of a step, whatever its role.
func isSentence(text string) bool {
	return slices.ContainsFunc(stepdef.Roles, func(role scene.Role) bool { return len(stepdef.Matches(role, strings.TrimSpace(text))) > 0 })
}
