package wording

import (
	"strings"
	"unicode/utf8"
)

// Wrap fills paragraphs to at most so many columns. Lines that are indented, begin with # or are empty stay as they are,
// and so does a word that is longer.
func Wrap(text string, columns int) string {
	var lines []string
	filling := false
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "#") {
			lines, filling = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if filling && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= columns {
				lines[last] += " " + word
			} else {
				lines, filling = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}
