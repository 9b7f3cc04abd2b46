// Package reporttest shows tests what a reader sees of a report: of HTML in a browser
// without scripts, of Markdown on GitHub. It has its own parsers; what writes the
// reports is not asked.
package reporttest

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// Seen is what a reader sees.
type Seen struct {
	// Elements counts the elements by name, those that an HTML parser adds included.
	Elements map[string]int
	// Links are where links lead, in order.
	Links []string
	// Rows are those of all tables, heads included, as text.
	Rows [][]string
	// Text is all text but that of scripts and styles.
	Text string
}

// github is Markdown with what GitHub adds: tables, bare links, struck text. HTML
// is let through: GitHub shows some of it.
var github = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// Markdown is what GitHub makes of a text.
func Markdown(text []byte) (Seen, error) {
	var page bytes.Buffer
	if err := github.Convert(text, &page); err != nil {
		return Seen{}, err
	}
	return HTML(page.Bytes())
}

// HTML is what a browser makes of a page.
func HTML(page []byte) (Seen, error) {
	root, err := nethtml.Parse(bytes.NewReader(page))
	if err != nil {
		return Seen{}, err
	}
	s := Seen{Elements: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type != nethtml.ElementNode {
			continue
		}
		s.Elements[n.Data]++
		switch n.Data {
		case "a":
			for _, a := range n.Attr {
				if a.Key == "href" {
					s.Links = append(s.Links, a.Val)
				}
			}
		case "tr":
			var row []string
			for cell := range n.ChildNodes() {
				if cell.Data == "td" || cell.Data == "th" {
					row = append(row, strings.TrimSpace(text(cell)))
				}
			}
			s.Rows = append(s.Rows, row)
		}
	}
	s.Text = text(root)
	return s, nil
}

func text(n *nethtml.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == nethtml.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
