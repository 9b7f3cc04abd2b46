package explain

import (
	"bytes"
	"cmp"
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
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/harness/cloud"
	_ "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/installer"
	"nodestorm/harness/search/schedule"
	"nodestorm/harness/search/workload"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/scenarios"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/strict"
)

const root = "../../../"

var update = flag.Bool("update", false, "write the files that are made of the code: make reference does")

// TestSchema keeps the schema in step with the structs that read the files, and with their comments.
func TestSchema(t *testing.T) {
	g := generator{t: t, comments: map[string]map[string]string{}}
	s := g.schema()
	g.takeExamples(s)
	text, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", " "); err != nil {
		t.Fatal(err)
	}
	golden(t, "schema.json", append(indented.Bytes(), '\n'))
}

// TestReferencePages keeps the pages of the reference in step with the schema.
func TestReferencePages(t *testing.T) {
	all, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		golden(t, root+"docs/reference/"+name, text)
	}
}

// golden compares a file with what it ought to be, or writes it.
func golden(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(name); err != nil || !bytes.Equal(text, want) {
		t.Errorf("%s is not what the code says, %v: run make reference", name, err)
	}
}

type generator struct {
	t        *testing.T
	comments map[string]map[string]string // by package, then TYPE and TYPE.FIELD
	defs     Properties
}

// files are those that people write, by what explain calls them.
func (g *generator) schema() *Schema {
	for _, file := range []struct {
		name, description string
		of                reflect.Type
	}{
		{"Record", "A documented failure, ID.yaml beside its feature: what it looks like in the history of a run, and which releases show it.",
			reflect.TypeFor[scenarios.Written]()},
		{"Statement", "", reflect.TypeFor[checker.Statement]()},
		{"Pattern", "", reflect.TypeFor[checker.Pattern]()},
		{"Schedule", "What a search does to a world, a file of nodestorm explore: demand, faults, restarts, people who act.",
			reflect.TypeFor[schedule.Schedule]()},
		{"Workload", "What runs in a cluster over a time, for nodestorm compare and the steps that run a workload.",
			reflect.TypeFor[workload.Workload]()},
		{"Order", "The order in which an installer brings up a cluster, for nodestorm run --order.", reflect.TypeFor[installer.Order]()},
	} {
		s := g.object(file.of)
		if file.description != "" {
			s.Description = file.description
		}
		g.define(file.name, s)
	}
	statements := &Schema{Type: Types{"array"}, Items: &Schema{Ref: defs + "Statement"}, Description: "The statements that hold in each run."}
	g.define("Invariants", &Schema{Type: Types{"object"}, Additional: false, Required: []string{"invariants"},
		Description: "invariants.yaml of a folder: what holds in every run of its scenarios, from the start to the end.",
		Properties:  Properties{{"invariants", statements}}})
	g.define("Faults", g.list(cloudfault.Faults, "What goes wrong in a cloud that is served alone: nodestorm cloud hcloud --faults FILE."))
	g.define("Rules", g.list(apifault.Rules, "What goes wrong on the way to an API server: nodestorm proxy --rules FILE."))
	return &Schema{ID: "nodestorm", Dialect: Dialect, Title: "Files of nodestorm", Ref: defs + "Record", Defs: g.defs}
}

func (g *generator) define(name string, s *Schema) {
	if known := g.defs.Named(name); known != nil {
		*known = *s
		return
	}
	g.defs = append(g.defs, Property{name, s})
}

// list is the file of a list of faults.
func (g *generator) list(l *fault.List, about string) *Schema {
	row := &Schema{Type: Types{"object"}, Additional: false, Required: []string{"name"}}
	row.Properties = Properties{{"name", &Schema{Type: Types{"string"}, Description: "A name that no other one in the list has."}}}
	match := g.object(reflect.TypeOf(l.Match))
	match.Description = "What is struck. Fields that are missing match anything."
	row.Properties = append(row.Properties, Property{l.Within, match})
	row.Properties = append(row.Properties, g.object(reflect.TypeFor[fault.Plan]()).Properties...)
	effects, at := Properties{}, row
	for _, k := range l.Kinds() {
		effect := g.object(reflect.TypeOf(k.Effect))
		effect.Description = bare(effect.Description)
		effects = append(effects, Property{k.Key, effect})
	}
	if l.Below != "" {
		at = &Schema{Type: Types{"object"}, Additional: false, Description: "What happens: one of the fields below."}
		row.Properties = append(row.Properties, Property{l.Below, at})
		row.Required = append(row.Required, l.Within, l.Below)
	}
	at.Properties = append(at.Properties, effects...)
	for _, e := range effects {
		at.OneOf = append(at.OneOf, &Schema{Required: []string{e.Name}})
	}
	rows := &Schema{Type: Types{"array"}, Items: row, Description: "The list. Of several that match, the first acts. Each has a name and one effect."}
	return &Schema{Type: Types{"object"}, Additional: false, Required: []string{l.Name}, Properties: Properties{{l.Name, rows}}, Description: about}
}

