package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"nodestorm/sim/strict"
)

// form is how values are written that fields of several kinds have.
type form struct {
	name string
	// also are other names by which people look for it.
	also []string
	how  string
	more string
}

var forms = []form{
	{"duration", []string{"durations", "span"}, "a number with a unit: 90s, 15m, 1h30m",
		"The units are ns, us, ms, s, m and h; several follow each other without a space. It is virtual time, unless the field says " +
			`otherwise. In steps it is DURATION, with ms, s, m and h: "within 5m".`},
	{"time", []string{"times", "date", "timestamp"}, "a duration, counted from what the field names: 30s, 1h30m",
		"No file has a date or a time of day: each run begins at zero. at and from count from an event, from when a fault is armed or " +
			"from the start of the workload, as their fields say. The history and its text have H:MM:SS.mmm of virtual time since the " +
			"start of the run."},
	{"range", []string{"ranges", "version", "versions"}, `constraints such as ">=v1.0.0, <v1.7.0", of which "||" joins several, or none`,
		`Of releases, as in record.affected. A comma means and. "none" is no release at all, as of a control case.`},
	{"quantity", []string{"quantities", "cpu", "memory", "resource"}, "as in Kubernetes: 500m, 2, 1.5, 512Mi, 4Gi",
		"m is a thousandth; k, M and G are powers of 1000, Ki, Mi and Gi of 1024. cpu counts processors, memory bytes. Objects in YAML and " +
			`workloads have it; workloads draw it, too: nodestorm explain amount. In steps it is CPU: "1 CPU", "500m CPU".`},
	{"amount", []string{"amounts", "distribution"},
		`a number with its unit, or drawn: "1 to 5" (each as likely), "mean 2m" (exponential), "median 2m, p95 10m" (log-normal)`,
		"Workloads have amounts of pods, of processors and memory (nodestorm explain quantity) and of time (nodestorm explain duration)."},
	{"values", []string{"value"}, "a value, [a list of values], or one of {not: …}, {contains: …}, {lacks: …}, {matches: …}, {above: …}, " +
		"{below: …}, {exists: …}", ""},
	{"map", []string{"mapping"}, "KEY: VALUE", ""},
}

// formNamed is the form that a word is about, nil if there is none.
func formNamed(word string) *form {
	i := slices.IndexFunc(forms, func(f form) bool { return f.name == word || slices.Contains(f.also, word) })
	if i < 0 {
		return nil
	}
	return &forms[i]
}

// print writes how the values are written, and which fields have such.
func (f form) print(w io.Writer) {
	fmt.Fprintf(w, "%s: a form of values\n\nFORM:\n%s\n\n", f.name, indented(f.how, 2))
	more := f.more
	if f.name == "values" {
		more = whole().Defs.Named("Values").Description
	}
	if more != "" {
		fmt.Fprintf(w, "%s\n\n", indented(more, 0))
	}
	var paths []string
	for _, field := range all() {
		if strings.TrimPrefix(field.Type(), "map of ") == f.name {
			paths = append(paths, field.Path)
		}
	}
	if len(paths) > 0 {
		fmt.Fprintf(w, "FIELDS THAT HAVE IT:\n%s\n\n", indented(strings.Join(paths, ", "), 2))
	}
}

// all are the fields of all kinds. What several have is there once: a statement's fields as those of statement.
func all() (fields []Field) {
	seen := map[*Schema]bool{}
	for _, kind := range Kinds {
		seen[whole().Defs.Named(titled(kind))] = true
	}
	var below func(Field)
	below = func(f Field) {
		for _, field := range f.Fields() {
			fields = append(fields, field)
			if inner := field.fields(); !seen[inner] {
				seen[inner] = true
				below(field)
			}
		}
	}
	for _, kind := range Kinds {
		below(Field{Path: kind, of: whole().Defs.Named(titled(kind))})
	}
	return fields
}

// ending are the fields whose paths end with the parts.
func ending(path string) []Field {
	return slices.DeleteFunc(all(), func(f Field) bool { return !strings.HasSuffix(strings.ToLower(f.Path), "."+strings.ToLower(path)) })
}

// Explain prints what a path leads to: a kind of files, one of its fields, a form of values, or the fields of that name,
// whichever kinds have them.
func Explain(w io.Writer, path string, deep bool) error {
	path = strings.ReplaceAll(path, "[]", "")
	f, err := Find(path)
	if err == nil {
		f.Print(w, deep)
		return nil
	}
	found := ending(path)
	form := formNamed(strings.ToLower(path))
	switch {
	case form != nil:
		form.print(w)
	case len(found) == 1:
		found[0].Print(w, deep)
		return nil
	}
	for i, field := range found {
		if i == 0 {
			fmt.Fprintf(w, "FIELDS OF THAT NAME:\n")
		}
		fmt.Fprintf(w, "  %s <%s>\n%s\n\n", field.Path, field.Type(), indented(field.Description(), 4))
	}
	if form == nil && len(found) == 0 {
		return err
	}
	return nil
}

// elsewhere says where a field is that is not among those here, or which is called like it.
func elsewhere(name string, here []string) string {
	var paths []string
	for _, f := range ending(name) {
		paths = append(paths, f.Path)
	}
	switch {
	case len(paths) > 0:
		return ": it is " + strings.Join(paths, ", ")
	case strict.Meant(name, here) == "" && strict.Nearest(name, names()) != "":
		return fmt.Sprintf(", did you mean %q?", strict.Nearest(name, names()))
	}
	return strict.Meant(name, here)
}

// names are all words that can be explained by themselves.
func names() []string {
	words := slices.Clone(Kinds)
	for _, f := range forms {
		words = append(words, f.name)
	}
	for _, f := range all() {
		words = append(words, f.Name())
	}
	return words
}
