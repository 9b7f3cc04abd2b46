package scenarios_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"nodestorm/scenarios"
	"nodestorm/scenarios/folder"
)

const withTwin = good + `
notes: What to know.
kin: [karpenter-1-c]
twins:
  - id: bootstrap-1-b
    title: Real kubelets
    system: bootstrap
    feature: bootstrap/issue-1-b.feature
    notes: ""
  - {id: karpenter-1-d, title: Another setting, summary: Another story.}
`

// A twin has of its record what it does not say, and each is the kin of the others.
func TestTwins(t *testing.T) {
	other := strings.Replace(good, "karpenter-1-a", "karpenter-1-c", 1)
	catalogue, err := load(withTwin, other)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(c *scenarios.Catalogue, id string) scenarios.Record {
		t.Helper()
		r, err := c.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	record := lookup(catalogue, "karpenter-1-a")
	if want := []string{"bootstrap-1-b", "karpenter-1-d", "karpenter-1-c"}; !slices.Equal(record.Kin, want) {
		t.Errorf("kin %v, want %v", record.Kin, want)
	}
	same := func(got, want scenarios.Record) {
		t.Helper()
		a, errA := json.Marshal(got)
		b, errB := json.Marshal(want)
		if diff := cmp.Diff(string(b), string(a)); diff != "" || errA != nil || errB != nil {
			t.Errorf("%s (-want +got), %v, %v:\n%s", got.ID, errA, errB, diff)
		}
	}
	want := record
	want.ID, want.Title, want.System, want.Feature, want.Notes = "bootstrap-1-b", "Real kubelets", "bootstrap", "bootstrap/issue-1-b.feature", ""
	want.Kin = []string{"karpenter-1-a", "karpenter-1-d", "karpenter-1-c"}
	same(lookup(catalogue, "bootstrap-1-b"), want)
	want = record
	want.ID, want.Title, want.Summary = "karpenter-1-d", "Another setting", "Another story."
	want.Kin = []string{"karpenter-1-a", "bootstrap-1-b", "karpenter-1-c"}
	same(lookup(catalogue, "karpenter-1-d"), want)

	// What no release shows is in no run.
	cure := withTwin
	for old, replacement := range map[string]string{
		`affected: ">=v1.0.0, <v1.7.0 || =v1.7.5"`: "affected: none", `fixed: ">=v1.7.0, !=v1.7.5"`: `fixed: ">=v1.0.0"`, "reproduced": "healthy",
	} {
		cure = strings.Replace(cure, old, replacement, 1)
	}
	if catalogue, err = load(cure, other); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"karpenter-1-a", "bootstrap-1-b"} {
		if kin := lookup(catalogue, id).Kin; !slices.Equal(kin, []string{"karpenter-1-c"}) {
			t.Errorf("%s is healthy everywhere, and has the kin %v", id, kin)
		}
	}
}