// shared are types that are described once, in definitions.
var shared = []reflect.Type{reflect.TypeFor[checker.Statement](), reflect.TypeFor[checker.Pattern](), reflect.TypeFor[checker.Element](),
	reflect.TypeFor[checker.Absence](), reflect.TypeFor[checker.State]()}

// of is the schema of a Go type.
func (g *generator) of(t reflect.Type) *Schema {
	switch t {
	case reflect.TypeFor[checker.Duration](), reflect.TypeFor[strict.Duration]():
		return &Schema{Title: "duration", Type: Types{"string"}, Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[workload.Amount]():
		return &Schema{Title: "amount", Type: Types{"string", "number"}, MinLength: 1}
	case reflect.TypeFor[scenarios.Range]():
		return &Schema{Title: "range", Type: Types{"string"}, Pattern: `^(none|[<>=!~^]{0,2} ?v?[0-9*x].*)$`}
	case reflect.TypeFor[checker.Values]():
		return g.values()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Struct:
		if !slices.Contains(shared, t) {
			return g.object(t)
		}
		if g.defs.Named(t.Name()) == nil {
			g.define(t.Name(), &Schema{}) // it may be in itself
			g.define(t.Name(), g.object(t))
		}
		return &Schema{Ref: defs + t.Name()}
	case reflect.Slice:
		return &Schema{Type: Types{"array"}, Items: g.of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: Types{"object"}, Additional: g.of(t.Elem())}
	case reflect.String:
		return &Schema{Type: Types{"string"}}
	case reflect.Bool:
		return &Schema{Type: Types{"boolean"}}
	case reflect.Float64:
		return &Schema{Type: Types{"number"}}
	case reflect.Int, reflect.Uint64:
		return &Schema{Type: Types{"integer"}}
	case reflect.Interface:
		return &Schema{}
	}
	g.t.Fatalf("%s has no schema", t)
	return nil
}

// values are those of a pattern's field.
func (g *generator) values() *Schema {
	if g.defs.Named("Values") == nil {
		scalar := func() *Schema { return &Schema{Type: Types{"string", "number", "boolean"}, MinLength: 1} }
		list := &Schema{Type: Types{"array"}, Items: scalar(), MinItems: 1}
		ops := &Schema{Type: Types{"object"}, Additional: false, MinProperties: 1, MaxProperties: 1}
		for _, op := range checker.Comparisons {
			value := &Schema{AnyOf: []*Schema{scalar(), list}}
			switch op {
			case "exists":
				value = &Schema{Type: Types{"boolean"}}
			case "above", "below":
				value = &Schema{Type: Types{"number"}}
			}
			ops.Properties = append(ops.Properties, Property{op, value})
		}
		g.define("Values", &Schema{AnyOf: []*Schema{scalar(), list, ops}, Description: g.doc(reflect.TypeFor[checker.Values](), "")})
	}
	return &Schema{Ref: defs + "Values"}
}

// object is the schema of a struct.
func (g *generator) object(t reflect.Type) *Schema {
	s := &Schema{Type: Types{"object"}, Additional: false, Description: g.doc(t, "")}
	g.addFields(s, t)
	for _, p := range s.Properties {
		if text, is := strings.CutSuffix(p.Description, " Required."); is {
			p.Description = text
			s.Required = append(s.Required, p.Name)
		}
	}
	if limit, is := limits[t.Name()]; is {
		limit(s)
	}
	return s
}

func (g *generator) addFields(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			g.addFields(s, f.Type)
		case f.IsExported() && name != "" && name != "-":
			p := g.of(f.Type)
			p.Description = g.doc(t, f.Name)
			if p.Description == "" {
				g.t.Errorf("%s.%s has no comment, which people read as the description of %s", t, f.Name, name)
			}
			s.Properties = append(s.Properties, Property{name, p})
		}
	}
}

