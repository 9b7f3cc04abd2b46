package qualification

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/comparison"
	"nodestorm/reports/matrix"
	"nodestorm/sim/history/measure"
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
		{"fails in another way", "reproduced", []string{"reproduced", "failed", "reproduced"}, []string{"reproduced"}, New, NotFit, "failed because"},
		{"fails in another way, as before", "reproduced", []string{"failed"}, []string{"failed", "healthy"}, Stays, Fit, "failed because"},
		{"fails in another way, and nothing was before", "reproduced", []string{"failed"}, nil, New, NotFit, "failed because"},
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

// What came with a release between the two is none that the release brings, if it fails as documented.
func TestEarlier(t *testing.T) {
	between := Said{Before: "healthy", Came: "v1.6.9"}
	for _, c := range []struct {
		expected, on, was string
		said              Said
		kind              Kind
		reason            string
	}{
		{"reproduced", "reproduced", "healthy", between, Earlier, "came with v1.6.9, by its record: reproduced because"},
		{"reproduced", "reproduced", "", between, Earlier, "came with v1.6.9, by its record: reproduced because"},
		{"reproduced", "reproduced", "", Said{Before: "healthy"}, New, "reproduced because"},
		{"reproduced", "reproduced", "", Said{Before: "reproduced"}, Stays, "reproduced because"},
		{"reproduced", "failed", "healthy", between, New, "failed because"},
		{"", "reproduced", "healthy", between, New, "reproduced because"},
		{"reproduced", "reproduced", "reproduced", between, Stays, "reproduced because"},
		{"reproduced", "healthy", "healthy", between, Healthy, ""},
	} {
		of := Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}}, Said: map[string]Said{"a": c.said},
			Cells: runs("a", release, c.expected, c.on)}
		if c.was != "" {
			of.Cells = append(of.Cells, runs("a", before, "", c.was)...)
		}
		want := Fit
		if c.kind == New {
			want = NotFit
		}
		q := From(day, of)
		if f := q.Findings[0]; f.Kind != c.kind || q.Answer != want || f.Reason != c.reason {
			t.Errorf("%+v: %s, %s: %q", c, f.Kind, q.Answer, f.Reason)
		}
	}
}

// What shows on one Kubernetes only is compared with the release before on that one.
func TestKubernetes(t *testing.T) {
	const other = " on Kubernetes v1.35.4"
	columns := []Column{{"v1.36.3", release, before}, {"v1.35.4", release + other, before + other}}
	of := Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}}, Columns: columns,
		Cells: slices.Concat(runs("a", release, "", "healthy"), runs("a", before, "", "reproduced"), runs("a", before+other, "", "healthy"),
			runs("a", release+other, "", "reproduced"))}
	q := From(day, of)
	if q.Answer != NotFit || len(q.Findings) != 2 || q.Findings[0].Kind != New || q.Findings[0].Name() != "a"+other || q.Findings[1].Kind != Fixed {
		t.Errorf("%s: %+v", q.Answer, q.Findings)
	}
	of.Columns = columns[1:]
	if q := From(day, of); len(q.Findings) != 1 || q.Findings[0].Kind != New || q.Findings[0].Name() != "a" {
		t.Errorf("alone: %+v", q.Findings)
	}
	of.Cells, of.Columns = of.Cells[:3], columns
	if q := From(day, of); q.Answer != CannotSay {
		t.Errorf("not played on one Kubernetes: %s", q.Answer)
	}
}

// What drawn schedules show is new, unless the release before shows it, too.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		before Tally
		kind   Kind
		answer Answer
	}{{Tally{0, 5}, New, NotFit}, {Tally{1, 5}, Stays, Fit}, {Tally{}, New, NotFit}} {
		q := From(day, Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}},
			Cells: slices.Concat(runs("a", before, "", "healthy"), runs("a", release, "healthy", "healthy")),
			Searches: []Search{{Profile: "small", Seed: 7, Plays: 12, VirtualHours: 3.25,
				Found: []Drawn{{Name: "schedule-3: no-overshoot", On: Tally{4, 5}, Before: c.before}}}}})
		if q.Answer != c.answer || len(q.Of(c.kind)) != 1 || q.Of(c.kind)[0].On.String() != "4 of 5 (38 to 96 %)" {
			t.Errorf("%+v: %s: %+v", c, q.Answer, q.Findings)
		}
		var page, out bytes.Buffer
		if err := cmp.Or(q.HTML(&page), q.Text(&out, func([][]string) error { return nil })); err != nil {
			t.Fatal(err)
		}
		for name, of := range map[string]string{"page": page.String(), "text": out.String(), "issue": q.Markdown()} {
			if want := "12 drawn schedules of the profile small"; !strings.Contains(of, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, of)
			}
		}
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

