// Package page writes the HTML page of a run, or of two runs side by side: one
// file without any other, which a browser opens from disk without a network. It
// is made for a million events; see encode.go for how they travel.
//
// Text that others wrote is shown as text: the template escapes it, the script
// never makes markup of it, and the page's Content-Security-Policy allows its own
// script and style and nothing else.
package page

import (
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"sort"
	"strings"
	"time"

	"nodestorm/reports/document"
	"nodestorm/reports/story"
	"nodestorm/reports/timeline"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/vocabulary"
)

//go:embed assets
var assets embed.FS

// Run is a run on a page.
type Run struct {
	Story *story.Story
	Logs  []Log
}

var (
	script = concatenated("js")
	style  = concatenated("css")
	parsed = template.Must(template.New("page.html").Funcs(template.FuncMap{
		"offset":    func(d time.Duration) string { return strings.TrimSpace(timeline.Offset(d)) },
		"clean":     wording.Clean,
		"issue":     wording.IssueURL,
		"seconds":   func(ms float64) float64 { return ms / 1000 },
		"decisions": sideBySide,
		"programs":  latest,
	}).ParseFS(assets, "assets/*.html"))
)

// concatenated are the files of a kind, in the order of their names.
func concatenated(kind string) string {
	names, err := fs.Glob(assets, "assets/*."+kind)
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("page: no asset of kind %s: %v", kind, err))
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		text, err := assets.ReadFile(name)
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
	if kind == "js" {
		return "'use strict';\n(() => {\n" + b.String() + "})();\n"
	}
	return b.String()
}

// Write writes the page of one run, or of two that are compared on one axis.
func Write(w io.Writer, runs ...Run) error {
	if len(runs) == 0 || len(runs) > 2 {
		return fmt.Errorf("a page shows one run or two, not %d", len(runs))
	}
	first := -1
	if len(runs) == 2 {
		first = story.FirstDifference(runs[0].Story.Course(), runs[1].Story.Course())
	}
	v := view{First: first}
	var packed []sections
	for _, r := range runs {
		p, err := encode(r.Story, r.Logs, first)
		if err != nil {
			return fmt.Errorf("packing %s: %w", r.Story.Run.ID, err)
		}
		packed = append(packed, p)
		v.Runs = append(v.Runs, tablesOf(r.Story))
	}
	if err := v.open(w); err != nil {
		return err
	}
	for i, p := range packed {
		for _, name := range []string{"head", "core", "details", "logs"} {
			if err := embedded(w, fmt.Sprintf("%s-%d", name, i), p[name]); err != nil {
				return err
			}
		}
	}
	return parsed.ExecuteTemplate(w, "close.html", v)
}

// embedded writes a section into the page. Base64 has no character that HTML
// knows.
func embedded(w io.Writer, id string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "<script type=\"application/octet-stream\" id=\"%s\">", id); err != nil {
		return err
	}
	to := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := to.Write(data); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</script>\n")
	return err
}

// view is what the template shows.
type view struct {
	Runs   []tables
	First  int // decision
	Live   bool
	Policy string
	Style  template.CSS
	Script template.JS
	// Resources are what the script knows of them.
	Resources []vocabulary.Resource
}

// open writes the page up to its data. Its policy may have further directives.
func (v *view) open(w io.Writer, policy ...string) error {
	v.Style, v.Script = template.CSS(style), template.JS(script) // our own files
	v.Resources = vocabulary.Resources()
	v.Policy = document.Policy(script, style, policy...)
	return parsed.ExecuteTemplate(w, "page.html", v)
}
