package qualification

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"nodestorm/reports/document"
	"nodestorm/reports/wording"
)

// Write writes the qualification as html, md or json.
func (q *Qualification) Write(w io.Writer, format string) error { return document.Write(w, format, q) }

// HTML writes it as one page.
func (q *Qualification) HTML(w io.Writer) error { return parsed.Execute(w, q) }

// Section is the findings of a kind.
type Section struct {
	Title, About string
	Kind         Kind
	Findings     []Finding
}

var abouts = map[Kind]string{
	New:       "They show on this release, and were not seen on the one before.",
	NotFixed:  "Their records say that this release has the fix, and they show.",
	Undecided: "No run of this release could decide whether they show.",
	Earlier:   "They show on this release and not on the one before, and came with a release between the two, by their records.",
	Stays:     "They show on this release as before.",
	Fixed:     "They showed on the release before, and on this one they do not.",
	Healthy:   "They show on neither.",
}

// Sections are the kinds of which there are findings.
func (q *Qualification) Sections() (list []Section) {
	for _, k := range kinds {
		if of := q.Of(k); len(of) > 0 {
			list = append(list, Section{Title: strings.ToUpper(string(k[:1])) + string(k[1:]), About: abouts[k], Kind: k, Findings: of})
		}
	}
	return list
}

// Name is the failure's, and says on which Kubernetes it was played, if others are played on as well.
func (f Finding) Name() string {
	if f.Kubernetes == "" {
		return f.Scenario
	}
	return f.Scenario + " on Kubernetes " + f.Kubernetes
}

// Markdown is a text for the release's own issue.
func (q *Qualification) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", wording.Markdown(q.Sum()))
	for _, s := range q.Sections() {
		fmt.Fprintf(&b, "\n### %s: %d\n\n%s\n", s.Title, len(s.Findings), s.About)
		if s.Kind == Healthy {
			continue
		}
		fmt.Fprintf(&b, "\n| failure | %s | %s | |\n|---|---|---|---|\n", wording.MarkdownName(q.Target), wording.MarkdownName(q.before()))
		for _, f := range s.Findings {
			name := wording.MarkdownName(f.Name())
			if url := wording.IssueURL(f.Issue); url != "" {
				name = fmt.Sprintf("[%s](%s)", name, url)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, f.On, f.Before, wording.Markdown(f.Title))
		}
	}
	for _, s := range q.Searches {
		fmt.Fprintf(&b, "\n%s.\n", wording.Markdown(s.Sum()))
	}
	for _, w := range q.Workloads {
		fmt.Fprintf(&b, "\n### The workload %s\n\nBeside %s, %s.\n", wording.MarkdownName(w.Name), wording.MarkdownName(q.before()), w.Sum())
		for i, r := range w.Certain() {
			if i == 0 {
				fmt.Fprintf(&b, "\n| measure | %s | %s | difference (95 %%) | the release is |\n|---|---|---|---|---|\n",
					wording.MarkdownName(q.before()), wording.MarkdownName(q.Target))
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(markdown(r.Cells()), " | "))
		}
	}
	return b.String()
}

func markdown(cells []string) (all []string) {
	for _, c := range cells {
		all = append(all, wording.Markdown(c))
	}
	return all
}

func (q *Qualification) before() string {
	if q.Since == "" {
		return "no release before"
	}
	return q.Since
}

// Text writes a row for each failure that is not healthy on both, and the answer.
func (q *Qualification) Text(w io.Writer, table func(rows [][]string) error) error {
	rows := [][]string{{"FINDING", "FAILURE", "SHOWN", "BEFORE", "REASON"}}
	for _, f := range q.Findings {
		if f.Kind != Healthy {
			rows = append(rows, []string{string(f.Kind), wording.Clean(f.Name()), f.On.String(), f.Before.String(), wording.Clean(f.Reason)})
		}
	}
	if len(rows) > 1 {
		if err := table(rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if n := len(q.Of(Healthy)); n > 0 {
		fmt.Fprintln(w, said(n, "failure shows", "failures show")+" on neither release")
	}
	for _, s := range q.Searches {
		fmt.Fprintln(w, wording.Clean(s.Sum()))
	}
	for _, of := range q.Workloads {
		fmt.Fprintf(w, "The workload %s, beside %s: %s\n", wording.Clean(of.Name), wording.Clean(q.before()), of.Sum())
		for _, r := range of.Certain() {
			fmt.Fprintf(w, "  %s\n", wording.Clean(strings.Join(r.Cells(), "  ")))
		}
	}
	_, err := fmt.Fprintln(w, wording.Clean(q.Sum()))
	return err
}

// Badge is the answer in the JSON of shields.io's endpoint badges, schema version 1.
type Badge struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
}

// Badge is that of the answer.
func (q *Qualification) Badge() Badge {
	color := map[Answer]string{Fit: "brightgreen", NotFit: "red", CannotSay: "lightgrey"}[q.Answer]
	return Badge{SchemaVersion: 1, Label: "nodestorm " + q.Target, Message: string(q.Answer), Color: color}
}

var (
	//go:embed qualification.html
	page string
	//go:embed qualification.css
	style string

	parsed = document.Page("qualification", page, style, "",
		template.FuncMap{"clean": wording.Clean, "link": document.Link, "issue": wording.IssueURL})
)