// doc is the comment of a type, or of its field, in the words of YAML.
func (g *generator) doc(t reflect.Type, field string) string {
	of := g.commentsOf(strings.TrimPrefix(t.PkgPath(), "nodestorm/"))
	if field == "" { // it begins with the type's name, which may be that of a field, too
		text := of[t.Name()]
		rest, _ := strings.CutPrefix(text, t.Name()+" ")
		return strings.TrimSuffix(text, rest) + worded(rest, t)
	}
	return bare(worded(of[t.Name()+"."+field], t))
}

// bare is the description of a field without its name: "Since is when" becomes "When".
func bare(text string) string {
	_, rest, is := strings.Cut(text, " ")
	if !is {
		return text
	}
	for _, verb := range []string{"is ", "are ", "means that "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return titled(rest)
}

// commentsOf reads those of a package's sources.
func (g *generator) commentsOf(folder string) map[string]string {
	if known := g.comments[folder]; known != nil {
		return known
	}
	all := map[string]string{}
	names, _ := filepath.Glob(filepath.Join(root, folder, "*.go"))
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if d, is := n.(*ast.GenDecl); is && len(d.Specs) == 1 {
				if spec, is := d.Specs[0].(*ast.TypeSpec); is && spec.Doc == nil {
					spec.Doc = d.Doc
				}
			}
			spec, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			all[spec.Name.Name] = spec.Doc.Text()
			if s, is := spec.Type.(*ast.StructType); is {
				for _, f := range s.Fields.List {
					for _, field := range f.Names {
						all[spec.Name.Name+"."+field.Name] = f.Doc.Text() + f.Comment.Text()
					}
				}
			}
			return true
		})
	}
	g.comments[folder] = all
	return all
}

var (
	sentenceEnd = regexp.MustCompile(`[.:?]\s+$`)
	ofName      = regexp.MustCompile(`\bCluster $`)
	goName      = regexp.MustCompile(`\b[A-Z][A-Za-z]*\b`)
	paragraph   = regexp.MustCompile(`\n\n+`)
)

// worded is a comment with the names of fields as YAML has them. A word at the beginning of a sentence that is an English one as
// well stays as it is, unless the comment begins with it.
func worded(comment string, t reflect.Type) string {
	names := map[string]string{}
	if t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names[f.Name] = name
			}
		}
	}
	var text strings.Builder
	at := 0
	for _, m := range goName.FindAllStringIndex(comment, -1) {
		word := comment[m[0]:m[1]]
		name, is := names[word]
		before := comment[:m[0]]
		if m[0] > 0 && (sentenceEnd.MatchString(before) || comment[m[0]-1] == '"' || ofName.MatchString(before) || word == "Kubernetes") {
			is = false
		}
		if is {
			text.WriteString(comment[at:m[0]] + name)
			at = m[1]
		}
	}
	text.WriteString(comment[at:])
	var paragraphs []string
	for _, p := range paragraph.Split(strings.TrimSpace(text.String()), -1) {
		if !strings.Contains(p, "\t") {
			p = strings.ReplaceAll(strings.Join(strings.Fields(p), " "), "; - ", ";\n- ")
		}
		paragraphs = append(paragraphs, p)
	}
	return strings.Join(paragraphs, "\n\n")
}

func oneOf(fields ...string) (list []*Schema) {
	for _, field := range fields {
		list = append(list, &Schema{Required: strings.Fields(field)})
	}
	return list
}

