package harness_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"
)

// What readers of a page get through. Tables, code and the targets of links have no columns to keep.
const (
	mostColumns      = 120
	mostWords        = 40  // of a sentence; code in a line of text counts as one word
	mostCell         = 160 // characters of a table's cell, as it is shown
	mostVague        = 5   // of vague, in
	vagueLines       = 10_000
	fewestDocuments  = 15
	generatedComment = "<!-- generated"
)

// vague are words that point at no one: "the run reports", "the program" or a name say more.
var vague = regexp.MustCompile(`(?i)\b(told|tells|tell|nobody|somebody|whoever|besides|meanwhile)\b`)

// unready are pages that do not keep the rules yet. None comes here anew.
var unready = []string{
	"scenarios/README.md",
}

// TestDocuments keeps every page of Markdown short, and its links whole.
func TestDocuments(t *testing.T) {
	pages, err := documents(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < fewestDocuments || pages["docs/quickstart.md"] == "" {
		t.Fatalf("pages are missing among the %d that were read: %q", len(pages), slices.Sorted(maps.Keys(pages)))
	}
	for _, name := range unready {
		if pages[name] == "" {
			t.Errorf("%s is in the list of unready pages, and there is no such page", name)
		}
	}
	for _, wrong := range wrongDocuments(os.DirFS(".."), pages, unready) {
		t.Error(wrong)
	}
}

// documents are the pages of Markdown by their paths, without testdata and stored runs.
func documents(module fs.FS) (map[string]string, error) {
	pages := map[string]string{}
	return pages, fs.WalkDir(module, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || p == "reports/out" || p == "bin" || p == ".git"):
			return fs.SkipDir
		case d.IsDir(), path.Ext(p) != ".md":
			return nil
		}
		text, err := fs.ReadFile(module, p)
		pages[p] = string(text)
		return err
	})
}

// wrongDocuments says in a sentence each what is wrong with pages, but for those of a list and generated ones.
func wrongDocuments(module fs.FS, pages map[string]string, unready []string) (wrong []string) {
	lines, said := 0, []string{}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if slices.Contains(unready, name) || generated(pages[name]) {
			continue
		}
		p := parse(pages[name])
		lines += strings.Count(pages[name], "\n")
		at := func(line int, format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
		}
		for _, l := range p.text {
			if n := utf8.RuneCountInString(target.ReplaceAllString(l.text, "$1")); n > mostColumns && strings.Contains(strings.TrimSpace(l.text), " ") {
				at(l.at, "%d columns, and %d are the most", n, mostColumns)
			}
		}
		for _, s := range p.sentences {
			if n := len(strings.Fields(s.text)); n > mostWords {
				at(s.at, "a sentence of %d words, and %d are the most: %.60s…", n, mostWords, s.text)
			}
			for _, word := range vague.FindAllString(s.text, -1) {
				said = append(said, fmt.Sprintf("%s:%d: %q", name, s.at, word))
			}
		}
		for _, c := range p.cells {
			if n := utf8.RuneCountInString(c.text); n > mostCell {
				at(c.at, "a cell of %d characters, and %d are the most: %.60s…", n, mostCell, c.text)
			}
			for _, word := range vague.FindAllString(c.text, -1) {
				said = append(said, fmt.Sprintf("%s:%d: %q", name, c.at, word))
			}
		}
		for _, l := range p.links {
			if problem := wrongLink(module, pages, name, l.text); problem != "" {
				at(l.at, "%s", problem)
			}
		}
	}
	if len(said)*vagueLines > mostVague*lines {
		wrong = append(wrong, fmt.Sprintf("%d vague words in %d lines, and %d in %d are the most: say who (%s)",
			len(said), lines, mostVague, vagueLines, strings.Join(said, ", ")))
	}
	return wrong
}

// generated reports whether a program has written the page, which its first lines say.
func generated(text string) bool {
	head := strings.SplitN(text, "\n", 6)
	return slices.ContainsFunc(head[:min(5, len(head))], func(line string) bool { return strings.HasPrefix(line, generatedComment) })
}

