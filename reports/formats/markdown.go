package formats

import (
	"fmt"
	"io"
	"strings"
	"time"

	"nodestorm/reports"
	"nodestorm/reports/story"
)

// Issue writes a short text for an upstream issue, a part a run: versions, what
// was done, what was expected, what happened and the history that proves it, and
// how to repeat it.
func Issue(w io.Writer, stories []*story.Story) error {
	var b strings.Builder
	for n, s := range stories {
		if n > 0 {
			b.WriteString("\n---\n\n")
		}
		issue(&b, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func issue(b *strings.Builder, s *story.Story) {
	r := s.Run
	heading := r.Title
	if heading == "" {
		heading = r.ID
	}
	fmt.Fprintf(b, "### %s\n\n", escape(heading))
	if r.Summary != "" {
		fmt.Fprintf(b, "%s\n\n", escape(r.Summary))
	}
	fmt.Fprintf(b, "**Versions.** %s", escape(r.Target))
	if r.Source != "" {
		fmt.Fprintf(b, " (%s)", escape(r.Source))
	}
	if r.Kubernetes != "" {
		fmt.Fprintf(b, ", Kubernetes %s", escape(r.Kubernetes))
	}
	fmt.Fprintf(b, ". Real builds in a simulated cluster (nodestorm%s), %s of virtual time.\n\n", commit(r), duration(r.Clock.Virtual).Round(time.Second))
	var did, expected []string
	happened := escape(r.Reason)
	for _, step := range s.Steps() {
		line := fmt.Sprintf("- %s %s", step.Keyword, escape(step.Text))
		if step.Keyword != "Then" {
			did = append(did, line)
			continue
		}
		expected = append(expected, line)
		if step.Status == "failed" && step.Error != "" {
			happened = escape(step.Error)
		}
	}
	section := func(name string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "**%s**\n\n%s\n\n", name, strings.Join(lines, "\n"))
		}
	}
	section("What was done", did)
	section("What was expected", expected)
	verdict := r.Verdict
	if verdict == "" {
		verdict = "no verdict"
	}
	fmt.Fprintf(b, "**What happened** (%s)\n\n%s\n\n", escape(verdict), happened)
	if lines := told(s); len(lines) > 0 {
		fence := "```"
		for strings.Contains(strings.Join(lines, ""), fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "%s\n%s\n%s\n\n", fence, strings.Join(lines, "\n"), fence)
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(b, "Not read: %s\n\n", escape(problem))
	}
	if r.Repeat != "" {
		fmt.Fprintf(b, "**To repeat**\n\n```sh\n%s\n```\n", strings.ReplaceAll(reports.Clean(r.Repeat), "`", "'"))
	}
}

func commit(r story.Run) string {
	if len(r.Commit) < 12 {
		return ""
	}
	return " " + escape(r.Commit[:12])
}

// Markdown writes a table of the runs, as for a GitHub step summary, and what is
// not as expected in words.
func Markdown(w io.Writer, stories []*story.Story) error {
	var b strings.Builder
	counts := [3]int{}
	for _, s := range stories {
		counts[outcomeOf(s.Run)]++
	}
	fmt.Fprintf(&b, "### nodestorm: %d as expected, %d not, %d inconclusive\n\n", counts[passed], counts[failed], counts[skipped])
	b.WriteString("| | scenario | target | expected | verdict | wall | virtual | lag p99 |\n|---|---|---|---|---|---:|---:|---:|\n")
	for _, s := range stories {
		r := s.Run
		mark := [...]string{"✅", "❌", "⚠️"}[outcomeOf(r)]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.1f s | %s | %.0f ms |\n", mark, escape(r.ID), escape(r.Target), escape(r.Expected), escape(r.Verdict),
			r.Clock.Wall/1000, duration(r.Clock.Virtual).Round(time.Second), r.Clock.LagP99)
	}
	for _, s := range stories {
		if outcomeOf(s.Run) != passed {
			fmt.Fprintf(&b, "\n**%s**: %s\n", escape(title(s.Run)), escape(explained(s.Run)))
			for _, problem := range s.Run.Problems {
				fmt.Fprintf(&b, "\nNot read: %s\n", escape(problem))
			}
			if s.Run.Repeat != "" {
				fmt.Fprintf(&b, "\n    %s\n", reports.Clean(s.Run.Repeat))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escaper keeps text from being markup: of Markdown, of HTML in it, and of
// GitHub's mentions and references.
var escaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "@", "@\u200b", "#", "\\#", "~", "\\~", "!", "\\!", "://", ":\u200b//")

// escape is text for Markdown. An @ that stands between letters, as in a
// target's name, mentions nobody and stays.
func escape(text string) string {
	var b strings.Builder
	text = reports.Clean(text)
	for {
		at := strings.IndexByte(text, '@')
		if at < 0 {
			break
		}
		b.WriteString(escaper.Replace(text[:at]))
		if at > 0 && isWord(text[at-1]) {
			b.WriteByte('@')
		} else {
			b.WriteString("@\u200b")
		}
		text = text[at+1:]
	}
	b.WriteString(escaper.Replace(text))
	return b.String()
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}