// limits are what a struct's own checks ask for, by its name.
var limits = map[string]func(*Schema){
	"Written": func(s *Schema) {
		s.Properties.Named("system").Enum = slices.Sorted(slices.Values(scenarios.Systems))
		s.Properties.Named("autoscaler").Enum = scenarios.Autoscalers
		s.Properties.Named("cloud").Enum = append(cloud.NamesFor("cluster-autoscaler"), cloud.NamesFor("karpenter")...)
		s.Properties.Named("id").Pattern = `^[a-z0-9]+(-[a-z0-9]+)+$`
		for _, field := range []string{"issue", "fix"} {
			s.Properties.Named(field).Pattern = `^[A-Za-z0-9-]+/[A-Za-z0-9._-]+#[0-9]+$`
		}
	},
	"Target": func(s *Schema) {
		s.Properties.Named("expected").Enum = []string{string(scenarios.Reproduced), string(scenarios.Healthy)}
		s.Properties.Named("name").Pattern = `^(` + strings.Join(scenarios.Autoscalers, "|") + `)@.+$`
	},
	"Known": func(s *Schema) { s.Properties.Named("invariant").Enum = invariants.Names() },
	"Work": func(s *Schema) {
		s.Properties.Named("since").Enum = []string{"start"}
		s.Properties.Named("count").Minimum = new(float64)
		*s.Properties.Named("count").Minimum = 1
	},
	"Statement": func(s *Schema) {
		s.OneOf = oneOf("sequence", "noSequence", "happens", "never", "count", "first then", "throughout", "eventually", "finally",
			"measure")
		s.DependentRequired = map[string][]string{"atLeast": {"count"}, "atMost": {"count"}, "every": {"count"}, "first": {"then"},
			"then": {"first"}, "until": {"since"}}
	},
	"State":   func(s *Schema) { s.Required = []string{"value", "of"} },
	"Element": func(s *Schema) { s.AnyOf = oneOf("match", "absent for") },
	"Pattern": func(s *Schema) {
		var sources []string
		for _, source := range history.Sources() {
			sources = append(sources, string(source))
		}
		source := s.Properties.Named("source")
		one := &Schema{Enum: sources}
		source.AnyOf = []*Schema{one, {Type: Types{"array"}, Items: one, MinItems: 1}, {Ref: source.Ref, Type: Types{"object"}}}
		source.Ref = ""
	},
	"Schedule": func(s *Schema) { s.Properties.Named("site").Enum = schedule.Sites() },
	"Act":      func(s *Schema) { s.Properties.Named("do").Enum = schedule.Acts() },
	"Load": func(s *Schema) {
		s.Properties.Named("kind").Enum, s.Properties.Named("spread").Enum = workload.Kinds, workload.Spreads
	},
	"Toleration": func(s *Schema) {
		s.Properties.Named("effect").Enum, s.Properties.Named("operator").Enum = workload.Effects, workload.Operators
	},
	"Step":    func(s *Schema) { s.OneOf = oneOf("apply", "rollout", "label", "taint") },
	"Rollout": func(s *Schema) { s.Properties.Named("kind").Enum = installer.Kinds },
}

// exampleFiles have examples of each file that people write, by its name in the schema.
var exampleFiles = map[string]string{
	"Record": "scenarios/*/*.yaml", "Faults": "features/examples/faults-*.yaml", "Rules": "features/examples/rules.yaml",
	"Order": "features/examples/order.yaml", "Schedule": "features/examples/schedule.yaml", "Invariants": "features/examples/invariants.yaml",
	"Workload": "features/examples/workload.yaml",
}

// takeExamples gives each field the value that the catalogue has most often, of several the shortest.
func (g *generator) takeExamples(s *Schema) {
	taken := map[*Schema]map[string]int{}
	for _, name := range s.Defs.Names() {
		files, err := filepath.Glob(filepath.Join(root, exampleFiles[name]))
		if err != nil || exampleFiles[name] == "" {
			continue
		}
		if len(files) == 0 {
			g.t.Errorf("%s: no file", exampleFiles[name])
		}
		for _, file := range files {
			text, err := fs.ReadFile(os.DirFS(root), strings.TrimPrefix(file, root))
			if err != nil {
				g.t.Fatal(err)
			}
			var node yaml.Node
			if err := yaml.Unmarshal(text, &node); err != nil {
				g.t.Fatal(err)
			}
			g.take(s, s.Defs.Named(name), node.Content[0], taken)
		}
	}
	for of, counts := range g.said(s) {
		if taken[of] == nil {
			taken[of] = counts
		}
	}
	for of, counts := range taken {
		best := slices.MinFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int {
			return cmp.Or(counts[b]-counts[a], len(a)-len(b), strings.Compare(a, b))
		})
		of.Examples = []json.RawMessage{json.RawMessage(best)}
	}
	g.complete(s, "")
}

