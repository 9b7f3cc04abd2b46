package wording

import (
	"strings"
	"unicode/utf8"
)

// Wrap fills paragraphs, and items that begin with "- ", to at most so many columns. Other lines that are indented, and those
// that begin with # or are empty, stay as they are, and so does a word that is longer.
func Wrap(text string, columns int) string {
	var lines []string
	filling, pad := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		inItem := pad != "" && strings.HasPrefix(line, pad)
		if line == "" || strings.HasPrefix(line, " ") && !inItem || strings.HasPrefix(line, "#") {
			lines, filling, pad = append(lines, line), false, ""
			continue
		}
		if item := strings.HasPrefix(line, "- "); item || pad != "" && !inItem {
			filling, pad = false, ""
			if item {
				pad = "  "
			}
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			switch {
			case !filling:
				lines, filling = append(lines, word), true
			case utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= columns:
				lines[last] += " " + word
			default:
				lines = append(lines, pad+word)
			}
		}
	}
	return strings.Join(lines, "\n")
}