type piece struct {
	at   int // line, from 1
	text string
}

// page is what the rules look at. Code blocks and comments are in none of it.
type page struct {
	text      []piece // lines of text
	sentences []piece // as they are shown
	cells     []piece // of tables, as they are shown
	links     []piece // targets
	anchors   []string
}

var (
	target   = regexp.MustCompile(`(\])\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)`)
	link     = regexp.MustCompile(`!?\[([^\[\]]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?: "[^"]*")?\)`)
	code     = regexp.MustCompile("`+[^`]+`+")
	comment  = regexp.MustCompile(`<!--.*?-->`)
	heading  = regexp.MustCompile(`^#{1,6} +(.*?)\s*#*$`)
	item     = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	fence    = regexp.MustCompile("^\\s*(?:> ?)?(```+|~~~+)")
	sentence = regexp.MustCompile(`[.!?][)"'*_]*\s+`)
	divider  = regexp.MustCompile(`^\|[\s:|-]+\|$`)
)

// parse reads the Markdown of this repository: fences, tables that begin with |, lists, paragraphs.
func parse(text string) (p page) {
	var open string       // the fence of the code block that we are in
	var paragraph []piece // lines
	end := func() {
		if len(paragraph) > 0 {
			var all []string
			for _, l := range paragraph {
				all = append(all, strings.TrimSpace(l.text))
			}
			for _, s := range sentence.Split(shown(strings.Join(all, " "))+" ", -1) {
				if strings.TrimSpace(s) != "" {
					p.sentences = append(p.sentences, piece{paragraph[0].at, s})
				}
			}
		}
		paragraph = nil
	}
	at := 0
	for line := range strings.Lines(text) {
		at++
		line = comment.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if m := fence.FindStringSubmatch(line); m != nil && (open == "" || strings.HasPrefix(m[1], open)) {
			end()
			if open == "" {
				open = m[1]
			} else {
				open = ""
			}
			continue
		}
		if open != "" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, "x"), -1) {
			p.links = append(p.links, piece{at, m[2]})
		}
		trimmed := strings.TrimSpace(line)
		switch m := heading.FindStringSubmatch(line); {
		case m != nil:
			end()
			p.text = append(p.text, piece{at, line})
			p.anchors = append(p.anchors, anchor(m[1], p.anchors))
			p.sentences = append(p.sentences, piece{at, shown(m[1])})
		case trimmed == "":
			end()
		case strings.HasPrefix(trimmed, "|"):
			end()
			if !divider.MatchString(trimmed) {
				for _, cell := range strings.Split(strings.Trim(strings.ReplaceAll(shown(trimmed), `\|`, "/"), "|"), "|") {
					p.cells = append(p.cells, piece{at, strings.TrimSpace(cell)})
				}
			}
		default:
			if item.MatchString(line) {
				end()
				line = item.ReplaceAllStringFunc(line, func(mark string) string { return strings.Repeat(" ", len(mark)) })
			}
			p.text = append(p.text, piece{at, line})
			paragraph = append(paragraph, piece{at, strings.TrimPrefix(line, "> ")})
		}
	}
	end()
	return p
}

// shown is the text of a line as readers see it: links by their text. Code is one word.
func shown(text string) string {
	text = code.ReplaceAllStringFunc(text, func(c string) string {
		return strings.NewReplacer(" ", "_", "|", "/", "[", "(", "]", ")").Replace(strings.Trim(c, "`"))
	})
	for link.MatchString(text) { // a picture can be in a link
		text = link.ReplaceAllString(text, "$1")
	}
	return strings.NewReplacer("**", "", "*", "").Replace(text)
}

