package explain

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/strict"
)

// Kinds are the files that people write, and the parts that several of them have, as paths begin with them.
var Kinds = []string{"record", "statement", "pattern", "invariants", "faults", "rules", "order", "schedule", "workload"}

// Field is what a path leads to.
type Field struct {
	Path     string // as people write it: record.symptom
	Required bool
	of       *Schema // where the field is: with its own description
}

// Find is what a path leads to. Its error names what is allowed there.
func Find(path string) (Field, error) {
	parts := strings.Split(strings.ReplaceAll(path, "[]", ""), ".")
	kind := strings.ToLower(parts[0])
	if !slices.Contains(Kinds, kind) {
		return Field{}, fmt.Errorf("unknown kind %q (allowed: %s)%s", parts[0], strings.Join(Kinds, ", "), strict.Meant(kind, names()))
	}
	f := Field{Path: kind, of: whole().Defs.Named(titled(kind))}
	for _, name := range parts[1:] {
		inner := f.fields()
		next := inner.Properties.Named(name)
		switch {
		case next == nil && len(inner.Properties) == 0:
			return Field{}, fmt.Errorf("%s has no fields: it is %s", f.Path, article(f.Type()))
		case next == nil:
			all := inner.Properties.Names()
			return Field{}, fmt.Errorf("%s has no field %q (allowed: %s)%s", f.Path, name, strings.Join(all, ", "), elsewhere(name, all))
		}
		f = Field{Path: f.Path + "." + name, Required: slices.Contains(inner.Required, name), of: next}
	}
	return f, nil
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an " + word
	}
	return "a " + word
}

// fields is the schema that has the fields of what the field has, or of each of its items.
func (f Field) fields() *Schema {
	s := target(f.of)
	for s.Items != nil {
		s = target(s.Items)
	}
	return s
}

// Names are those of the fields below it.
func (f Field) Names() []string { return f.fields().Properties.Names() }

// Type is what people call the type.
func (f Field) Type() string { return typeOf(f.of) }

func typeOf(s *Schema) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Ref == defs+"Values", s.Ref == "" && len(s.AnyOf) > 0 && len(s.Properties) == 0:
		return "values"
	case s.Ref != "":
		return strings.ToLower(strings.TrimPrefix(s.Ref, defs))
	case s.Items != nil:
		return "list of " + typeOf(s.Items)
	case len(s.Type) == 0:
		return "any"
	}
	if of, is := s.Additional.(map[string]any); is {
		if ref, is := of["$ref"].(string); is {
			return "map of " + typeOf(&Schema{Ref: ref})
		}
		return "map"
	}
	return s.Type[0]
}

// Allowed are the values that it has, where all are known.
func (f Field) Allowed() []string {
	if len(f.of.AnyOf) > 0 && len(f.of.Enum) == 0 {
		return f.of.AnyOf[0].Enum
	}
	if f.of.Items != nil {
		return f.of.Items.Enum
	}
	return f.of.Enum
}

// Description says what it means.
func (f Field) Description() string { return f.of.Description }

// Form is how it is written, empty where the type says that.
func (f Field) Form() string {
	switch form := formNamed(strings.TrimSuffix(f.Type(), " of values")); {
	case form != nil:
		return form.how
	case f.of.Minimum != nil:
		return fmt.Sprintf("%v or more", *f.of.Minimum)
	}
	if f.of.Pattern != "" {
		return "a text that matches " + f.of.Pattern
	}
	return ""
}

// Example is one in YAML, below the field's name; of a kind itself it is the whole.
func (f Field) Example() string {
	if len(f.of.Examples) == 0 {
		return ""
	}
	var node yaml.Node
	if err := yaml.Unmarshal(f.of.Examples[0], &node); err != nil {
		return ""
	}
	value := node.Content[0]
	plain(value)
	if _, name, is := strings.Cut(f.Path, "."); is {
		name = name[strings.LastIndex(name, ".")+1:]
		value = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, value}}
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return ""
	}
	return strings.TrimSpace(text.String())
}

// shortLine is what is written in one line in braces, in bytes.
const shortLine = 90

// plain has a node be written as people write it: what is short on a line, and no quotes that need not be.
func plain(node *yaml.Node) int {
	node.Style = 0
	length := len(node.Value) + 2
	for _, inner := range node.Content {
		length += plain(inner)
	}
	if len(node.Content) > 0 && length <= shortLine {
		node.Style = yaml.FlowStyle
	}
	return length
}

// columns is how wide texts are on a terminal.
const columns = 80

func indented(text string, by int) string {
	pad := strings.Repeat(" ", by)
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "\t") {
			line = wordwrap.WrapString(line, uint(columns-by))
		}
		lines = append(lines, strings.ReplaceAll(pad+strings.ReplaceAll(line, "\t", "  "), "\n", "\n"+pad))
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), pad+"\n", "\n")
}

// Print writes what is known of it, as kubectl explain does; deep names all fields below it.
func (f Field) Print(w io.Writer, deep bool) {
	required := ""
	if f.Required {
		required = ", required"
	}
	fmt.Fprintf(w, "%s <%s>%s\n\n", f.Path, f.Type(), required)
	if text := f.Description(); text != "" {
		fmt.Fprintf(w, "%s\n\n", indented(text, 0))
	}
	inner := f.fields()
	if kind := f.Type(); inner.Description != f.Description() && inner.Description != "" && kind != "values" {
		fmt.Fprintf(w, "%s\n\n", indented(inner.Description, 0))
	}
	if allowed := f.Allowed(); len(allowed) > 0 {
		fmt.Fprintf(w, "ALLOWED:\n%s\n\n", indented(strings.Join(allowed, ", "), 2))
	}
	if form := f.Form(); form != "" {
		fmt.Fprintf(w, "FORM:\n%s\n\n", indented(form, 2))
	}
	if f.Type() == "values" {
		fmt.Fprintf(w, "VALUES:\n%s\n\n", indented(whole().Defs.Named("Values").Description, 2))
	}
	if example := f.Example(); example != "" {
		fmt.Fprintf(w, "EXAMPLE:\n  %s\n\n", strings.ReplaceAll(example, "\n", "\n  "))
	}
	if len(inner.Properties) == 0 {
		return
	}
	fmt.Fprintln(w, "FIELDS:")
	if deep {
		f.tree(w, "  ", map[*Schema]bool{inner: true})
		return
	}
	for _, below := range f.Fields() {
		required := ""
		if below.Required {
			required = ", required"
		}
		fmt.Fprintf(w, "  %s <%s>%s\n%s\n\n", below.Name(), below.Type(), required, indented(below.Description(), 4))
	}
}

// Name is the last part of the path.
func (f Field) Name() string { return f.Path[strings.LastIndex(f.Path, ".")+1:] }

// Fields are those below it.
func (f Field) Fields() (all []Field) {
	inner := f.fields()
	for _, p := range inner.Properties {
		all = append(all, Field{f.Path + "." + p.Name, slices.Contains(inner.Required, p.Name), p.Schema})
	}
	return all
}

// tree writes all fields below it. What is in definitions is written once.
func (f Field) tree(w io.Writer, pad string, seen map[*Schema]bool) {
	for _, below := range f.Fields() {
		inner := below.fields()
		again := len(inner.Properties) > 0 && seen[inner]
		note := ""
		if below.Required {
			note = ", required"
		}
		if again {
			note += " (as above)"
		}
		fmt.Fprintf(w, "%s%s <%s>%s\n", pad, below.Name(), below.Type(), note)
		if len(inner.Properties) > 0 && !again {
			seen[inner] = true
			below.tree(w, pad+"  ", seen)
		}
	}
}
