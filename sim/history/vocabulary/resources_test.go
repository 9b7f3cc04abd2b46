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

// A resource that code writes into a record, or asks a record for, is in the table if it
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
		err := filepath.WalkDir(filepath.Join("../../..", room), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			for at, resource := range resourcesIn(file) {
				count++
				if !known[resource] {
					t.Errorf("%s: the resource %q is not in the vocabulary's table", set.Position(at.Pos()), resource)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count < 30 {
		t.Errorf("only %d places name a resource: are they written in another way?", count)
	}
}

func TestResourcesIn(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
import "nodestorm/sim/history"
func f(r history.Record) bool {
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

// resourcesIn are the resources that a file which knows records names in a text: of an
// Object, or compared with one's.
func resourcesIn(file *ast.File) map[ast.Node]string {
	found := map[ast.Node]string{}
	knows := false
	for _, i := range file.Imports {
		knows = knows || i.Path.Value == `"nodestorm/sim/history"`
	}
	if !knows {
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

// isResource tells whether an expression is x.Resource.
func isResource(e ast.Expr) bool {
	of, is := e.(*ast.SelectorExpr)
	return is && of.Sel.Name == "Resource"
}

func isNamed(e ast.Expr, name string) bool {
	i, is := e.(*ast.Ident)
	return is && i.Name == name
}
