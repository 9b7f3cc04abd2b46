package bisect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"nodestorm/harness/builds/repository"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/redact"
	"nodestorm/reports/wording"
)

// Answer is what was found, also for machines.
type Answer struct {
	ID string `json:"id"`
	// Change is "broken" or "mended"; Found is "release" or "commit".
	Change string   `json:"change"`
	Found  string   `json:"found"`
	First  []string `json:"first"` // one, or all that it could be
	Before string   `json:"before"`
	// Parted says that commits are between Before and the first that were not asked.
	Parted bool `json:"parted,omitempty"`
	// Message is the first commit's.
	Message *repository.Message `json:"message,omitempty"`
	// Monotonic is false if the releases that were asked change more than once.
	Monotonic  bool     `json:"monotonic"`
	Notes      []string `json:"notes,omitempty"`
	Releases   []Trial  `json:"releases,omitempty"` // that were asked, oldest first
	Trials     []Trial  `json:"trials"`             // in the order in which they were asked
	SideBySide string   `json:"sideBySide,omitempty"`
	Upstream   string   `json:"upstream,omitempty"`

	// BeforeRun and FirstRun show both sides of the change; empty: no run does.
	BeforeRun string `json:"-"`
	FirstRun  string `json:"-"`
}

// FailingRun is the one of both that shows the failure.
func (a *Answer) FailingRun() string {
	if a.Change == "mended" {
		return a.BeforeRun
	}
	return a.FirstRun
}

// answer is what was found, without what is written of it.
func (q *Inquiry) answer(ctx context.Context, f found) (*Answer, error) {
	a := &Answer{
		ID: q.Record.ID, Change: "broken", Found: "release", Before: q.called(f.before), Parted: f.parted, Monotonic: true, Notes: f.notes,
		Trials:    q.memory.Trials,
		BeforeRun: q.runOf(f.before, q.hunt.Old), FirstRun: q.runOf(f.first[0], q.hunt.New),
	}
	if q.hunt.New == verdict.Healthy {
		a.Change = "mended"
	}
	if f.commit || len(q.ends.releases) == 0 {
		a.Found = "commit"
	}
	for _, id := range f.first {
		a.First = append(a.First, q.called(id))
	}
	if a.Found == "commit" && len(f.first) == 1 { // the last commit of a release is not what changed it
		m, err := q.repo.repo.Message(ctx, f.first[0])
		if err != nil {
			return nil, err
		}
		redactor := redact.ForHere()
		m.Author, m.Subject, m.Body = redactor.Text(m.Author), redactor.Text(m.Subject), redactor.Text(m.Body)
		a.Message = &m
	}
	for _, p := range slices.Backward(q.ends.releases) {
		if t, known := q.hunt.Known[p.ID]; known {
			a.Releases = append(a.Releases, t)
		}
	}
	if n := q.hunt.Changes(a.Releases); n > 1 {
		a.Monotonic = false
		a.Notes = append(a.Notes, fmt.Sprintf("the releases change %d times: there is no single one since when; the last change was followed", n))
	}
	return a, nil
}

// outcome is the answer in a sentence.
func (a *Answer) outcome() string {
	how := a.Change + " by "
	if a.Found == "release" {
		how = a.Change + " in "
	}
	if len(a.First) > 1 {
		return fmt.Sprintf("%sone of %d %ss, of which some have no verdict: %s", how, len(a.First), a.Found, strings.Join(a.First, ", "))
	}
	last := "the last before it is"
	if a.Parted {
		last = "the newest asked that is as before it is"
	}
	return fmt.Sprintf("%s%s %s; %s %s", how, a.Found, a.First[0], last, a.Before)
}

// Text is the answer for people, with what was asked.
func (a *Answer) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", a.ID, wording.Clean(a.outcome()))
	if m := a.Message; m != nil {
		fmt.Fprintf(&out, "\n  %s  %s\n  %s\n", m.Date, wording.Clean(m.Author), wording.Clean(m.Subject))
		for line := range strings.Lines(m.Body) {
			fmt.Fprintf(&out, "    %s\n", wording.Clean(strings.TrimSpace(line)))
		}
	}
	for _, note := range a.Notes {
		fmt.Fprintf(&out, "\nnote: %s\n", wording.Clean(note))
	}
	out.WriteString("\n")
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ASKED\tVERDICT\tRUNS\tBUILD\tPLAY")
	for _, t := range a.table() {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0fs\t%.0fs\n", wording.Clean(t.Name), cmp.Or(string(t.Verdict), "skipped"), len(t.Played), t.BuildSeconds,
			t.seconds())
	}
	_ = w.Flush() // into a builder
	if a.SideBySide != "" {
		fmt.Fprintf(&out, "\nside by side: %s\nfor upstream: %s\n", a.SideBySide, a.Upstream)
	}
	return out.String()
}

// table are the releases, oldest first, then the others as they were asked.
func (a *Answer) table() []Trial {
	table := slices.Clone(a.Releases)
	for _, t := range a.Trials {
		if !slices.ContainsFunc(a.Releases, func(r Trial) bool { return r.ID == t.ID }) {
			table = append(table, t)
		}
	}
	return table
}

// Markdown is what comes before the text of the failing run.
func (a *Answer) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "**Since when.** %s: %s.\n\n", wording.MarkdownName(a.ID), wording.Markdown(a.outcome()))
	if m := a.Message; m != nil {
		fmt.Fprintf(&out, "> %s (%s, %s)\n\n", wording.Markdown(m.Subject), wording.Markdown(m.Author), m.Date)
	}
	for _, note := range a.Notes {
		fmt.Fprintf(&out, "%s.\n\n", wording.Markdown(note))
	}
	out.WriteString("| asked | verdict | runs |\n|---|---|---|\n")
	for _, t := range a.table() {
		fmt.Fprintf(&out, "| %s | %s | %d |\n", wording.Markdown(t.Name), cmp.Or(string(t.Verdict), "skipped"), len(t.Played))
	}
	out.WriteString("\n")
	return out.String()
}
