package matrix_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nodestorm/features"
	"nodestorm/reports/matrix"
	"nodestorm/reports/reporttest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var day = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func example() *matrix.Matrix {
	documented := []matrix.Scenario{
		{ID: "a-1-x", Title: "The <first>", System: "karpenter", Provider: "aws", Issue: "o/r#1", Targets: []matrix.Promise{{"k@v1", "reproduced"}, {"k@v2", "healthy"}}, Beside: "a/side by side.html"},
		{ID: "b-2-y", Title: "The second | one", System: "hetzner", Issue: "o/r#2", Fix: "o/r#3", Targets: []matrix.Promise{{"k@v1", "reproduced"}}},
	}
	return matrix.New(day, documented, []matrix.Cell{
		{Scenario: "a-1-x", Target: "k@v1", Expected: "reproduced", Verdict: "inconclusive", Outcome: "inconclusive", Started: day.Add(-time.Hour)},
		{Scenario: "a-1-x", Target: "k@v1", Expected: "reproduced", Verdict: "reproduced", Outcome: "expected", WallSeconds: 7.6, Started: day, Run: "a/k@v1/report.html", Commit: "0123456789abcdef", Kubernetes: "v1.34.4"},
		{Scenario: "a-1-x", Target: "k@v2", Expected: "healthy", Verdict: "reproduced", Outcome: "regression", WallSeconds: 9, Started: day, Reason: `"><script>alert(1)</script>`},
		{Scenario: "b-2-y", Target: "k@v2", Verdict: "failed", Outcome: "not as expected", Started: day},
		{Scenario: "c-3-z", Target: "k@<b>", Verdict: "", Started: day, Departures: []string{`"><b>k@<b> was built with uncommitted changes`}},
	})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s", path, got)
	}
}

func TestGolden(t *testing.T) {
	m := example()
	m.MarkChanges(matrix.New(day, nil, []matrix.Cell{{Scenario: "a-1-x", Target: "k@v2", Expected: "healthy", Verdict: "healthy"}, {Scenario: "gone", Target: "k@v1", Verdict: "healthy"}}))
	m.Skipped = []matrix.Skip{{Scenario: "b-2-y", Target: "k@v1", Reason: `k@v1 is not in the store "><script>alert(1)</script>`}}
	for _, format := range []string{"html", "md", "json"} {
		var out bytes.Buffer
		if err := m.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "<script>alert") {
			t.Errorf("%s has markup of a reason", format)
		}
		golden(t, "matrix."+format, out.Bytes())
	}
	if err := m.Write(&bytes.Buffer{}, "pdf"); err == nil {
		t.Error("a matrix was written as pdf")
	}
}

// What a browser and GitHub make of a matrix: a row a failure, a column a target,
// and nothing of others' text but text.
func TestMatrixForOthers(t *testing.T) {
	m := example()
	if got := m.Sum(); got != "4 runs: 1 as expected, 1 not as expected, 1 regression, 1 without a verdict." {
		t.Errorf("in all: %q", got)
	}
	if got := m.Observed(); got != "2 reproduced, 0 healthy, 1 failed, 0 inconclusive, 1 without a verdict; 0 skipped" {
		t.Errorf("observed: %q", got)
	}
	m.Cells[0].Run = "a (1)/k@v1/report.html"
	var markdown, html bytes.Buffer
	if err := errors.Join(m.Write(&markdown, "md"), m.Write(&html, "html")); err != nil {
		t.Fatal(err)
	}
	onGitHub, err := reporttest.Markdown(markdown.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"scenario", "k@\u200b<b>", "k@v1", "k@v2"}, {"a-1-x", "", "✅ reproduced 7.6 s", "❌ reproduced 9.0 s"}, {"b-2-y", "", "", "🟪 failed"}, {"c-3-z", "⚠️ without a verdict (other than its names say)", "", ""}}
	if diff := cmp.Diff(want, onGitHub.Rows); diff != "" {
		t.Errorf("GitHub shows (-want +got):\n%s", diff)
	}
	inBrowser, err := reporttest.HTML(html.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want = [][]string{{"failure", "k@<b>", "k@v1", "k@v2"}, {"a-1-xThe <first>o/r#1 affected and fixed side by side", "", "reproduced✓ as expectedtook 7.6 s", "reproduced✗ regressiontook 9.0 s"}, {"b-2-yThe second | oneo/r#2", "", "", "failed✗ not as expectedtook 0.0 s"}, {"c-3-z", "no verdicttook 0.0 s · other than its names say", "", ""}}
	if diff := cmp.Diff(want, inBrowser.Rows); diff != "" {
		t.Errorf("a browser shows (-want +got):\n%s", diff)
	}
	const issues, run = "https://github.com/o/r/issues/", "./a%20%281%29/k@v1/report.html"
	if got := append(onGitHub.Links, inBrowser.Links...); !slices.Equal(got, []string{run, issues + "1", "./a/side%20by%20side.html", run, issues + "2"}) {
		t.Errorf("links lead to %q", got)
	}
	if inBrowser.Elements["script"] != 1 || inBrowser.Elements["b"] != 0 || onGitHub.Elements["b"] != 0 {
		t.Errorf("elements %v and %v", inBrowser.Elements, onGitHub.Elements)
	}
}

