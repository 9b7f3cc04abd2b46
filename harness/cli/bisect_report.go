package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"nodestorm/harness/builds/repository"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/bisect"
	"nodestorm/reports"
	"nodestorm/reports/formats"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
)

// answer is what a bisection has found, also for machines.
type answer struct {
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
	Monotonic  bool           `json:"monotonic"`
	Notes      []string       `json:"notes,omitempty"`
	Releases   []bisect.Trial `json:"releases,omitempty"` // that were asked, oldest first
	Trials     []bisect.Trial `json:"trials"`             // in the order in which they were asked
	SideBySide string         `json:"sideBySide,omitempty"`
	Upstream   string         `json:"upstream,omitempty"`
}

// answer is what was found, without what is written of it.
func (b *bisection) answer(ctx context.Context, at ends, f found) (answer, error) {
	a := answer{ID: b.record.ID, Change: "broken", Found: "release", Before: b.name(f.before), Parted: f.parted, Monotonic: true, Notes: f.notes, Trials: b.state.Trials}
	if b.hunt.New == verdict.Healthy {
		a.Change = "mended"
	}
	if f.commit || len(at.releases) == 0 {
		a.Found = "commit"
	}
	for _, id := range f.first {
		a.First = append(a.First, b.name(id))
	}
	if a.Found == "commit" && len(f.first) == 1 { // the last commit of a release is not what changed it
		m, err := at.repo.Message(ctx, f.first[0])
		if err != nil {
			return a, err
		}
		redactor := redact.ForHere()
		m.Author, m.Subject, m.Body = redactor.Text(m.Author), redactor.Text(m.Subject), redactor.Text(m.Body)
		a.Message = &m
	}
	for _, p := range slices.Backward(at.releases) {
		if t, known := b.hunt.Known[p.ID]; known {
			a.Releases = append(a.Releases, t)
		}
	}
	if n := b.hunt.Changes(a.Releases); n > 1 {
		a.Monotonic = false
		a.Notes = append(a.Notes, fmt.Sprintf("the releases change %d times: there is no single one since when; the last change was followed", n))
	}
	return a, nil
}

// report prints what was found, and writes the page and the text for upstream.
func (b *bisection) report(ctx context.Context, at ends, f found) error {
	a, err := b.answer(ctx, at, f)
	if err != nil {
		return err
	}
	if err := b.write(&a, b.runOf(f.before, at, b.hunt.Old), b.runOf(f.first[0], at, b.hunt.New)); err != nil {
		return err
	}
	if b.asJSON {
		if err := b.json(a); err != nil {
			return err
		}
	} else if _, err := io.WriteString(b.stdout, a.text()); err != nil {
		return err
	}
	if len(f.first) > 1 {
		return &exit.Error{Code: NotAsExpected}
	}
	return nil
}

// runOf is a run that shows what a point does: its own, or that of the end which is the
// same program.
func (b *bisection) runOf(id string, at ends, want verdict.Verdict) string {
	if t, known := b.hunt.Known[id]; known && t.Verdict == want {
		return t.Run()
	}
	for _, end := range []string{at.older, at.newer} {
		if t := b.hunt.Known[end]; t.Verdict == want {
			return t.Run()
		}
	}
	return ""
}

// write writes the page and the text for upstream.
func (b *bisection) write(a *answer, before, first string) error {
	if before == "" || first == "" {
		return nil
	}
	r := &reporter{env: b.env, catalogue: b.catalogue}
	page := filepath.Join(b.state.dir, "side-by-side.html")
	if err := r.page(page, before, first); err != nil {
		return err
	}
	a.SideBySide = page
	failing := first
	if a.Change == "mended" {
		failing = before
	}
	told, err := summary.Run(failing, b.catalogue, 0)
	if err != nil {
		return err
	}
	upstream := filepath.Join(b.state.dir, "upstream.md")
	err = r.file(upstream, func(w io.Writer) error {
		if _, err := io.WriteString(w, a.markdown()); err != nil {
			return err
		}
		return formats.Write(w, "issue", []*story.Story{told})
	})
	a.Upstream = upstream
	return err
}

// outcome is the answer in a sentence.
func (a answer) outcome() string {
	how := a.Change + " by "
	if a.Found == "release" {
		how = a.Change + " in "
	}
	if len(a.First) > 1 {
		return fmt.Sprintf("%sone of %d %ss, of which some cannot be told: %s", how, len(a.First), a.Found, strings.Join(a.First, ", "))
	}
	last := "the last before it is"
	if a.Parted {
		last = "the newest asked that is as before it is"
	}
	return fmt.Sprintf("%s%s %s; %s %s", how, a.Found, a.First[0], last, a.Before)
}

func (a answer) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", a.ID, reports.Clean(a.outcome()))
	if m := a.Message; m != nil {
		fmt.Fprintf(&out, "\n  %s  %s\n  %s\n", m.Date, reports.Clean(m.Author), reports.Clean(m.Subject))
		for line := range strings.Lines(m.Body) {
			fmt.Fprintf(&out, "    %s\n", reports.Clean(strings.TrimSpace(line)))
		}
	}
	for _, note := range a.Notes {
		fmt.Fprintf(&out, "\nnote: %s\n", reports.Clean(note))
	}
	out.WriteString("\n")
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ASKED\tVERDICT\tRUNS\tBUILD\tPLAY")
	for _, t := range a.table() {
		fmt.Fprintf(w, "%s\t%s\t%d\t%.0fs\t%.0fs\n", reports.Clean(t.Name), cmp.Or(string(t.Verdict), "skipped"), len(t.Played), t.BuildSeconds, played(t))
	}
	_ = w.Flush() // into a builder
	if a.SideBySide != "" {
		fmt.Fprintf(&out, "\nside by side: %s\nfor upstream: %s\n", a.SideBySide, a.Upstream)
	}
	return out.String()
}

// table are the releases, oldest first, then the others as they were asked.
func (a answer) table() []bisect.Trial {
	table := slices.Clone(a.Releases)
	for _, t := range a.Trials {
		if !slices.ContainsFunc(a.Releases, func(r bisect.Trial) bool { return r.ID == t.ID }) {
			table = append(table, t)
		}
	}
	return table
}

func played(t bisect.Trial) (seconds float64) {
	for _, p := range t.Played {
		seconds += p.Seconds
	}
	return seconds
}

// markdown is what comes before the text of the failing run.
func (a answer) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "**Since when.** %s: %s.\n\n", reports.MarkdownName(a.ID), reports.Markdown(a.outcome()))
	if m := a.Message; m != nil {
		fmt.Fprintf(&out, "> %s (%s, %s)\n\n", reports.Markdown(m.Subject), reports.Markdown(m.Author), m.Date)
	}
	for _, note := range a.Notes {
		fmt.Fprintf(&out, "%s.\n\n", reports.Markdown(note))
	}
	out.WriteString("| asked | verdict | runs |\n|---|---|---|\n")
	for _, t := range a.table() {
		fmt.Fprintf(&out, "| %s | %s | %d |\n", reports.Markdown(t.Name), cmp.Or(string(t.Verdict), "skipped"), len(t.Played))
	}
	out.WriteString("\n")
	return out.String()
}
