// Package site writes the catalogue as a static site: a page for each failure, one that finds them, and one of the failures
// that the newest releases still have. A browser opens it from disk, without a network; every page has its own style and
// script in itself. Text of records is shown as text.
package site

import (
	_ "embed"
	"html/template"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/document"
	"nodestorm/reports/wording"
)

// The names of pages that others write into the site, relative to its root.
const (
	NightsFile = "nights.html"
	RunsFolder = "runs"
)

// Site is what its pages show.
type Site struct {
	Made     time.Time
	Failures []Failure
	Nights   bool // NightsFile is there
}

// Failure is a documented failure.
type Failure struct {
	ID, Title, System, Component string
	// Cloud is whose cloud the component is linked with, empty where none is.
	Cloud string
	// Issue and Fix are owner/repository#number; Fix is empty where there is none.
	Issue, Fix string
	// Affected and Fixed are ranges of releases.
	Affected, Fixed string
	// Control says that no release shows it.
	Control                   bool
	Summary, Mechanism, Notes string
	Feature                   string // its text
	Releases                  []Release
	Related                   []string // IDs of records of the same failure
	// Runs is the page of its runs, relative to the site, and Sides what that page shows; empty if there is none.
	Runs, Sides string
}

// Release is what is known of a release of the failure's component.
type Release struct {
	Version string
	// Expected is "reproduced", "healthy" or empty where the record says nothing; Verdict that of the newest run, empty if
	// there is none.
	Expected, Verdict string
	Verified          time.Time
}

// Open reports whether the newest release is expected to show the failure.
func (f Failure) Open() bool {
	n := len(f.Releases)
	return n > 0 && f.Releases[n-1].Expected == "reproduced"
}

// AffectedReleases are the releases expected to show the failure, as component@version.
func (f Failure) AffectedReleases() (names []string) {
	for _, r := range f.Releases {
		if r.Expected == "reproduced" {
			names = append(names, f.Component+"@"+r.Version)
		}
	}
	return names
}

// Newest is the newest release of the component that the catalogue knows.
func (f Failure) Newest() string { return f.Releases[len(f.Releases)-1].Version }

// OpenFailures are those of Open.
func (s *Site) OpenFailures() []Failure {
	return slices.DeleteFunc(slices.Clone(s.Failures), func(f Failure) bool { return !f.Open() })
}

// Systems are the values that the index offers to choose from, each once, in order.
func (s *Site) Systems() []string {
	return s.values(func(f Failure) []string { return []string{f.System} })
}

// Components are the values of Failure.Component.
func (s *Site) Components() []string {
	return s.values(func(f Failure) []string { return []string{f.Component} })
}

// AffectedReleases are those of all failures.
func (s *Site) AffectedReleases() []string { return s.values(Failure.AffectedReleases) }

func (s *Site) values(of func(Failure) []string) (list []string) {
	for _, f := range s.Failures {
		list = append(list, of(f)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Pages are the pages by their paths, relative to the site.
func (s *Site) Pages() iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		if !yield("index.html", func(w io.Writer) error { return index.Execute(w, s) }) ||
			!yield("open.html", func(w io.Writer) error { return open.Execute(w, s) }) {
			return
		}
		for _, f := range s.Failures {
			if !yield("failures/"+f.ID+".html", func(w io.Writer) error { return failure.Execute(w, f) }) {
				return
			}
		}
	}
}

// Mark is what a release's part of the bar looks like.
func (r Release) Mark() string {
	switch {
	case r.Expected == "":
		return "unknown"
	case r.Verdict == "":
		return r.Expected + " unverified"
	case r.Verdict != r.Expected:
		return r.Expected + " other"
	}
	return r.Expected
}

// Says is the release in a sentence.
func (r Release) Says() string {
	text := map[string]string{"reproduced": "affected", "healthy": "not affected", "": "not in the record's ranges"}[r.Expected]
	if r.Verdict == "" {
		return text + ", not replayed"
	}
	return text + ", replayed " + r.Verified.UTC().Format("2006-01-02") + ": " + r.Verdict
}

var (
	//go:embed index.html
	indexText string
	//go:embed open.html
	openText string
	//go:embed failure.html
	failureText string
	//go:embed parts.html
	parts string
	//go:embed site.css
	style string
	//go:embed site.js
	script string

	index   = of("index", indexText, script)
	open    = of("open", openText, "")
	failure = of("failure", failureText, "")
)

func of(name, text, script string) *template.Template {
	return document.Page(name, parts+text, style, script, template.FuncMap{
		"clean": wording.Clean, "lines": lines, "issue": wording.IssueURL, "link": document.Link, "join": strings.Join,
	}, "frame-src 'self' file:") // the page of the runs, also from disk
}

// lines is wording.Clean of each line.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(wording.Clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