// said are the values that the examples of sentences about faults stand for: no new effect needs one in a file.
func (g *generator) said(s *Schema) map[*Schema]map[string]int {
	taken := map[*Schema]map[string]int{}
	for _, example := range breaks.Examples() {
		text, err := breaks.Named("a", example)
		if err != nil {
			g.t.Fatal(err)
		}
		var list yaml.Node
		if err := yaml.Unmarshal(text, &list); err != nil {
			g.t.Fatal(err)
		}
		for key, name := range map[string]string{cloudfault.Faults.Name: "Faults", apifault.Rules.Name: "Rules"} {
			if strings.HasPrefix(string(text), key+":") {
				g.take(s, s.Defs.Named(name), list.Content[0], taken)
			}
		}
	}
	return taken
}

// further are examples by the path of a field, and of what the catalogue has none of by its name and by its type.
var further = map[string]string{
	"Statement.noSequence": `[{"match":{"source":"api","verb":"create","resource":"nodes","name":"a"}},` +
		`{"match":{"source":"api","verb":"delete","resource":"nodes","name":"a"},"within":"5m"}]`,
	"Statement.forEach": `["namespace","name"]`, "Statement.forAny": `["name"]`, "State.value": `"detail.replicas"`, "Work.namespace": `"default"`,
	"Record.affected": `">=v1.0.0, <v1.7.0"`, "Record.fixed": `">=v1.7.0"`, "kubernetes": `">=1.34"`, "targets": `[{"name":"karpenter@v1.6.4","expected":"reproduced"}]`, "Record.targets.name": `"karpenter@v1.6.4"`,
	"group": `"alpha"`, "namespace": `"default"`, "message": `"no room"`,
	"Faults.faults.match.type": `"m5.large"`, "subnet": `"subnet-0123456789abcdef0"`, "Faults.faults.match.name": `"karpenter.k8s.aws/*"`,
	"dryRun": `"true"`, "Faults.faults.refuseReply.status": `500`,
	"capacity": `"spot"`, "before": `1`, "Absence.since": `"start"`,
	"Statement.measure.by": `"cx22"`, "Statement.measure.atLeast": `"3"`,
	"duration": `"5m"`, "integer": `3`, "number": `3`, "boolean": `true`, "values": `"web"`,
	"pattern": `{"source":"api","verb":"create","resource":"nodes"}`,
	"state":   `{"value":"detail.replicas","of":{"source":"api","resource":"deployments","name":"web"},"atMost":3}`,
}

// complete gives examples to the fields that have none.
func (g *generator) complete(s *Schema, path string) {
	for _, p := range append(slices.Clip(s.Properties), s.Defs...) {
		at := strings.TrimPrefix(path+"."+p.Name, ".")
		if own := further[at]; own != "" {
			p.Examples = []json.RawMessage{json.RawMessage(own)}
		}
		if len(p.Examples) == 0 && path != "" {
			example := ""
			for _, key := range []string{p.Name, typeOf(p.Schema)} {
				example = cmp.Or(example, further[key])
			}
			if len(p.Enum) > 0 {
				example = fmt.Sprintf("%q", p.Enum[0])
			}
			if example == "" {
				g.t.Errorf("%s has no example: write one into further", at)
				continue
			}
			p.Examples = []json.RawMessage{json.RawMessage(example)}
		}
		g.complete(p.Schema, at)
		if p.Items != nil {
			g.complete(p.Items, at)
		}
	}
}

func (g *generator) take(whole, s *Schema, node *yaml.Node, taken map[*Schema]map[string]int) {
	note := func(of *Schema) {
		if taken[of] == nil {
			taken[of] = map[string]int{}
		}
		taken[of][ordered(g.t, node)]++
	}
	note(s)
	if name, is := strings.CutPrefix(s.Ref, defs); is {
		s = whole.Defs.Named(name)
		note(s)
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			if s.Items != nil {
				g.take(whole, s.Items, item, taken)
			}
		}
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			if p := s.Properties.Named(node.Content[i].Value); p != nil {
				g.take(whole, p, node.Content[i+1], taken)
			}
		}
	}
}

// ordered is a node as JSON with its fields in their order.
func ordered(t *testing.T, node *yaml.Node) string {
	switch node.Kind {
	case yaml.SequenceNode:
		var items []string
		for _, item := range node.Content {
			items = append(items, ordered(t, item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case yaml.MappingNode:
		var fields []string
		for i := 0; i < len(node.Content); i += 2 {
			fields = append(fields, fmt.Sprintf("%q:%s", node.Content[i].Value, ordered(t, node.Content[i+1])))
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	var value any
	if err := node.Decode(&value); err != nil {
		t.Fatal(err)
	}
	text, err := Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
