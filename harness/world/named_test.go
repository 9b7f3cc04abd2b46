package world_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Code that starts a program of a world names it to the clock, which follows it from then on: there is no
// other way that a program comes into a world, and none that says of itself that it does not matter.
func TestEveryProgramIsNamed(t *testing.T) {
	starts := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "../cli/doctor/") { // has no world
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			started, named := calls(f.Body, "process", "Start", "Spawn"), calls(f.Body, "driver", "Name")
			starts += started
			if started != named {
				t.Errorf("%s: %s starts %d programs and names %d of them", path, f.Name.Name, started, named)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if starts < 2 {
		t.Errorf("programs are started in %d places: want those of components and of others", starts)
	}
}

// calls is how often a function calls one of what is called so, of a package or a field of that name.
func calls(body ast.Node, of string, names ...string) (n int) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		function, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		on := ""
		switch x := function.X.(type) {
		case *ast.Ident:
			on = x.Name
		case *ast.SelectorExpr:
			on = x.Sel.Name
		}
		for _, name := range names {
			if on == of && function.Sel.Name == name {
				n++
			}
		}
		return true
	})
	return n
}
