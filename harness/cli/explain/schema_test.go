package explain

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// compilers are a validator of others' making, which has read the schema of a kind.
var compilers = map[string]*jsonschema.Compiler{}

// compiled is the schema of a kind, or that of the part at a place below $defs.
func compiled(t *testing.T, kind, place string) *jsonschema.Schema {
	t.Helper()
	if compilers[kind] == nil {
		compilers[kind] = compiler(t, kind)
	}
	s, err := compilers[kind].Compile("nodestorm" + place)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compiler(t *testing.T, kind string) *jsonschema.Compiler {
	t.Helper()
	text, err := Text(kind)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("nodestorm", document); err != nil {
		t.Fatal(err)
	}
	return compiler
}

func invalid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// Whatever the catalogue has is of the schema.
func TestCatalogueIsOfSchema(t *testing.T) {
	seen := 0
	for name, pattern := range exampleFiles {
		s := compiled(t, strings.ToLower(name), "")
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		if name == "Record" {
			more, _ := filepath.Glob("../records/new/*.yaml")
			files = append(files, more...)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			text = bytes.ReplaceAll(text, []byte("SCENARIO-ID"), []byte("scenario-id")) // as new does
			if err := invalid(t, s, text); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d files", seen)
	}
}

const good = `id: mine-one
title: It fails
system: karpenter
autoscaler: karpenter
feature: mine.feature
trigger: {statement: there is one, happens: {source: api, verb: create, resource: nodes}}
work: {count: 1, source: api, actor: karpenter}
symptom: {statement: it is, sequence: [{match: {source: api, verb: delete, resource: nodes}}]}
`

func TestWrongRecordsAreNotOfSchema(t *testing.T) {
	s := compiled(t, "record", "")
	if err := invalid(t, s, []byte(good)); err != nil {
		t.Fatalf("a good one: %v", err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"title: It fails\n", "", "title"},
		{"trigger: ", "triger: ", "triger"},
		{"system: karpenter", "system: karpentr", "/system"},
		{"autoscaler: karpenter", "autoscaler: Karpenter", "/autoscaler"},
		{"id: mine-one", "id: Mine_one", "/id"},
		{"source: api, verb: create", "sorce: api, verb: create", "sorce"},
		{"source: api, verb: create", "source: apis, verb: create", "/trigger/happens/source"},
		{"verb: create", "verb: {like: create}", "/trigger/happens/verb"},
		{"verb: create", "verb: {not: a, matches: b}", "/trigger/happens/verb"},
		{"verb: create", "verb: []", "/trigger/happens/verb"},
		{"verb: create", `verb: ""`, "/trigger/happens/verb"},
		{"resource: nodes}}\nwork", "detail: {to: {above: many}}}}\nwork", "/trigger/happens/detail/to"},
		{"happens: {", "never: {source: api}, happens: {", "/trigger"},
		{"happens: {source", "first: {source", "/trigger"},
		{"happens: ", "happen: ", "/trigger"},
		{"happens: ", "until: {source: log}, happens: ", "/trigger"},
		{"happens: ", "atMost: 3, happens: ", "/trigger"},
		{"happens: ", "within: 5 minutes, happens: ", "/trigger/within"},
		{"count: 1", "count: 0", "work/count"},
		{"count: 1", "count: one", "work/count"},
		{"count: 1", "count: 1, since: end", "work/since"},
		{"[{match", "[{within: 5m, capture: {a: name}}, {match", "/symptom/sequence/0"},
		{"[{match", "[{absent: [{source: log}], for: soon}, {match", "/symptom/sequence/0/for"},
		{"work:", "affected: all of them\nwork:", "/affected"},
		{"work:", "issue: 7515\nwork:", "/issue"},
		{"work:", "issue: karpenter-7515\nwork:", "/issue"},
		{"work:", "targets: [{name: karpenter@v1.6.4, expected: broken}]\nwork:", "/targets/0/expected"},
		{"work:", "targets: [{name: kapenter@v1.6.4, expected: healthy}]\nwork:", "/targets/0/name"},
		{"work:", "twins: [{id: mine-two}]\nwork:", "/twins/0"},
		{"work:", "known: [{invariant: bound, releases: none, because: x}]\nwork:", "/known/0/invariant"},
	} {
		text := strings.Replace(good, test.old, test.new, 1)
		if text == good {
			t.Fatalf("%q is not in the good one", test.old)
		}
		if err := invalid(t, s, []byte(text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.new, err, test.want)
		}
	}
}

func TestWrongFilesAreNotOfSchema(t *testing.T) {
	for text, want := range map[string]string{
		"faults: [{name: a, refuse: {code: x}, hang: {}}]":                              "/faults/0",
		"faults: [{name: a}]":                                                           "/faults/0",
		"faults: [{name: a, actionTakes: {}}]":                                          "/faults/0/actionTakes",
		"rules: [{name: a, match: {resource: pods}, act: {}}]":                          "/rules/0/act",
		"rules: [{name: a, match: {resource: pods}, act: {answer: {cod: 3}}}]":          "/rules/0/act/answer",
		"steps: [{apply: a.yaml, label: {nodes: [a], labels: {a: b}}}]":                 "/steps/0",
		"steps: [{rollout: {kind: Pod, name: a}}]":                                      "/steps/0/rollout/kind",
		"site: karpenter/aws\ngroups: []\nacts: []\nrest: 5m":                           "/site",
		"site: karpenter/kwok\ngroups: []\nacts: [{do: explode}]\nrest: 5m":             "/acts/0/do",
		"invariants: [{statement: a, forEach: [name]}]":                                 "/invariants/0",
		"invariants: [{statement: a, throughout: {value: detail.replicas, atMost: 1}}]": "/invariants/0/throughout",
	} {
		kind := map[string]string{"faults": "faults", "rules": "rules", "steps": "order", "site": "schedule", "invariants": "invariants"}
		field, _, _ := strings.Cut(text, ":")
		if err := invalid(t, compiled(t, kind[field], ""), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Each field has a description, and an example that it can have.
func TestExamplesAreOfSchema(t *testing.T) {
	seen := 0
	var check func(place string, s *Schema)
	check = func(place string, s *Schema) {
		for _, p := range s.Properties {
			seen++
			at := place + "/properties/" + p.Name
			if p.Description == "" || len(p.Examples) == 0 {
				t.Errorf("%s: description %q, %d examples", at, p.Description, len(p.Examples))
				continue
			}
			if err := invalid(t, compiled(t, "record", at), p.Examples[0]); err != nil {
				t.Errorf("%s: %s: %v", at, p.Examples[0], err)
			}
			check(at, p.Schema)
			if p.Items != nil {
				check(at+"/items", p.Items)
			}
		}
	}
	for _, d := range whole().Defs {
		if d.Name != "Values" {
			check(defs+d.Name, d.Schema)
		}
	}
	if seen < 180 {
		t.Errorf("only %d fields", seen)
	}
}

// Whatever has fields is explained, and what has not says so.
func TestFind(t *testing.T) {
	for path, want := range map[string]string{
		"record.symptom":                       "record.symptom <statement>, required",
		"Record.symptom.sequence[].match":      "match: {source:",
		"record.symptom.sequence.match.source": "api, cloud, node",
		"record.work.count":                    "1 or more",
		"record.affected":                      `constraints such as ">=v1.0.0, <v1.7.0"`,
		"schedule.acts.do":                     "delete-node",
		"faults.faults.refuse":                 "The call is not carried out and gets an error",
		"pattern.verb":                         "{matches: …}",
	} {
		f, err := Find(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var text bytes.Buffer
		f.Print(&text, false)
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s: %s\nlacks %q", path, &text, want)
		}
	}
	for path, want := range map[string]string{
		"recrd":            `unknown kind "recrd" (allowed: record, statement, pattern, invariants, faults, rules, order, schedule, workload), did you mean "record"?`,
		"record.symtom":    `record has no field "symtom" (allowed: id, title,`,
		"record.symptom.x": `did you mean`,
		"record.id.x":      "record.id has no fields: it is a string",
		"":                 "unknown kind",
	} {
		if _, err := Find(path); err == nil || !strings.Contains(err.Error(), want) && path != "record.symptom.x" {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}
