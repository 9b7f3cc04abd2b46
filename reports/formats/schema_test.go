package formats_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are by the formats' own documentation, and stricter: what we do not write
// is not in them.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := filepath.Glob("testdata/schema/*.json")
	if err != nil {
		return nil, err
	}
	compiler, all := jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
	for _, file := range files {
		if all[strings.TrimSuffix(filepath.Base(file), ".json")], err = compiler.Compile(file); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// invalid is why a text is not of a format: one document, or one a line.
func invalid(t testing.TB, format string, text []byte) error {
	t.Helper()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	documents := [][]byte{text}
	if format == "messages" {
		documents = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	for _, document := range documents {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
		if err != nil {
			return err
		}
		if schema := all[format]; schema != nil { // our own JSON has none
			if err := schema.Validate(value); err != nil {
				return err
			}
		}
	}
	return nil
}

func conforms(t testing.TB, format string, text []byte) {
	t.Helper()
	if err := invalid(t, format, text); err != nil {
		t.Errorf("%s: %v", format, err)
	}
}

func TestSchemas(t *testing.T) {
	for _, format := range []string{"ctrf", "cucumber", "messages", "trace"} {
		conforms(t, format, written(t, format, runs(t)...))
		conforms(t, format, written(t, format))
	}
	strictJUnit(t, written(t, "junit", runs(t)...))
}

// What a reader would stumble over, the schemas refuse.
func TestSchemasRefuse(t *testing.T) {
	for _, test := range []struct{ format, old, new string }{
		{"ctrf", `"CTRF"`, `"ctrf"`},
		{"ctrf", `"pending": 0,`, ``},
		{"ctrf", `"status": "other"`, `"status": "inconclusive"`},
		{"ctrf", `"duration": 2184`, `"duration": 2184.8`},
		{"ctrf", `"suite":`, `"suites":`},
		{"cucumber", `"description": "",`, ``},
		{"cucumber", `"status": "failed"`, `"status": "ambiguous"`},
		{"cucumber", `"line": 4`, `"line": "4"`},
		{"cucumber", `"mime_type": "text/markdown"`, `"mime_type": ""`},
		{"messages", `"mediaType":"text/markdown"`, `"media":"text/markdown"`},
		{"messages", `"status":"PASSED"`, `"status":"passed"`},
		{"messages", `"testRunFinished"`, `"testRunEnded"`},
		{"messages", `"nanos":`, `"nanoseconds":`},
		{"trace", `"ph":"X"`, `"ph":"x"`},
		{"trace", `"dur":`, `"dur":-`},
		{"trace", `"s":"t"`, `"scope":"t"`},
		{"trace", `"args":{"value":`, `"args":{"value":"0","v":`},
		{"trace", `"name":"thread_name"`, `"name":"thread"`},
	} {
		text := written(t, test.format, runs(t)...)
		broken := bytes.Replace(text, []byte(test.old), []byte(test.new), 1)
		if bytes.Equal(text, broken) {
			t.Errorf("%s has no %s", test.format, test.old)
		} else if invalid(t, test.format, broken) == nil {
			t.Errorf("%s may have %s instead of %s", test.format, test.new, test.old)
		}
	}
}

// strictJUnit looks for what Jenkins' xUnit plugin, which has a schema, would refuse:
// an element or an attribute that it does not know, a time with more than three
// decimals.
func strictJUnit(t testing.TB, text []byte) {
	t.Helper()
	known := map[string]string{
		"testsuites": "name tests failures errors time",
		"testsuite":  "name tests failures errors skipped time timestamp",
		"properties": "", "property": "name value",
		"testcase": "name classname time",
		"failure":  "message type", "skipped": "message type", "system-out": "",
	}
	seconds := regexp.MustCompile(`^\d+\.\d{3}$`)
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("junit: %v", err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes, ok := known[element.Name.Local]
		if !ok {
			t.Errorf("junit: an element <%s>", element.Name.Local)
		}
		for _, a := range element.Attr {
			if !slices.Contains(strings.Fields(attributes), a.Name.Local) {
				t.Errorf("junit: <%s> has %s", element.Name.Local, a.Name.Local)
			}
			if a.Name.Local == "time" && !seconds.MatchString(a.Value) {
				t.Errorf("junit: a time of %s", a.Value)
			}
		}
	}
}
