package comparison

import (
	_ "embed"
	"html/template"
	"io"

	"nodestorm/reports/document"
	"nodestorm/sim/history/measure"
)

// Formats are those that Write writes.
var Formats = []string{"html", "md", "json"}

// Write writes the comparison as html, md or json.
func (c Comparison) Write(w io.Writer, format string) error { return document.Write(w, format, c) }

// HTML writes it as one page.
func (c Comparison) HTML(w io.Writer) error { return parsed.Execute(w, c) }

var (
	//go:embed comparison.html
	page string
	//go:embed comparison.css
	style string

	parsed = document.Page("comparison", page, style, "", template.FuncMap{
		"head": func() []string { return head },
		"axis": func(nth int) string {
			m, _ := measure.Find(axes[nth])
			return m.Words
		},
		"sub": func(a, b int) int { return a - b },
	})
)
