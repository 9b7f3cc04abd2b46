// Package explain says what may be in the files that people write: each field with its type, form, allowed values, a
// description and an example. All of it is in one JSON Schema, which is made of the structs that read these files, of their doc
// comments and of the files of the catalogue: see the package's test, which writes it.
package explain

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Schema is a JSON Schema of draft 2020-12, as far as ours use it. As an editor reads it, it is Text.
type Schema struct {
	ID          string   `json:"$id,omitempty"`
	Dialect     string   `json:"$schema,omitempty"`
	Ref         string   `json:"$ref,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        Types    `json:"type,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	MinItems    int      `json:"minItems,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`

	Properties Properties `json:"properties,omitzero"`
	Required   []string   `json:"required,omitempty"`
	// Additional is what fields that are not in Properties have, or false where there are none.
	Additional        any                 `json:"additionalProperties,omitempty"`
	MinProperties     int                 `json:"minProperties,omitempty"`
	MaxProperties     int                 `json:"maxProperties,omitempty"`
	DependentRequired map[string][]string `json:"dependentRequired,omitempty"`
	Items             *Schema             `json:"items,omitempty"`
	AnyOf             []*Schema           `json:"anyOf,omitempty"`
	OneOf             []*Schema           `json:"oneOf,omitempty"`
	Examples          []json.RawMessage   `json:"examples,omitempty"`

	Defs Properties `json:"$defs,omitzero"`
}

// Types are one type, or several of which a value has one.
type Types []string

// MarshalJSON writes one type as a text.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Types) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = Types{""}
	return json.Unmarshal(text, &(*t)[0])
}

// Property is a field with its name.
type Property struct {
	Name string
	*Schema
}

// Properties are fields in the order in which people read of them.
type Properties []Property

// Named is the property of that name, nil if there is none.
func (p Properties) Named(name string) *Schema {
	i := slices.IndexFunc(p, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return p[i].Schema
}

// Names are those of all.
func (p Properties) Names() (names []string) {
	for _, property := range p {
		names = append(names, property.Name)
	}
	return names
}

// MarshalJSON writes an object.
func (p Properties) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, property := range p {
		name, err := json.Marshal(property.Name)
		if err != nil {
			return nil, err
		}
		value, err := Encode(property.Schema)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%s:%s", name, value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// UnmarshalJSON reads an object and keeps its order.
func (p *Properties) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		property := Property{fmt.Sprint(name), &Schema{}}
		if err := decoder.Decode(property.Schema); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*p = append(*p, property)
	}
	return nil
}

// Encode is a value as JSON, with letters such as < as they are.
func Encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

//go:embed schema.json
var written []byte

// whole is the schema of all files.
var whole = sync.OnceValue(func() *Schema {
	var s Schema
	if err := json.Unmarshal(written, &s); err != nil {
		panic(err) // it is part of the program
	}
	return &s
})

// Dialect is the one that schemas are written in.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Text is the JSON Schema of the files of a kind, one of Kinds, for editors.
func Text(kind string) ([]byte, error) {
	s := *whole()
	s.Ref = defs + titled(kind)
	text, err := Encode(s)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	err = json.Indent(&indented, text, "", "  ")
	return append(indented.Bytes(), '\n'), err
}

const defs = "#/$defs/"

// target is what a schema refers to, or itself.
func target(s *Schema) *Schema {
	if name, is := strings.CutPrefix(s.Ref, defs); is {
		return whole().Defs.Named(name)
	}
	return s
}

func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