// Nothing run is never as expected, nor is what was skipped.
func TestSum(t *testing.T) {
	ran, without := []matrix.Cell{{Scenario: "a", Target: "k@v1", Verdict: "healthy", Outcome: "expected"}}, []matrix.Skip{{Scenario: "b", Target: "k@v1"}, {Scenario: "c", Target: "k@v1"}}
	for _, test := range []struct {
		cells   []matrix.Cell
		skipped []matrix.Skip
		want    string
	}{
		{nil, nil, "No runs: nothing is shown."},
		{nil, without, "No runs: nothing is shown, 2 skipped."},
		{ran, nil, "1 run, all as expected."},
		{ran, without, "1 run: 1 as expected, 2 skipped."},
	} {
		m := matrix.New(day, nil, test.cells)
		m.Skipped = test.skipped
		if got := m.Sum(); got != test.want {
			t.Errorf("%d cells, %d skipped: %q, want %q", len(test.cells), len(test.skipped), got, test.want)
		}
	}
}

func TestChanges(t *testing.T) {
	m := example()
	var out bytes.Buffer
	if err := m.Write(&out, "json"); err != nil {
		t.Fatal(err)
	}
	old, err := matrix.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if m.MarkChanges(old); len(m.Changes) != 0 {
		t.Errorf("since itself: %q", m.Changes)
	}
	old.Cells[0].Verdict = "healthy"
	if m.MarkChanges(old); len(m.Changes) != 1 || m.Changes[0] != "a-1-x on k@v1 was healthy and is reproduced" {
		t.Errorf("changes %q", m.Changes)
	}
	for _, text := range []string{"", "[]", `{"a":1}`} {
		if _, err := matrix.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as a matrix", text)
		}
	}
}

func TestFilter(t *testing.T) {
	for _, test := range []struct {
		matrix.Filter
		want int
	}{
		{matrix.Filter{}, 4}, {matrix.Filter{System: "karpenter"}, 2}, {matrix.Filter{Target: "k@v2"}, 2}, {matrix.Filter{Status: "regression"}, 1},
		{matrix.Filter{Status: "reproduced"}, 2}, {matrix.Filter{System: "hetzner"}, 1}, {matrix.Filter{Provider: "aws"}, 2}, {matrix.Filter{Provider: "aws", Status: "expected"}, 1}, {matrix.Filter{Provider: "a"}, 0}, {matrix.Filter{Status: "failed"}, 1},
	} {
		m := example()
		m.Filter(test.Filter)
		if len(m.Cells) != test.want || test.want == 0 && len(m.Scenarios)+len(m.Targets) > 0 {
			t.Errorf("%+v leaves %d cells, %d scenarios", test.Filter, len(m.Cells), len(m.Scenarios))
		}
	}
}

