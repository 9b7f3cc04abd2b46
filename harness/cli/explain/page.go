package explain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// page is one of the reference.
type page struct {
	file, title, about string
	parts              []part
}

// part is a heading of a page with the fields that a path has.
type part struct{ heading, path string }

var pages = []page{
	{"record.md", "Records and statements", "A record is a file ID.yaml beside its feature. " +
		"`nodestorm explain record` prints what is here, and `nodestorm explain --schema` the [JSON Schema](record.schema.json), for editors. " +
		"`nodestorm lint` checks a record together with its feature. `nodestorm events` lists what patterns can ask for.", []part{
		{"Record", "record"}, {"Target", "record.targets"}, {"Twin", "record.twins"}, {"Known", "record.known"}, {"Work", "record.work"},
		{"Statement", "statement"}, {"Element of a sequence", "statement.sequence"}, {"Absence", "statement.sequence.absent"},
		{"State", "statement.throughout"}, {"Bound of a measure", "statement.measure"}, {"Pattern", "pattern"},
		{"Invariants of a folder", "invariants"},
	}},
	{"files.md", "Other files", "Files that commands take, apart from records and features. " +
		"`nodestorm explain KIND` prints what is here, and `nodestorm explain KIND --schema` the JSON Schema.", []part{
		{"Faults of a cloud", "faults.faults"}, {"Rules of a proxy", "rules.rules"}, {"Order of an installer", "order"},
		{"Step of an order", "order.steps"}, {"Schedule of a search", "schedule"}, {"Group of a schedule", "schedule.groups"},
		{"Act of a schedule", "schedule.acts"}, {"Workload", "workload"}, {"Load of a workload", "workload.loads"},
	}},
}

// Pages are those of the reference about files, by their names in docs/reference.
func Pages() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, p := range pages {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n\n<!-- written by make reference -->\n\n%s\n", p.title, prose(p.about, ""))
		for _, part := range p.parts {
			f, err := Find(part.path)
			if err != nil {
				return nil, err
			}
			f.section(&text, part.heading)
		}
		all[p.file] = []byte(text.String())
	}
	schema, err := Text("record")
	all["record.schema.json"] = schema
	return all, err
}

// pageColumns is how long lines of a page are.
const pageColumns = 118

// unbroken stands for a space at which no line is broken.
const unbroken = "\u00a0"

var inCode = regexp.MustCompile("`[^`\n]+`")

// prose is a description as Markdown, with pad before each line but the first.
func prose(text, pad string) string {
	text = inCode.ReplaceAllStringFunc(text, func(code string) string { return strings.ReplaceAll(code, " ", unbroken) })
	var blocks []string
	for _, block := range strings.Split(text, "\n\n") {
		if strings.Contains(block, "\t") {
			block = "```yaml\n" + strings.ReplaceAll(strings.TrimPrefix(block, "\t"), "\n\t", "\n") + "\n```"
			blocks = append(blocks, strings.ReplaceAll(block, "\n", "\n"+pad))
			continue
		}
		var lines []string
		for _, line := range strings.Split(strings.ReplaceAll(block, "\n- ", "\n\n- "), "\n\n") {
			line = wordwrap.WrapString(strings.ReplaceAll(line, "\n", " "), uint(pageColumns-len(pad)))
			lines = append(lines, strings.ReplaceAll(line, "\n", "\n"+pad))
		}
		blocks = append(blocks, strings.Join(lines, "\n"+pad))
	}
	return strings.ReplaceAll(strings.Join(blocks, "\n\n"+pad), unbroken, " ")
}

// section is the description of something and of its fields.
func (f Field) section(text *strings.Builder, heading string) {
	fmt.Fprintf(text, "\n## %s\n", heading)
	for _, about := range []string{f.Description(), f.fields().Description} {
		if about != "" && !strings.Contains(text.String(), "\n"+prose(about, "")+"\n") {
			fmt.Fprintf(text, "\n%s\n", prose(about, ""))
		}
	}
	text.WriteString("\n")
	for _, below := range f.Fields() {
		below.item(text)
	}
}

// item is the description of a field in a list.
func (f Field) item(text *strings.Builder) {
	notes := []string{f.Type()}
	if f.Required {
		notes = append(notes, "required")
	}
	line := fmt.Sprintf("- **`%s`** (%s): %s", f.Name(), strings.Join(notes, ", "), f.Description())
	if allowed := f.Allowed(); len(allowed) > 0 {
		line += " Allowed: `" + strings.Join(allowed, "`, `") + "`."
	}
	example := f.Example()
	if !strings.Contains(example, "\n") && len(example) < pageColumns/2 {
		line += " Example: `" + example + "`."
		example = ""
	}
	fmt.Fprintln(text, prose(line, "  "))
	if example != "" {
		fmt.Fprintf(text, "\n  ```yaml\n  %s\n  ```\n\n", strings.ReplaceAll(example, "\n", "\n  "))
	}
	if inner := f.fields(); len(inner.Properties) > 0 && f.Type() == "object" && strings.Count(f.Path, ".") > 1 { // an effect, a match
		for _, below := range f.Fields() {
			var inside strings.Builder
			below.item(&inside)
			text.WriteString("  " + strings.ReplaceAll(strings.TrimSpace(inside.String()), "\n", "\n  ") + "\n")
		}
	}
}
