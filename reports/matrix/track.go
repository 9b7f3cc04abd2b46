package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/wording"
	"nodestorm/sim/oneline"
)

// Where the track record stands in a Markdown file.
const (
	trackBegins = "<!-- track record: written by nodestorm matrix --track-record -->"
	trackEnds   = "<!-- end of the track record -->"
)

// TrackRecord is a Markdown table: each failure, where it is documented, which
// releases show it and which do not, what was verified last and how to repeat
// it. Of a release that was never verified it says so, and below how many were
// verified by runs that had no digests, in which a change would not show.
func TrackRecord(scenarios []Scenario, verified []Cell) string {
	m := New(time.Time{}, scenarios, verified)
	var b strings.Builder
	b.WriteString("| failure | issue | shows on | does not show on | last verified | repeat |\n|---|---|---|---|---|---|\n")
	for _, s := range scenarios {
		sides, last := m.sides(s)
		shown := list(sides["reproduced"])
		switch {
		case s.Control:
			shown = "none: a control"
		case len(sides["reproduced"]) == 0 && s.Affected != "":
			shown = wording.Markdown(s.Affected)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n", wording.Markdown(s.Title), s.documented(), shown,
			list(sides["healthy"]), last.verified(), oneline.Command("nodestorm", "verify", s.ID))
	}
	unsealed := 0
	for _, c := range m.Cells {
		if c.Digest == "" {
			unsealed++
		}
	}
	if unsealed > 0 {
		fmt.Fprintf(&b, "\nOf the %d runs that verified all this, %d were made before runs had digests (format 1).\n", len(m.Cells), unsealed)
	}
	return b.String()
}

// documented is where the failure is, and where it ended.
func (s Scenario) documented() string {
	switch s.Fix {
	case "":
		return reference(s.Issue)
	case s.Issue:
		return reference(s.Issue) + ", which is the fix"
	}
	return reference(s.Issue) + ", fixed by " + reference(s.Fix)
}

// sides are the scenario's targets by what is expected of them, with what was last verified
// where it was something else, and the newest cell of them.
func (m *Matrix) sides(s Scenario) (sides map[string][]string, last *Cell) {
	sides = map[string][]string{}
	some := slices.ContainsFunc(s.Targets, func(p Promise) bool { return m.At(s.ID, p.Target) != nil })
	for _, promise := range s.Targets {
		text := wording.MarkdownName(promise.Target)
		c := m.At(s.ID, promise.Target)
		switch {
		case c == nil && some:
			text += " (never verified)"
		case c == nil: // the row says so
		case c.Verdict != promise.Expected:
			text += fmt.Sprintf(" (last: %s)", word(wording.Markdown(c.Verdict)))
		}
		for _, other := range m.otherKubernetes(s.ID, promise.Target) {
			seen := ""
			if other.Verdict != promise.Expected {
				seen = ": " + word(wording.Markdown(other.Verdict))
			}
			text += fmt.Sprintf(" (Kubernetes %s%s)", wording.Markdown(strings.TrimPrefix(other.Target, promise.Target+onKubernetes)), seen)
		}
		if c != nil && (last == nil || c.Started.After(last.Started)) {
			last = c
		}
		sides[promise.Expected] = append(sides[promise.Expected], text)
	}
	return sides, last
}

// verified is when that was, and with what.
func (c *Cell) verified() string {
	if c == nil {
		return "never"
	}
	text := c.Started.UTC().Format(time.DateOnly)
	if c.Kubernetes != "" {
		text += ", Kubernetes " + wording.Markdown(c.Kubernetes)
	}
	if len(c.Commit) >= 12 {
		text += ", commit " + wording.Markdown(c.Commit[:12])
	}
	return text
}

// Summary is the track record in a few lines of Markdown: for each system how many
// records there are, how many of them no release shows, on how many releases they are replayed, and how many of those
// were as expected when that was last verified.
func Summary(scenarios []Scenario, verified []Cell) string {
	m := New(time.Time{}, scenarios, verified)
	type row struct {
		records, controls, replays, expected int
		last                                 time.Time
	}
	rows := map[string]*row{}
	for _, s := range scenarios {
		r := rows[s.System]
		if r == nil {
			r = &row{}
			rows[s.System] = r
		}
		r.records++
		if s.Control {
			r.controls++
		}
		for _, promise := range s.Targets {
			r.replays++
			c := m.At(s.ID, promise.Target)
			if c == nil {
				continue
			}
			if c.Verdict == promise.Expected {
				r.expected++
			}
			if c.Started.After(r.last) {
				r.last = c.Started
			}
		}
	}
	var b strings.Builder
	b.WriteString("| system | records | controls among them | replays, on affected and fixed releases | as " +
		"expected when last verified | last |\n|---|---|---|---|---|---|\n")
	for _, system := range slices.Sorted(maps.Keys(rows)) {
		r := rows[system]
		last := "never"
		if !r.last.IsZero() {
			last = r.last.UTC().Format("2006-01-02")
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", wording.MarkdownName(system), r.records, r.controls, r.replays, r.expected, last)
	}
	return b.String()
}

func list(items []string) string {
	if len(items) == 0 {
		return "—"
	}
	return strings.Join(items, ", ")
}

// reference is owner/repository#number as a link.
func reference(issue string) string {
	if to := wording.IssueURL(issue); to != "" {
		return fmt.Sprintf("[%s](%s)", issue, to)
	}
	return wording.Markdown(issue)
}

// Insert replaces the track record in a Markdown text that has its two marks.
func Insert(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, trackBegins)
	_, after, closed := strings.Cut(rest, trackEnds)
	if !ok || !closed {
		return "", fmt.Errorf("the text has no place for the track record: put the lines %q and %q around it", trackBegins, trackEnds)
	}
	return before + trackBegins + "\n" + table + trackEnds + after, nil
}

// Newest merges cells, of which the newest of each scenario and target stays;
// those of an inconclusive run do not count as verified, nor those of a run that was
// something else than its names say. What only this machine knows is left out.
func Newest(old, runs []Cell) []Cell {
	conclusive := slices.DeleteFunc(slices.Concat(old, runs),
		func(c Cell) bool { return c.Verdict == "" || c.Verdict == "inconclusive" || len(c.Departures) > 0 })
	cells := New(time.Time{}, nil, conclusive).Cells
	for i := range cells {
		cells[i].Run, cells[i].Reason = "", ""
	}
	return cells
}
