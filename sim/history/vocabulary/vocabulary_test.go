package vocabulary_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

const golden = "testdata/said.ndjson"

var runs = flag.String("runs", "", "write "+golden+" anew, of the runs below this folder")

// said are events of real runs: one of each source, verb and resource that has a detail
// which none before it has. With -runs they are chosen anew, beside those that are there.
func said(t *testing.T) []history.Entry {
	t.Helper()
	var events []history.Entry
	read := func(path string) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var r history.Entry
			if err := json.Unmarshal(lines.Bytes(), &r); err == nil { // a run may have been cut off
				events = append(events, r)
			}
		}
	}
	if _, err := os.Stat(golden); err == nil {
		read(golden)
	}
	if *runs == "" {
		return events
	}
	err := filepath.WalkDir(*runs, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "history.ndjson" {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	chosen := events[:0]
	seen := map[string]bool{}
	for _, r := range events {
		isNew := false
		for key := range r.Detail {
			what := fmt.Sprint(r.Source, " ", r.Verb, " ", r.Object.Resource, " ", key)
			if r.Source == history.Cloud || r.Source == history.Logged { // any call, any line
				what = fmt.Sprint(r.Source, " ", r.Object.Resource, " ", key)
			}
			isNew = isNew || !seen[what]
			seen[what] = true
		}
		if isNew {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, r)
			text.Write(append(line, '\n'))
		}
	}
	if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return chosen
}

// What real runs say is in the vocabulary, and in the form that it has there.
func TestWhatIsSaidIsKnown(t *testing.T) {
	for _, r := range said(t) {
		if err := vocabulary.Check(r); err != nil {
			t.Error(err)
		}
	}
	for want, r := range map[string]history.Entry{
		`source "x" is in no vocabulary`:                       {Event: history.Event{Source: "x"}},
		`the detail "colour" is not in the vocabulary`:         {Event: history.Event{Source: history.Cloud, Detail: map[string]any{"colour": "red"}}},
		`the detail "id" is a text, and a number in the vocab`: {Event: history.Event{Source: history.Cloud, Detail: map[string]any{"id": "7"}}},
	} {
		if err := vocabulary.Check(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// What reports read of an event is what a source writes: a detail that a real run has, in
// the form in which it is read.
func TestWhatIsReadIsSaid(t *testing.T) {
	written := map[string]bool{}
	for _, r := range said(t) {
		for key := range r.Detail {
			written[string(r.Source)+" "+key] = true
		}
	}
	count := 0
	for _, read := range readings(t, "../../../reports/story/facts.go", "../../../reports/story/sentence.go") {
		sources := history.Sources()
		if read.source != "" {
			sources = []history.Source{read.source}
		}
		found := false
		for _, source := range sources {
			form := vocabulary.FormOf(source, read.key)
			found = found || written[string(source)+" "+read.key] && (read.form == "" || read.form == form || read.form == vocabulary.Text && form == vocabulary.Condition)
		}
		count++
		if !found {
			t.Errorf("%s: the detail %q is read as %q of source %q, and no source writes that", read.place, read.key, read.form, read.source)
		}
	}
	if count < 20 {
		t.Errorf("only %d readings were found: are they written in another way?", count)
	}
}

// reading is one detail of an event that a report asks for.
type reading struct {
	source history.Source // empty: any
	key    string
	form   vocabulary.Form // empty: any
	place  string
}

// readings finds them in the source: d.Text("key"), d.Number("key") and the like, and the
// source in the case of a switch that they are in.
func readings(t *testing.T, files ...string) (list []reading) {
	t.Helper()
	sources := map[string]history.Source{}
	for _, s := range history.Sources() {
		sources[strings.ToUpper(string(s)[:1])+string(s)[1:]] = s
	}
	sources["API"], sources["Logged"] = history.API, history.Logged
	for _, path := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var walk func(ast.Node, history.Source)
		walk = func(root ast.Node, source history.Source) {
			note := func(at ast.Node, literal ast.Expr, form vocabulary.Form) {
				text, is := literal.(*ast.BasicLit)
				if !is || text.Kind != token.STRING {
					return
				}
				key, _ := strconv.Unquote(text.Value)
				list = append(list, reading{source, key, form, set.Position(at.Pos()).String()})
			}
			ast.Inspect(root, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CaseClause:
					if n == root {
						return true
					}
					within := source
					for _, of := range n.List {
						if s, is := of.(*ast.SelectorExpr); is && sources[s.Sel.Name] != "" {
							within = sources[s.Sel.Name]
						}
					}
					walk(n, within)
					return false
				case *ast.CallExpr:
					if method, is := n.Fun.(*ast.SelectorExpr); is && isDetail(method.X) && len(n.Args) == 1 {
						if form, is := forms[method.Sel.Name]; is {
							note(n, n.Args[0], form)
						}
					}
					called, is := n.Fun.(*ast.Ident)
					if !is || len(n.Args) == 0 {
						return true
					}
					if called.Name == "name" && len(n.Args) == 2 && isDetail(n.Args[0]) {
						note(n, n.Args[1], vocabulary.Mapping)
					}
					if called.Name == "fact" {
						note(n, n.Args[0], vocabulary.Text)
					}
				case *ast.IndexExpr:
					if isDetail(n.X) {
						note(n, n.Index, "")
					}
				}
				return true
			})
		}
		walk(file, "")
	}
	return list
}

// forms are those that methods of a detail read.
var forms = map[string]vocabulary.Form{
	"Text": vocabulary.Text, "Texts": vocabulary.List, "Number": vocabulary.Number, "Truth": "", "Mapping": vocabulary.Mapping,
}

// isDetail reports whether an expression is an event's detail: d, detail or r.Detail.
func isDetail(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "d" || e.Name == "detail"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Detail"
	}
	return false
}

func TestMeant(t *testing.T) {
	for word, want := range map[string]string{"Node": "nodes", "nodeclaim": "nodeclaims", "NodeClaims": "nodeclaims", "nodes": "", "widgets": "", "scaleup": "", "": ""} {
		if got := vocabulary.Meant(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for word, want := range map[string]string{"DaemonSet": "daemonsets", "poddisruptionbudget": "poddisruptionbudgets", "Endpoints": "endpoints", "endpoints": "", "daemonsets": "", "Widget": "", "": ""} {
		if got := vocabulary.Plural(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Every detail of a source that no other program adds to is one that a real run has.
func TestNothingIsMadeUp(t *testing.T) {
	written := map[history.Source]map[string]bool{}
	for _, r := range said(t) {
		if written[r.Source] == nil {
			written[r.Source] = map[string]bool{}
		}
		for key := range r.Detail {
			written[r.Source][key] = true
		}
	}
	// What only runs that went wrong have.
	rare := map[history.Source][]string{
		history.API: {"applied", "cluster", "deleting", "panic", "replica"}, history.Node: {"machineGone", "taint", "error", "exitCode"},
		history.Fault: {"code", "deployment", "reason", "resourceVersion"}, history.Harness: {"method", "port"},
	}
	for source, there := range written {
		for _, key := range vocabulary.Details(source) {
			if !there[key] && !vocabulary.Open(source) && !slices.Contains(rare[source], key) {
				t.Errorf("no real run has the detail %q of source %s", key, source)
			}
		}
	}
	if len(written) < 6 {
		t.Errorf("%s has events of %v only", golden, slices.Collect(maps.Keys(written)))
	}
}
