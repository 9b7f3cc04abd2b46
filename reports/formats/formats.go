// Package formats writes runs for programs and for upstream issues: JUnit XML,
// CTRF, Cucumber JSON and messages, Chrome traces, Markdown and JSON. What a run has shown
// is in its story; nothing is judged here.
package formats

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/story"
	"nodestorm/reports/timeline"
	"nodestorm/reports/wording"
)

// Write writes the stories in the format of that name, see Names.
func Write(w io.Writer, format string, stories []*story.Story) error {
	write, known := writers[format]
	if !known {
		return fmt.Errorf("format %q: want one of %s", format, strings.Join(Names(), ", "))
	}
	return write(w, stories)
}

// Names are the formats that Write knows.
func Names() []string {
	return []string{"junit", "cucumber", "messages", "trace", "ctrf", "md", "json", "issue"}
}

var writers = map[string]func(io.Writer, []*story.Story) error{
	"junit": JUnit, "cucumber": Cucumber, "messages": Messages, "trace": Trace, "ctrf": CTRF, "md": Markdown, "json": JSON, "issue": Issue,
}

// outcome of a run for those who know tests only.
type outcome int

const (
	passed  outcome = iota
	failed          // not as expected
	skipped         // nothing may be concluded
)

// outcomeOf says what a run counts as: a reproduced failure is a passed test if
// the catalogue promises it. A run without an outcome counts by its verdict.
func outcomeOf(r story.Run) outcome {
	switch {
	case r.Outcome == "expected":
		return passed
	case r.Verdict == "" || r.Verdict == "inconclusive":
		return skipped
	case r.Outcome == "" && r.Verdict == "healthy":
		return passed
	}
	return failed
}

// explained is why, in one line.
func explained(r story.Run) string {
	if r.Verdict == "" {
		return "no verdict: the run did not come to its end"
	}
	text := r.Verdict
	if r.Outcome != r.Verdict {
		text += ", " + r.Outcome
	}
	if r.Expected != "" && r.Outcome != "expected" {
		text += " (the catalogue expects " + r.Expected + ")"
	}
	return wording.Clean(text + ": " + r.Reason)
}

// nameless is a stored run whose ID says nothing: formats want a name.
const nameless = "a run without a name"

// title of a run: its scenario and target, if that is known.
func title(r story.Run) string {
	if r.Target == "" {
		return cmp.Or(wording.Clean(r.ID), nameless)
	}
	return cmp.Or(wording.Clean(strings.TrimSpace(r.ID+" on "+r.Target)), nameless)
}

// evidenceLines are the ten lines of history that show a verdict: its evidence, or else
// what the autoscaler decided.
func evidenceLines(s *story.Story) []string {
	const most = 10
	var events []int
	for i, e := range s.Events {
		if e.Flags&story.Evidence != 0 {
			events = append(events, i)
		}
	}
	if len(events) == 0 {
		for _, d := range s.Decisions {
			events = append(events, int(d.Event))
		}
	}
	left := 0
	if len(events) > most { // the beginning and the end show most
		left = len(events) - most
		events = slices.Concat(events[:most/2], events[len(events)-most/2:])
	}
	var lines []string
	for n, i := range events {
		if left > 0 && n == most/2 {
			lines = append(lines, fmt.Sprintf("… %d more", left))
		}
		lines = append(lines, timeline.Offset(s.Events[i].Virtual)+"  "+s.Sentence(i))
	}
	return lines
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