func TestTrackRecord(t *testing.T) {
	m := example()
	table := []byte(matrix.TrackRecord(m.Scenarios, matrix.Newest(nil, m.Cells)))
	golden(t, "track.md", table)
	onGitHub, err := reporttest.Markdown(table)
	if err != nil {
		t.Fatal(err)
	}
	if len(onGitHub.Rows) != 4 || onGitHub.Rows[2][0] != "The second | one" || onGitHub.Rows[1][3] != "k@v2 (last: reproduced)" {
		t.Errorf("GitHub shows %q", onGitHub.Rows)
	}
	for _, link := range onGitHub.Links {
		if !strings.HasPrefix(link, "https://github.com/o/r/issues/") {
			t.Errorf("a link leads to %s", link)
		}
	}
	// What is a control is called one, and a pull request is not said to be fixed by itself.
	others := []matrix.Scenario{
		{ID: "c-1", Title: "a control", System: "s", Issue: "o/r#4", Control: true, Targets: []matrix.Promise{{"k@v1", "healthy"}}},
		{ID: "c-2", Title: "older than all builds", System: "s", Issue: "o/r#5", Fix: "o/r#5", Affected: ">=1.0, <1.1", Targets: []matrix.Promise{{"k@v1", "healthy"}}},
	}
	if said := matrix.TrackRecord(others, nil); !strings.Contains(said, "| none: a control | `k@v1`") || !strings.Contains(said, "issues/5), which is the fix | &gt;=1.0, &lt;1.1 |") || strings.Contains(said, "fixed by") {
		t.Errorf("%s", said)
	}
	if said := matrix.Summary(others, nil); !strings.Contains(said, "| `s` | 2 | 1 | 2 | 0 | never |") {
		t.Errorf("%s", said)
	}
	golden(t, "summary.md", []byte(matrix.Summary(m.Scenarios, matrix.Newest(nil, m.Cells))))
	dirty := matrix.Cell{Scenario: "b-2-y", Target: "k@v1", Expected: "reproduced", Verdict: "reproduced", Outcome: "expected", Started: day.Add(time.Hour), Departures: []string{"k@v1 was built with uncommitted changes"}}
	if noted := matrix.TrackRecord(m.Scenarios, matrix.Newest(m.Cells, []matrix.Cell{dirty})); noted != string(table) {
		t.Errorf("a run with uncommitted changes is noted:\n%s", noted)
	}
	dirty.Departures = nil
	if noted := matrix.TrackRecord(m.Scenarios, matrix.Newest(m.Cells, []matrix.Cell{dirty})); noted == string(table) {
		t.Error("the same run without them is not noted")
	}
	for verdict, want := range map[string]string{"healthy": "`k@v2` (last: reproduced) (Kubernetes v1.36.3)", "failed": "`k@v2` (last: reproduced) (Kubernetes v1.36.3: failed)"} {
		elsewhere := matrix.Cell{Scenario: "a-1-x", Target: matrix.OnKubernetes("k@v2", "v1.36.3"), Expected: "healthy", Verdict: verdict, Started: day.Add(time.Hour)}
		noted := matrix.Newest(m.Cells, []matrix.Cell{elsewhere})
		if said := matrix.TrackRecord(m.Scenarios, noted); !strings.Contains(said, want) || len(noted) != len(matrix.Newest(nil, m.Cells))+1 {
			t.Errorf("another Kubernetes, %s: %s", verdict, said)
		}
	}
	text := "before\n<!-- track record: written by nodestorm matrix --track-record -->\nold\n<!-- end of the track record -->\nafter\n"
	got, err := matrix.Insert(text, "new\n")
	if err != nil || got != strings.Replace(text, "old", "new", 1) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := matrix.Insert("no place", "new\n"); err == nil || !strings.Contains(err.Error(), "put the lines") {
		t.Errorf("error %v", err)
	}
}

// The tables of scenarios/README.md and of README.md are those of today's catalogue and
// of what was last verified.
func TestTrackRecordIsNotStale(t *testing.T) {
	text, err := os.ReadFile("../verified.json")
	if err != nil {
		t.Fatal(err)
	}
	var verified []matrix.Cell
	if err := json.Unmarshal(text, &verified); err != nil {
		t.Fatal(err)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var documented []matrix.Scenario
	for _, r := range catalogue.Records() {
		s := matrix.Scenario{ID: r.ID, Title: r.Title, System: r.System, Issue: r.Issue, Fix: r.Fix, Affected: string(r.Affected), Control: r.Control()}
		for _, target := range r.Targets {
			s.Targets = append(s.Targets, matrix.Promise{Target: target.Name, Expected: string(target.Expected)})
		}
		documented = append(documented, s)
	}
	for path, table := range map[string]string{"../../scenarios/README.md": matrix.TrackRecord(documented, verified), "../../README.md": matrix.Summary(documented, verified)} {
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		anew, err := matrix.Insert(string(stored), table)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, []byte(anew), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if anew != string(stored) {
			t.Errorf("the track record in %s is stale: go test ./reports/matrix -run NotStale -update writes it anew, and bin/nodestorm matrix reports/out --track-record notes new runs as well", path)
		}
	}
}

// A run that says nothing has a mark of its own, which is neither that of one as expected nor of another.
func TestMarkOfInconclusive(t *testing.T) {
	m := matrix.New(day, nil, []matrix.Cell{{Scenario: "a", Target: "k@v1", Expected: "healthy", Verdict: "inconclusive", Outcome: "inconclusive", Started: day}})
	var html bytes.Buffer
	if err := m.Write(&html, "html"); err != nil {
		t.Fatal(err)
	}
	if text := html.String(); !strings.Contains(text, `<span class="held">! inconclusive</span>`) || strings.Contains(text, "✗") {
		t.Errorf("an inconclusive run: %s", text)
	}
}
