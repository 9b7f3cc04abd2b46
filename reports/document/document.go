package document

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
)

// Report is one that each of the formats can have.
type Report interface {
	HTML(io.Writer) error
	Markdown() string
}

// Write writes the report as html, md or json.
func Write(w io.Writer, format string, r Report) error {
	switch format {
	case "html":
		return r.HTML(w)
	case "md":
		_, err := io.WriteString(w, r.Markdown())
		return err
	case "json":
		return JSON(w, r)
	}
	return fmt.Errorf("format %q: want html, md or json", format)
}

// JSON writes a value for programs that people can read as well.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Page is a template of HTML that has its style and its script in itself: it names them, and
// the policy for both, as {{style}}, {{script}} and {{policy}}. More are further directives of the policy.
func Page(name, text, style, script string, functions template.FuncMap, more ...string) *template.Template {
	return template.Must(template.New(name).Funcs(functions).Funcs(template.FuncMap{ // of our own files
		"policy": func() string { return Policy(script, style, more...) },
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
	}).Parse(text))
}

// Link is a relative path as a URL, for Markdown without the brackets that end one.
func Link(path string) string {
	escaped := (&url.URL{Path: "./" + strings.TrimPrefix(path, "./")}).EscapedPath()
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(escaped)
}