// Twins of a folder of one's own: problems have their places, a run keeps what all of them
// need, and their number ends.
func TestTwinsOfOnesOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	write := func(dir, name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	feature := func(id string) string {
		return "Feature: f\n  @" + id + "\n  Scenario: s\n    Given a cluster\n    And these objects from the file \"" + id + ".yaml\"\n    Then the Node \"a\" is Ready within 1m\n"
	}
	own := strings.Replace(strings.TrimLeft(good, "\n"), "karpenter/issue-1-a.feature", "a.feature", 1)
	write(dir, "a.feature", feature("karpenter-1-a"))
	write(dir, "karpenter-1-a.yaml", "a: b\n")
	write(dir, "real/b.feature", feature("with-kubelets")+"  Scenario: another of the feature\n    Given a cluster\n    And these objects from the file \"another.yaml\"\n    Then the Node \"a\" is Ready within 1m\n")
	write(dir, "real/another.yaml", "a: b\n")
	write(dir, "real/with-kubelets.yaml", "a: b\n")
	write(dir, "record.yaml", own+"twins:\n  - id: with-kubelets\n    title: Real kubelets\n    feature: real/b.feature\n")
	f := folder.Read(dir)
	c := scenarios.Empty()
	if err := c.Add(f.Own); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Lookup("with-kubelets"); err != nil || r.Bare() || r.Feature != "mine/real/b.feature" || !slices.Equal(r.Kin, []string{"karpenter-1-a"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, id := range []string{"karpenter-1-a", "with-kubelets"} {
		kept := filepath.Join(t.TempDir(), "kept")
		if err := os.CopyFS(kept, c.FilesOf(id)); err != nil {
			t.Fatal(err)
		}
		again := scenarios.Empty()
		if err := again.Add(folder.Read(kept).Own); err != nil {
			t.Errorf("what a run of %s keeps: %v", id, err)
		} else if r, err := again.Lookup(id); err != nil || r.Bare() {
			t.Errorf("what a run of %s keeps has not its record: %v", id, err)
		}
	}

	many := "twins:\n" + strings.Repeat("  - {id: x-y, title: x}\n", 101)
	first := strings.Count(own, "\n") + 1 // the line of twins
	for _, test := range []struct {
		twins string
		line  int
		field string
		want  string
	}{
		{"twins:\n  - id: with-kubelets\n    title: t\n", first + 1, "twins[0]", "feature: 0 scenarios of "},
		{"twins:\n  - id: with-kubelets\n    title: t\n    feature: none.feature\n", first + 3, "twins[0].feature", "none.feature is not there"},
		{"twins:\n  - id: With\n    title: t\n    feature: real/b.feature\n", first + 1, "twins[0].id", `twins[0].id: "With" is no ID`},
		{"twins:\n  - id: karpenter-1-a\n    title: t\n", first + 1, "twins[0].id", "karpenter-1-a is the ID of "},
		{"twins:\n  - id: with-kubelets\n    title: t\n    feture: real/b.feature\n", first + 3, "twins[0].feture", `(allowed: id, title, system, feature, summary, mechanism, notes), did you mean "feature"?`},
		{many, first, "twins", "twins: there are 101, more than 100"},
	} {
		write(dir, "record.yaml", own+test.twins)
		problems := folder.Read(dir).Problems
		if !slices.ContainsFunc(problems, func(p scenarios.Problem) bool {
			return p.Line == test.line && p.Field == test.field && strings.Contains(p.Text, test.want)
		}) {
			t.Errorf("%q at line %d, %s is not reported:\n%+v", test.want, test.line, test.field, problems)
		}
	}
	// What is wrong with the record is reported once.
	write(dir, "record.yaml", strings.Replace(own, "autoscaler: karpenter", "autoscaler: none", 1)+"kin: [un-known]\ntwins:\n  - id: with-kubelets\n    title: t\n    feature: real/b.feature\n")
	f = folder.Read(dir)
	if len(f.Problems) != 1 {
		t.Errorf("problems, want one: %v", f.Problems)
	}
	if err := scenarios.Empty().Add(f.Own); err == nil || strings.Count(err.Error(), "un-known") != 1 {
		t.Errorf("want an unknown kin once: %v", err)
	}
}

// What two files say alike is one file that has a twin.
func TestNoFileRepeatsAnother(t *testing.T) {
	if twice := repeated(t, fstest.MapFS{"a/a.yaml": {Data: []byte(good)}, "b/b.yaml": {Data: []byte(strings.Replace(good, "A title", "Another", 1))}}); len(twice) != 1 {
		t.Errorf("a copy with another title is not found: %v", twice)
	}
	for _, files := range repeated(t, os.DirFS(".")) {
		t.Errorf("%s have one trigger, work and symptom; write one of them below twins of the other", strings.Join(files, " and "))
	}
}

func repeated(t *testing.T, fsys fs.FS) (twice [][]string) {
	t.Helper()
	names, err := fs.Glob(fsys, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := yaml.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"id", "title", "system", "feature", "summary", "mechanism", "notes", "kin", "twins"} {
			delete(fields, own)
		}
		rest, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		files[string(rest)] = append(files[string(rest)], name)
	}
	for _, rest := range slices.Sorted(maps.Keys(files)) {
		if len(files[rest]) > 1 {
			twice = append(twice, files[rest])
		}
	}
	return twice
}