// compared is a comparison of both releases in which one costs more, of a workload whose name is hostile.
func compared() comparison.Comparison {
	var all []comparison.Variant
	for of, name := range []string{before, "another", release} {
		v := comparison.Variant{Name: name}
		for seed := range uint64(9) {
			v.Runs = append(v.Runs, comparison.Run{Seed: seed, Values: measure.Values{
				measure.Cost: {Unit: "EUR", Value: float64(10*of) + float64(seed)}, measure.Evictions: {Unit: measure.Count, Value: 3},
				measure.NodeHours: {Absent: "there has been no instance"}}})
		}
		all = append(all, v)
	}
	c := comparison.Compare(all, []string{measure.Cost, measure.Evictions, measure.NodeHours})
	c.Workload = "day<b>"
	return c
}

// What a release costs is said, and does not change the answer.
func TestWorkloads(t *testing.T) {
	text, err := json.Marshal(compared())
	if err != nil {
		t.Fatal(err)
	}
	var c comparison.Comparison
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	w, err := WorkloadOf(c, before, release)
	if err != nil || len(w.Rows) != 3 || len(w.Certain()) != 1 || w.Sum() != "in 1 of 2 measures the difference is certain" {
		t.Fatalf("%+v, %v", w, err)
	}
	q := From(day, Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}}, Workloads: []Workload{w},
		Cells: slices.Concat(runs("a", before, "", "healthy"), runs("a", release, "healthy", "healthy"))})
	if q.Answer != Fit {
		t.Errorf("the answer is %s", q.Answer)
	}
	var page, out bytes.Buffer
	if err := cmp.Or(q.HTML(&page), q.Text(&out, func([][]string) error { return nil })); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]string{"page": page.String(), "text": out.String(), "issue": q.Markdown()} {
		for _, want := range []string{"cost of the cluster", "20.00 EUR", "worse, ", "in 1 of 2 measures the difference is certain"} {
			if !strings.Contains(of, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, of)
			}
		}
		if strings.Contains(of, "evictions") || name == "page" && strings.Contains(of, "day<b>") {
			t.Errorf("%s has what does not differ, or a name as it is:\n%s", name, of)
		}
	}
	for _, wrong := range [][2]string{{release, before}, {before, "karpenter@v1.8.0"}, {"", ""}} {
		if _, err := WorkloadOf(c, wrong[0], wrong[1]); err == nil || !strings.Contains(err.Error(), "it compares "+before+" with another with "+release) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := WorkloadOf(comparison.Comparison{Rows: []comparison.Row{{Variant: 9}, {Variant: -1}}}, "", ""); err == nil {
		t.Error("a comparison of nothing is one")
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

// Only failures that show are counted.
func TestSum(t *testing.T) {
	of := Runs{Target: release, Since: before, Scenarios: []matrix.Scenario{{ID: "a"}, {ID: "b"}},
		Cells: slices.Concat(runs("a", release, "", "healthy"), runs("a", before, "", "healthy"), runs("b", release, "", "healthy"),
			runs("b", before, "", "reproduced"))}
	if q := From(day, of); !strings.HasSuffix(q.Sum(), "is fit to roll out: no known failure shows") {
		t.Error(q.Sum())
	}
	of.Cells = append(of.Cells[:2], slices.Concat(runs("b", release, "", "reproduced"), runs("b", before, "", "reproduced"))...)
	if q := From(day, of); !strings.HasSuffix(q.Sum(), "is fit to roll out: 1 known failure shows, and does not speak against it") {
		t.Error(q.Sum())
	}
}
