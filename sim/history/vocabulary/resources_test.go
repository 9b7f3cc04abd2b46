package vocabulary_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// The kinds of Kubernetes' own are those of its libraries.
func TestKinds(t *testing.T) {
	for of := range scheme.Scheme.AllKnownTypes() {
		if strings.HasSuffix(of.Kind, "List") || strings.HasSuffix(of.Kind, "Options") {
			continue
		}
		resource, _ := meta.UnsafeGuessKindToResource(of)
		if got := vocabulary.Plural(of.Kind); got != resource.Resource {
			t.Errorf("%s: %q, want %q", of.Kind, got, resource.Resource)
		}
	}
}

// A resource that code writes into an event, or asks an event for, is in the table if it
// is none of Kubernetes' own.
func TestResourcesAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, r := range vocabulary.Resources() {
		known[r.Name] = true
	}
	for kind := range scheme.Scheme.AllKnownTypes() {
		of, _ := meta.UnsafeGuessKindToResource(kind)
		known[of.Resource] = true // Kubernetes' own
	}
	count := 0
	for _, room := range []string{"sim", "fakecloud", "harness", "reports"} {
		eachFile(t, filepath.Join("../../..", room), func(set *token.FileSet, file *ast.File) {
			for at, resource := range resourcesIn(file) {
				count++
				if !known[resource] {
					t.Errorf("%s: the resource %q is not in the vocabulary's table", set.Position(at.Pos()), resource)
				}
			}
		})
	}
	if count < 30 {
		t.Errorf("only %d places name a resource: are they written in another way?", count)
	}
}

// A verb that code writes into an event, beside those of calls, is one of a source.
func TestVerbsAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, source := range history.Sources() {
		for _, verb := range vocabulary.Verbs(source) {
			known[verb] = true
		}
	}
	count := 0
	for _, room := range []string{"sim", "fakecloud", "harness"} {
		eachFile(t, filepath.Join("../../..", room), func(set *token.FileSet, file *ast.File) {
			for at, verb := range verbsIn(file) {
				count++
				if !known[verb] && vocabulary.ResourcesOf(history.Cloud, verb) == nil {
					t.Errorf("%s: the verb %q is not in the vocabulary's table", set.Position(at.Pos()), verb)
				}
			}
		})
	}
	if count < 30 {
		t.Errorf("only %d places name a verb: are they written in another way?", count)
	}
}

// writers are the functions that write an event with one of their arguments as verb.
var writers = map[string]bool{"emit": true, "podEvent": true, "recordInstance": true, "recordGroup": true, "recordReservation": true, "record": true, "recordEvent": true}

// verbsIn are the verbs that a file names in a text.
func verbsIn(file *ast.File) map[ast.Node]string {
	found := map[ast.Node]string{}
	note := func(e ast.Expr) bool {
		text, is := e.(*ast.BasicLit)
		if !is || text.Kind != token.STRING {
			return false
		}
		if verb, err := strconv.Unquote(text.Value); err == nil && verb != "" {
			found[text] = verb
		}
		return true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if isNamed(n.Key, "Verb") {
				note(n.Value)
			}
		case *ast.CallExpr:
			of, is := n.Fun.(*ast.SelectorExpr)
			if is && writers[of.Sel.Name] {
				for _, arg := range n.Args {
					if note(arg) {
						break
					}
				}
			}
		}
		return true
	})
	return found
}

func TestResourcesIn(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
import "nodestorm/sim/history"
func f(r history.Entry) bool {
	_ = history.Object{Resource: "a"}
	_ = schema.GroupVersionResource{Resource: "no"}
	switch r.Object.Resource {
	case "b", "c":
	}
	_ = r.Object.Resource + "no"
	return r.Object.Resource == "d" || "e" != r.Object.Resource
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, resource := range resourcesIn(file) {
		found[resource] = true
	}
	if len(found) != 5 || found["no"] {
		t.Errorf("%v", found)
	}
}

// resourcesIn are the resources that a file which knows events names in a text: of an
// Object, or compared with one's.
func resourcesIn(file *ast.File) map[ast.Node]string {
	found := map[ast.Node]string{}
	if !knowsEvents(file) {
		return found
	}
	note := func(e ast.Expr) {
		if text, is := e.(*ast.BasicLit); is && text.Kind == token.STRING {
			if resource, _ := strconv.Unquote(text.Value); resource != "" {
				found[text] = resource
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			of, _ := n.Type.(*ast.SelectorExpr)
			own, _ := n.Type.(*ast.Ident)
			if (of == nil || of.Sel.Name != "Object") && (own == nil || own.Name != "Object") {
				return true
			}
			for _, e := range n.Elts {
				if pair, is := e.(*ast.KeyValueExpr); is && isNamed(pair.Key, "Resource") {
					note(pair.Value)
				}
			}
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ {
				return true
			}
			if isResource(n.X) {
				note(n.Y)
			}
			if isResource(n.Y) {
				note(n.X)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil || !isResource(n.Tag) {
				return true
			}
			for _, of := range n.Body.List {
				for _, e := range of.(*ast.CaseClause).List {
					note(e)
				}
			}
		}
		return true
	})
	return found
}

// eachFile calls do with the code of a folder.
func eachFile(t *testing.T, folder string, do func(*token.FileSet, *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err == nil {
			do(set, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// knowsEvents reports whether a file has to do with events.
func knowsEvents(file *ast.File) (knows bool) {
	for _, i := range file.Imports {
		knows = knows || i.Path.Value == `"nodestorm/sim/history"`
	}
	return knows
}

// isResource reports whether an expression is x.Resource.
func isResource(e ast.Expr) bool {
	of, is := e.(*ast.SelectorExpr)
	return is && of.Sel.Name == "Resource"
}

func isNamed(e ast.Expr, name string) bool {
	i, is := e.(*ast.Ident)
	return is && i.Name == name
}
