package matrix

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"nodestorm/reports/document"
	"nodestorm/reports/wording"
)

// Write writes the matrix as html, md or json.
func (m *Matrix) Write(w io.Writer, format string) error { return document.Write(w, format, m) }

// HTML writes it as a page.
func (m *Matrix) HTML(w io.Writer) error { return parsed.Execute(w, m) }

// mark is how an outcome looks in Markdown.
func mark(c *Cell) string {
	switch {
	case c == nil:
		return ""
	case c.Outcome == "expected":
		return "✅ " + wording.Markdown(c.Verdict)
	case c.Verdict == "" || c.Verdict == "inconclusive":
		return "⚠️ " + word(wording.Markdown(c.Verdict))
	case c.Verdict == "failed":
		return "🟪 failed"
	}
	return "❌ " + wording.Markdown(c.Verdict)
}

// Sum is how many runs came out how, in a line.
func (m *Matrix) Sum() string {
	counts := map[string]int{}
	for _, c := range m.Cells {
		counts[cmp.Or(c.Outcome, "without a verdict")]++
	}
	as := counts["expected"]
	delete(counts, "expected")
	if n := len(m.Skipped); n > 0 {
		counts["skipped"] = n
	}
	runs := fmt.Sprintf("%d runs", len(m.Cells))
	if len(m.Cells) == 1 {
		runs = "1 run"
	}
	switch {
	case len(m.Cells) == 0 && len(m.Skipped) == 0:
		return "No runs: nothing is shown."
	case len(m.Cells) == 0:
		return fmt.Sprintf("No runs: nothing is shown, %d skipped.", len(m.Skipped))
	case len(counts) == 0:
		return runs + ", all as expected."
	}
	text := fmt.Sprintf("%s: %d as expected", runs, as)
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf(", %d %s", counts[outcome], wording.Clean(outcome))
	}
	return text + "."
}

// Observed is how many runs have shown what, whatever was expected, in a line.
func (m *Matrix) Observed() string {
	counts := map[string]int{}
	for _, c := range m.Cells {
		counts[cmp.Or(c.Verdict, "no verdict")]++
	}
	var parts []string
	for _, verdict := range []string{"reproduced", "healthy", "failed", "inconclusive"} {
		parts = append(parts, fmt.Sprintf("%d %s", counts[verdict], verdict))
	}
	if n := counts["no verdict"]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d without a verdict", n))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; %d skipped", len(m.Skipped))
}

// Markdown is the matrix as a table.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", wording.Markdown(m.Sum()))
	b.WriteString("| scenario |")
	rule := "|---|"
	for _, t := range m.Targets {
		fmt.Fprintf(&b, " %s |", wording.MarkdownName(t))
		rule += "---|"
	}
	b.WriteString("\n" + rule + "\n")
	for _, s := range m.Scenarios {
		fmt.Fprintf(&b, "| %s |", wording.MarkdownName(s.ID))
		for _, t := range m.Targets {
			c := m.At(s.ID, t)
			text := mark(c)
			if c != nil && c.WallSeconds > 0 {
				text += fmt.Sprintf(" %.1f s", c.WallSeconds)
			}
			if c != nil && len(c.Departures) > 0 {
				text += " (other than its names say)"
			}
			if c != nil && c.Run != "" {
				text = fmt.Sprintf("[%s](%s)", text, document.Link(c.Run))
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	for i, skip := range m.Skipped {
		if i == 0 {
			b.WriteString("\nSkipped:\n\n")
		}
		fmt.Fprintf(&b, "- %s on %s: %s\n", wording.MarkdownName(skip.Scenario), wording.MarkdownName(skip.Target), wording.Markdown(skip.Reason))
	}
	for i, change := range m.Changes {
		if i == 0 {
			b.WriteString("\nSince the last matrix:\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", wording.Markdown(change))
	}
	return b.String()
}

var (
	//go:embed matrix.html
	page string
	//go:embed matrix.css
	style string
	//go:embed matrix.js
	script string

	parsed = document.Page("matrix", page, style, script,
		template.FuncMap{"clean": wording.Clean, "link": document.Link, "tone": tone, "issue": wording.IssueURL})
)

func tone(c *Cell) string {
	switch {
	case c.Outcome == "expected":
		return "good"
	case c.Verdict == "" || c.Verdict == "inconclusive":
		return "waiting"
	case c.Verdict == "failed":
		return "failed"
	}
	return "wrong"
}