// anchor is what GitHub calls a heading, the second of a name with -1.
func anchor(title string, before []string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(shownWords(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	name := b.String()
	for n := 1; slices.Contains(before, name); n++ {
		name = fmt.Sprintf("%s-%d", b.String(), n)
	}
	return name
}

// shownWords is shown, with the words of code apart.
func shownWords(title string) string {
	return strings.ReplaceAll(link.ReplaceAllString(title, "$1"), "`", "")
}

// wrongLink says what is wrong with a link of a page, if it leads to a place in this repository.
func wrongLink(module fs.FS, pages map[string]string, from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	file, fragment, _ := strings.Cut(to, "#")
	name := from
	if file != "" {
		name = path.Join(path.Dir(from), file)
	}
	if _, err := fs.Stat(module, name); err != nil {
		return fmt.Sprintf("the link %s leads to no file", to)
	}
	if fragment != "" && path.Ext(name) == ".md" && !slices.Contains(parse(pages[name]).anchors, fragment) {
		return fmt.Sprintf("the link %s leads to no heading of %s", to, name)
	}
	return ""
}

// TestWrongDocuments shows that each rule notices a page that breaks it, and none that keeps it.
func TestWrongDocuments(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word\n", n)) }
	for _, test := range []struct {
		name, text string
		want       string // part of the only problem; empty for none
	}{
		{"a page", "# Title\n\nShort. [Other](other.md#two-words-1), [here](#title), [web](https://example.com/x).\n", ""},
		{"columns", "# T\n\n" + strings.Repeat("long. ", 25) + "\n", "page.md:3: 150 columns"},
		{"columns of code", "```\n" + strings.Repeat("long ", 30) + "\n```\n", ""},
		{"columns of a table", "| a | b |\n|---|---|\n| " + strings.Repeat("x", 100) + " | " + strings.Repeat("y", 100) + " |\n", ""},
		{"columns of a link", "See [it](https://example.com/" + strings.Repeat("x", 120) + ") now.\n", ""},
		{"words", "# T\n\n" + words(mostWords+1) + ".\n", "page.md:3: a sentence of 41 words"},
		{"words of two sentences", words(mostWords) + ". " + words(mostWords) + ".\n", ""},
		{"words of items", "- one\n" + strings.Repeat("- word word word\n", 20), ""},
		{"words of code", "It is `" + strings.Repeat("word ", 20) + "` or\n`" + strings.Repeat("word ", 20) + "`.\n", ""},
		{"a cell", "| a |\n|---|\n| " + strings.Repeat("x", mostCell+1) + " |\n", "page.md:3: a cell of 161"},
		{"a cell with a link", "| [a](https://example.com/" + strings.Repeat("x", mostCell) + ") |\n", ""},
		{"no file", "[x](nowhere.md)\n", "the link nowhere.md leads to no file"},
		{"no heading", "[x](other.md#three)\n", "the link other.md#three leads to no heading of other.md"},
		{"no picture", "[![x](none.png)](other.md)\n", "the link none.png leads to no file"},
		{"a folder", "[x](folder/)\n", ""},
		{"a link in code", "```\n[x](nowhere.md)\n```\nand `[x](nowhere.md)`\n", ""},
		{"a vague word", "Somebody does it.\n", `1 vague words in 4 lines, and 5 in 10000 are the most: say who (page.md:1: "Somebody")`},
		{"a vague word in code", "```\nnobody\n```\n", ""},
		{"a generated page", "# T\n\n<!-- generated by x -->\n" + strings.Repeat("long ", 30) + "\n", ""},
	} {
		module := fstest.MapFS{"other.md": {}, "folder/x": {}, "page.md": {}, "unready.md": {}}
		pages := map[string]string{
			"page.md": test.text, "other.md": "# Two words\n\n## Two `words`\n", "unready.md": "[x](nowhere.md)\n",
		}
		wrong := wrongDocuments(module, pages, []string{"unready.md"})
		if len(wrong) == 0 && test.want == "" {
			continue
		}
		if len(wrong) != 1 || test.want == "" || !strings.Contains(wrong[0], test.want) {
			t.Errorf("%s: %q, want %q", test.name, wrong, test.want)
		}
	}
}
