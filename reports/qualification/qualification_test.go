package qualification

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/matrix"
)

const release, before = "karpenter@v1.7.0", "karpenter@v1.6.4"

var day = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// runs are those of one scenario, a verdict each, oldest first.
func runs(id, target, expected string, verdicts ...string) (cells []matrix.Cell) {
	for i, v := range verdicts {
		cells = append(cells, matrix.Cell{Scenario: id, Target: target, Expected: expected, Verdict: v, Reason: v + " because",
			Started: day.Add(time.Duration(i) * time.Minute)})
	}
	return cells
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name     string
		expected string // of the release
		on, was  []string
		kind     Kind
		answer   Answer
		reason   string
	}{
		{"healthy on both", "healthy", []string{"healthy"}, []string{"healthy"}, Healthy, Fit, ""},
		{"fixed", "healthy", []string{"healthy"}, []string{"reproduced"}, Fixed, Fit, ""},
		{"new, in one run of two", "", []string{"healthy", "failed"}, []string{"healthy"}, New, NotFit, "failed because"},
		{"new, and the catalogue knows", "reproduced", []string{"reproduced"}, []string{"healthy"}, New, NotFit, "reproduced because"},
		{"known before", "reproduced", []string{"reproduced"}, []string{"reproduced"}, Stays, Fit, "reproduced because"},
		{"known by its record alone", "reproduced", []string{"reproduced"}, nil, Stays, Fit, "reproduced because"},
		{"a fix that does not fix", "healthy", []string{"reproduced"}, []string{"reproduced"}, NotFixed, NotFit, "reproduced because"},
		{"a fix that does not fix, and nothing was before", "healthy", []string{"failed"}, nil, NotFixed, NotFit, "failed because"},
		{"not known, and nothing was before", "", []string{"failed"}, nil, New, NotFit, "failed because"},
		{"inconclusive", "healthy", []string{"inconclusive"}, []string{"healthy"}, Undecided, CannotSay, "inconclusive because"},
		{"cut off", "healthy", []string{""}, []string{"healthy"}, Undecided, CannotSay, " because"},
		{"not played", "healthy", nil, []string{"healthy"}, Undecided, CannotSay, "was not played"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := From(day, Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}},
				Cells: slices.Concat(runs("a", before, "", c.was...), runs("a", release, c.expected, c.on...))})
			if f := q.Findings[0]; f.Kind != c.kind || q.Answer != c.answer || f.Reason != c.reason {
				t.Errorf("%s, %s: %q; want %s, %s: %q", f.Kind, q.Answer, f.Reason, c.kind, c.answer, c.reason)
			}
		})
	}
}

func TestNothingIsNotFit(t *testing.T) {
	if q := From(day, Runs{Target: release}); q.Answer != CannotSay {
		t.Errorf("a release of which nothing is known: %s", q.Answer)
	}
	q := From(day, Runs{Target: release, Scenarios: []matrix.Scenario{{ID: "a"}},
		Skipped: []matrix.Skip{{Scenario: "a", Target: release, Reason: "no build"}}})
	if q.Answer != CannotSay || q.Findings[0].Reason != "no build" {
		t.Errorf("a release that cannot be had: %s, %q", q.Answer, q.Findings[0].Reason)
	}
}

// mixed has a finding of each kind.
func mixed() *Qualification {
	var of Runs
	of.Target, of.Since = release, before
	for _, c := range []struct{ id, expected, on, was string }{
		{"healthy-both", "healthy", "healthy", "healthy"}, {"fixed-now", "healthy", "healthy", "reproduced"},
		{"new-<b>one", "", "failed", "healthy"}, {"stays", "reproduced", "reproduced", "reproduced"},
		{"not-fixed", "healthy", "reproduced", "reproduced"}, {"undecided", "healthy", "inconclusive", "healthy"},
	} {
		of.Scenarios = append(of.Scenarios, matrix.Scenario{ID: c.id, Title: "the title of " + c.id, Issue: "kubernetes-sigs/karpenter#1"})
		of.Cells = slices.Concat(of.Cells, runs(c.id, before, "", c.was), runs(c.id, release, c.expected, c.on))
	}
	return From(day, of)
}

func TestFormats(t *testing.T) {
	q := mixed()
	for format, wants := range map[string][]string{
		"html": {"<h2>New: 1</h2>", "new-&lt;b&gt;one", "is not fit to roll out: 2 failures speak against it", "1 of 1 (21 to 100 %)"},
		"md":   {"v1.7.0 is not fit to roll out: 2 failures speak against it**", "### Fixed: 1", "[`stays`](https://github.com/kubernetes-sigs/karpenter/issues/1)"},
		"json": {`"answer": "not fit"`, `"kind": "stays"`},
	} {
		var b bytes.Buffer
		if err := q.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", format, want, &b)
			}
		}
		if format == "html" && strings.Contains(b.String(), "<b>one") {
			t.Errorf("%s has a name as it is:\n%s", format, &b)
		}
	}
}

func TestText(t *testing.T) {
	var rows [][]string
	var b strings.Builder
	if err := mixed().Text(&b, func(all [][]string) error { rows = all; return nil }); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, row := range rows {
		order = append(order, row[0])
	}
	if want := []string{"FINDING", "new", "not fixed", "undecided", "stays", "fixed"}; !slices.Equal(order, want) {
		t.Errorf("rows %q, want %q", order, want)
	}
	if !strings.Contains(b.String(), "1 failure shows on neither release\n") {
		t.Errorf("no word of what is healthy:\n%s", &b)
	}
}

func TestBadge(t *testing.T) {
	for answer, color := range map[Answer]string{Fit: "brightgreen", NotFit: "red", CannotSay: "lightgrey"} {
		text, err := json.Marshal((&Qualification{Target: release, Answer: answer}).Badge())
		want := `{"schemaVersion":1,"label":"nodestorm karpenter@v1.7.0","message":"` + string(answer) + `","color":"` + color + `"}`
		if err != nil || string(text) != want {
			t.Errorf("%s, %v; want %s", text, err, want)
		}
	}
}
