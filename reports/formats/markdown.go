package formats

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"nodestorm/reports/story"
	"nodestorm/reports/wording"
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
	versions(b, s)
	happened := steps(b, s)
	verdict := s.Run.Verdict
	if verdict == "" {
		verdict = "no verdict"
	}
	// Of steps it is a line in which ends of lines are written out.
	// mutant: a text for upstream has folders of who played it
	happened, more, long := strings.Cut(localLog.ReplaceAllString(lines.Replace(happened), "$1"), "\n")
	fmt.Fprintf(b, "**What happened** (%s)\n\n%s\n\n", wording.Markdown(verdict), wording.Markdown(happened))
	if long {
		code(b, strings.Split(more, "\n"))
	}
	for _, broken := range s.Run.Broken {
		fmt.Fprintf(b, "It breaks %s\n\n", wording.Markdown(broken))
	}
	if lines := evidenceLines(s); len(lines) > 0 {
		code(b, lines)
	}
	for _, problem := range s.Run.Problems {
		fmt.Fprintf(b, "Not read: %s\n\n", wording.Markdown(problem))
	}
	if s.Run.Repeat != "" {
		b.WriteString("**To repeat**\n\n")
		fenced(b, "sh", []string{s.Run.Repeat})
	}
}

// versions writes what was run.
func versions(b *strings.Builder, s *story.Story) {
	r := s.Run
	heading := r.Title
	if heading == "" {
		heading = r.ID
	}
	fmt.Fprintf(b, "### %s\n\n", wording.Markdown(heading))
	if r.Summary != "" {
		fmt.Fprintf(b, "%s\n\n", wording.Markdown(r.Summary))
	}
	fmt.Fprintf(b, "**Versions.** %s", wording.MarkdownName(r.Target))
	if r.Source != "" {
		fmt.Fprintf(b, ", %s", wording.Markdown(r.Source))
	}
	if r.Kubernetes != "" {
		fmt.Fprintf(b, ", Kubernetes %s", wording.Markdown(r.Kubernetes))
	}
	fmt.Fprintf(b, ". Real builds in a simulated cluster (nodestorm%s), %s of virtual time.\n\n", nodestorm(r),
		duration(r.Clock.Virtual).Round(time.Second))
	if len(r.Departures) > 0 {
		b.WriteString("**Other than the names say**\n\n")
		for _, d := range r.Departures {
			fmt.Fprintf(b, "- %s\n", wording.Markdown(d))
		}
		b.WriteString("\n")
	}
}

// steps writes what was done and what was expected, and returns what happened in its place.
func steps(b *strings.Builder, s *story.Story) (happened string) {
	var did, expected []string
	happened = s.Run.Reason
	for _, step := range s.Steps() {
		line := fmt.Sprintf("- %s %s", step.Keyword, wording.Markdown(step.Text))
		if step.Keyword != "Then" {
			did = append(did, line)
			continue
		}
		expected = append(expected, line)
		if step.Status == "failed" && step.Error != "" {
			happened = step.Error
		}
	}
	section := func(name string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "**%s**\n\n%s\n\n", name, strings.Join(lines, "\n"))
		}
	}
	section("What was done", did)
	section("What was expected", expected)
	return happened
}

// lines gives a text its lines back.
var lines = strings.NewReplacer(`\n`, "\n", `\t`, "\t")

// localLog is where a program's log is on the machine that played it, which must not be published.
var localLog = regexp.MustCompile(`/\S*/(logs/[^/\s]+\.log)`)

// code writes lines as they are, whatever is in them.
func code(b *strings.Builder, lines []string) {
	fenced(b, "", lines)
	b.WriteString("\n")
}

// fenced is code in a language.
func fenced(b *strings.Builder, language string, lines []string) {
	fence := "```"
	for strings.Contains(strings.Join(lines, ""), fence) {
		fence += "`"
	}
	for i, line := range lines {
		lines[i] = wording.Clean(strings.ReplaceAll(line, "\t", "    "))
	}
	fmt.Fprintf(b, "%s%s\n%s\n%s\n", fence, language, strings.Join(lines, "\n"), fence)
}

func nodestorm(r story.Run) string {
	if r.Nodestorm == "" {
		return ""
	}
	return " " + wording.Markdown(r.Nodestorm)
}

// took is how long a run took in real time, in milliseconds: with its world, where that was kept.
func took(r story.Run) float64 { return cmp.Or(r.Took, r.Clock.Wall) }

// named is a run's title, for Markdown.
func named(r story.Run) string {
	if r.Target == "" {
		return wording.MarkdownName(r.ID)
	}
	return wording.MarkdownName(r.ID) + " on " + wording.MarkdownName(r.Target)
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
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.1f s | %s | %.0f ms |\n", mark, wording.MarkdownName(r.ID),
			wording.MarkdownName(r.Target), wording.Markdown(r.Expected), wording.Markdown(r.Verdict),
			took(r)/1000, duration(r.Clock.Virtual).Round(time.Second), r.Clock.LagP99)
	}
	for _, s := range stories {
		if outcomeOf(s.Run) == passed {
			for n, d := range s.Run.Departures {
				if n == 0 {
					fmt.Fprintf(&b, "\n**%s** is other than its names say:\n\n", named(s.Run))
				}
				fmt.Fprintf(&b, "- %s\n", wording.Markdown(d))
			}
		}
		if outcomeOf(s.Run) != passed {
			fmt.Fprintf(&b, "\n**%s**: %s\n", named(s.Run), wording.Markdown(explained(s.Run)))
			for _, problem := range s.Run.Problems {
				fmt.Fprintf(&b, "\nNot read: %s\n", wording.Markdown(problem))
			}
			if s.Run.Repeat != "" {
				fmt.Fprintf(&b, "\n    %s\n", wording.Clean(s.Run.Repeat))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
