package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// mutate returns the text of the marked file with the mutant in it.
func (m mutant) mutate(root string, at mark) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(at.file)))
	if err != nil {
		return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	broken, err := m.apply(text, at.line)
	if err != nil {
		return nil, fmt.Errorf("mutant %q of line %d of %s: %w", m.Name, at.line, at.file, err)
	}
	if bytes.Equal(broken, text) {
		return nil, fmt.Errorf("mutant %q of line %d of %s changes nothing", m.Name, at.line, at.file)
	}
	return broken, nil
}

// apply breaks the line of the text.
func (m mutant) apply(text []byte, line int) ([]byte, error) {
	ways := 0
	for _, is := range []bool{m.Condition != "", m.Remove, m.Instead != "", len(m.Replace) > 0} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		return nil, fmt.Errorf("it has %d of condition, remove, instead and replace, want one", ways)
	}
	if len(m.Replace) > 0 {
		return replaceIn(text, line, m.Replace)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	// The first node that begins on the line is the one around all others that do.
	var found ast.Node
	for node := range ast.Preorder(file) {
		if set.Position(node.Pos()).Line != line {
			continue
		}
		if m.Condition == "" {
			found = statement(node)
		} else {
			found = condition(node)
		}
		if found != nil {
			break
		}
	}
	if found == nil {
		return nil, errors.New("no statement begins there that has what is to be changed")
	}
	from, to := set.Position(found.Pos()).Offset, set.Position(found.End()).Offset
	was, with := string(text[from:to]), m.Instead
	switch m.Condition {
	case "":
	case "never":
		with = "false && (" + was + ")"
	case "always":
		with = "true || (" + was + ")"
	case "negated":
		with = "!(" + was + ")"
	default:
		return nil, fmt.Errorf("condition %q, want never, always or negated", m.Condition)
	}
	return splice(text, from, to, with), nil
}

// statement is the node if it is one that can be left out or stand where another does.
func statement(node ast.Node) ast.Node {
	switch node.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return nil
	case ast.Stmt:
		return node
	}
	return nil
}

// condition is what an if, a for or a case asks, or the one value that is returned or assigned.
func condition(node ast.Node) ast.Node {
	var of []ast.Expr
	switch node := node.(type) {
	case *ast.IfStmt:
		return node.Cond
	case *ast.ForStmt:
		of = []ast.Expr{node.Cond}
	case *ast.CaseClause:
		of = node.List
	case *ast.ReturnStmt:
		of = node.Results
	case *ast.AssignStmt:
		of = node.Rhs
	}
	if len(of) != 1 || of[0] == nil {
		return nil
	}
	return of[0]
}

// replaceIn replaces what the line has exactly once.
func replaceIn(text []byte, line int, replace map[string]string) ([]byte, error) {
	from := 0
	for range line - 1 {
		from += bytes.IndexByte(text[from:], '\n') + 1
	}
	of, _, _ := bytes.Cut(text[from:], []byte("\n"))
	changed := string(of)
	for old, with := range replace {
		if n := strings.Count(changed, old); n != 1 {
			return nil, fmt.Errorf("the line has %d times %q, want once: %s", n, old, bytes.TrimSpace(of))
		}
		changed = strings.Replace(changed, old, with, 1)
	}
	return splice(text, from, from+len(of), changed), nil
}

func splice(text []byte, from, to int, with string) []byte {
	return bytes.Join([][]byte{text[:from], []byte(with), text[to:]}, nil)
}
