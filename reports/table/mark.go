package table

import (
	"fmt"
	"strings"
)

// Marks begin the lines about replays: as expected, not as expected, nothing can be concluded, not played.
const (
	Fine    = "✓"
	Wrong   = "✗"
	Unclear = "!"
	NotRun  = "–"
)

// Mark is how a line about the row begins.
func (r Row) Mark() string {
	switch r.Outcome {
	case fine:
		return Fine
	case "inconclusive":
		return Unclear
	case Skipped, Missing:
		return NotRun
	}
	return Wrong
}

// Line is a replay that has ended in a line: the mark, the scenario, the target, the verdict and the time it took.
func (r Row) Line() string {
	text := fmt.Sprintf("%s %s %s %s", r.Mark(), r.ID, r.Target, r.Verdict)
	if r.Outcome != fine && r.Outcome != r.Verdict {
		text += ", " + r.Outcome
	}
	if r.Run != "" {
		text += fmt.Sprintf(" %.0fs", r.WallSeconds)
	}
	return text
}

// colours are those of marks on a terminal: green, red, yellow, grey.
var colours = map[string]string{Fine: "32", Wrong: "31", Unclear: "33", NotRun: "90"}

// Coloured has the marks that begin lines, after white space, in the colours of a terminal.
func Coloured(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		at := len(line) - len(strings.TrimLeft(line, " "))
		for mark, colour := range colours {
			if rest, is := strings.CutPrefix(line[at:], mark+" "); is {
				lines[i] = fmt.Sprintf("%s\x1b[%sm%s\x1b[0m %s", line[:at], colour, mark, rest)
			}
		}
	}
	return strings.Join(lines, "")
}
