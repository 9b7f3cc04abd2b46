// Package timeline renders one run's history as text, for people. It judges nothing.
package timeline

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nodestorm/reports/wording"
	"nodestorm/sim/history"
)

const (
	// maxLine bounds a line of the timeline, in characters: two lines of a wide
	// terminal. The history has the rest.
	maxLine = 240
	// maxActor bounds the width of the column of actors.
	maxActor = 26
	// foldFrom is how many similar events in a row become one line.
	foldFrom = 4
)

// Write writes the history as text, an event a line in the order of virtual
// time: its number, offset, source, actor, what happened, and the details. Of an object's
// state (taints, conditions, provider ID) only what changed is shown; events in a
// row that then differ in their object only are folded into one line. Text that
// others wrote is made harmless for terminals, and long lines are cut.
func Write(w io.Writer, events []history.Entry) error {
	events = slices.Clone(events)
	history.Sort(events)
	state := changes{}
	entries := make([]entry, 0, len(events))
	width, digits := 0, 0
	for _, r := range events {
		e := state.entry(r)
		entries = append(entries, e)
		width = max(width, utf8.RuneCountInString(e.actor))
		digits = max(digits, len(strconv.FormatUint(r.Seq, 10)))
	}
	out := bufio.NewWriter(w)
	for i := 0; i < len(entries); {
		same := i + 1
		for same < len(entries) && entries[i].fold != "" && entries[same].fold == entries[i].fold {
			same++
		}
		if same-i < foldFrom {
			same = i + 1
		}
		e := entries[i]
		line := fmt.Sprintf("%*d %s  %-7s  %-*s  %s", digits, events[i].Seq, Offset(e.at), e.source, width, e.actor, e.what)
		if more := same - i - 1; more > 0 {
			until := strings.TrimSpace(Offset(entries[same-1].at))
			line += fmt.Sprintf(" … and %d more like it until %s, line %d", more, until, events[same-1].Seq)
		}
		fmt.Fprintln(out, wording.Cut(strings.TrimRight(line, " "), maxLine))
		i = same
	}
	return out.Flush()
}

// Offset is hours:minutes:seconds since the run's start.
func Offset(d time.Duration) string {
	sign := " "
	if d < 0 {
		sign, d = "-", -d
	}
	d = d.Round(time.Millisecond)
	return fmt.Sprintf("%s%d:%02d:%02d.%03d", sign, int64(d.Hours()), int64(d.Minutes())%60, int64(d.Seconds())%60, d.Milliseconds()%1000)
}
