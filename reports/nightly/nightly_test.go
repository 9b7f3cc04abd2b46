package nightly_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/matrix"
	"nodestorm/reports/nightly"
	"nodestorm/reports/reporttest"
)

var first = time.Date(2026, 10, 20, 2, 17, 0, 0, time.UTC)

// nights has a letter for each pair and night: g as expected, b not, m one run of both kinds each,
// ? inconclusive, s skipped, . not run. Times are 10 s, with what noise gives.
func nights(pairs map[string]string, seconds func(name string, night int) float64) (list []nightly.Night) {
	days := 0
	for _, outcomes := range pairs {
		days = max(days, len(outcomes))
	}
	for n := range days {
		at := first.AddDate(0, 0, n)
		m := &matrix.Matrix{Made: at}
		for name, outcomes := range pairs {
			cell := matrix.Cell{Scenario: name, Target: "k@v1", Expected: "reproduced", Verdict: "reproduced", Outcome: "expected", Started: at, WallSeconds: 10}
			if seconds != nil {
				cell.WallSeconds = seconds(name, n)
			}
			other := cell
			other.Verdict, other.Outcome, other.Started = "healthy", "fixed earlier than recorded", at.Add(time.Minute)
			switch outcomes[n] {
			case 'g':
				m.Cells = append(m.Cells, cell)
			case 'b':
				m.Cells = append(m.Cells, other)
			case 'm':
				m.Cells = append(m.Cells, other, cell)
			case '?':
				cell.Verdict, cell.Outcome = "inconclusive", "inconclusive"
				m.Cells = append(m.Cells, cell)
			case 's':
				m.Skipped = append(m.Skipped, matrix.Skip{Scenario: name, Target: "k@v1", Reason: "no build"})
			}
		}
		list = append(list, nightly.Night{Name: at.Format("2006-01-02"), Matrix: m})
	}
	return list
}

func TestClasses(t *testing.T) {
	for outcomes, want := range map[string]struct {
		class nightly.Class
		since string // day of the month
		flaky bool
	}{
		"gggggggg": {class: nightly.Steady},
		"gggggggb": {class: nightly.NewlyFailing, since: "27"},
		"gggggg?b": {class: nightly.NewlyFailing, since: "27"},
		"gggggggm": {class: nightly.NewlyFailing, since: "27"},
		".......b": {class: nightly.NewlyFailing, since: "27"},
		"ggggbbbb": {class: nightly.Failing, since: "24"},
		"gggbb?.b": {class: nightly.Failing, since: "23"},
		"bbbbbbbb": {class: nightly.Failing, since: "20"},
		"bbbbbbbg": {class: nightly.NewlyHealthy, since: "27"},
		"ggggggg?": {class: nightly.Inconclusive, since: "27"},
		"gggggg??": {class: nightly.Steady},
		"ggggggg.": {class: nightly.Gone, since: "27"},
		"ggggggs.": {class: nightly.Steady},
		"gggggggs": {class: nightly.Gone, since: "27"},
		"ggggg..":  {class: nightly.Steady},
		"ssssssss": {class: nightly.Steady},
		".......g": {class: nightly.New, since: "27"},
		"ggbggggg": {class: nightly.Steady, flaky: true},
		"gbgbgbgb": {class: nightly.NewlyFailing, since: "27", flaky: true},
		"ggmggggg": {class: nightly.Steady, flaky: true},
		"gbbbbggg": {class: nightly.Steady},
		"gggggbgg": {class: nightly.Steady, flaky: true},
	} {
		outcomes += strings.Repeat(".", 8-len(outcomes))
		r := nightly.Compare(nights(map[string]string{"a": outcomes, "always": "gggggggg"}, nil))
		i := slices.IndexFunc(r.Rows, func(row nightly.Row) bool { return row.Scenario == "a" })
		if want.since != "" {
			want.since = "2026-10-" + want.since
		}
		if got := r.Rows[i]; got.Class != want.class || got.Since != want.since || got.Flaky != want.flaky {
			t.Errorf("%s: %s since %q, flaky %v; want %s since %q, %v", outcomes, got.Class, got.Since, got.Flaky, want.class, want.since, want.flaky)
		}
	}
}

func TestRate(t *testing.T) {
	r := nightly.Compare(nights(map[string]string{"a": "gggbgggggg?.sgm"}, nil))
	row := r.Rows[0]
	if got, want := row.Rate(), "2 of 13 runs not as expected: 15 % (4 to 42 %)"; got != want || !row.Flaky {
		t.Errorf("%q, flaky %v; want %q", got, row.Flaky, want)
	}
}

// noisy are times that scatter by 15 % and on machines that differ by half, for as many pairs as
// the catalogue has.
func noisy(seed uint64) (pairs map[string]string, seconds func(string, int) float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	pairs, times := map[string]string{}, map[string][]float64{}
	machines := make([]float64, 30)
	for n := range machines {
		machines[n] = math.Exp(0.25 * random.NormFloat64())
	}
	for i := range 160 {
		name := fmt.Sprintf("s%03d", i)
		pairs[name] = strings.Repeat("g", 30)
		usual := 3 + 50*random.Float64()
		for n := range 30 {
			times[name] = append(times[name], usual*machines[n]*math.Exp(0.15*random.NormFloat64()))
		}
	}
	return pairs, func(name string, night int) float64 { return times[name][night] }
}

// What scatters is not slower, not even on a machine that is; what takes three times as long is.
func TestSlower(t *testing.T) {
	alarms := 0
	for seed := range uint64(10) {
		pairs, seconds := noisy(seed)
		alarms += nightly.Compare(nights(pairs, seconds)).Counts["slower"]
		for _, machine := range []float64{3, 1. / 3} { // the last one is slow, or fast
			r := nightly.Compare(nights(pairs, func(name string, n int) float64 {
				switch {
				case n < 29:
					return seconds(name, n)
				case name == "s007":
					return 3 * machine * seconds(name, n)
				}
				return machine * seconds(name, n)
			}))
			slower := r.Slower()
			if !slices.ContainsFunc(slower, func(row nightly.Row) bool { return row.Scenario == "s007" }) || len(slower) > 3 {
				t.Errorf("seed %d: what takes three times as long is not reported, or more than that: %d", seed, len(slower))
			}
			if r.Machine() == "" {
				t.Errorf("seed %d: the change of the machine is not reported", seed)
			}
		}
	}
	if alarms > 3 { // of 1600 by chance
		t.Errorf("%d alarms without a cause", alarms)
	}
	// Too few nights show nothing.
	few := nightly.Compare(nights(map[string]string{"a": "ggggg"}, func(_ string, n int) float64 { return []float64{10, 10, 10, 10, 90}[n] }))
	if few.Counts["slower"] != 0 {
		t.Error("four nights before are enough to know what is usual")
	}
}

// The page, the text and the JSON say what has become of each, and nothing that others wrote is
// markup in them.
func TestWrite(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	list := nights(map[string]string{"broken": "ggggggb", "mended": "bbbbbbg", "shaky": "gbgbggg", "lost": "gggggg.", "known": "bbbbbbb", "fine": "ggggggg", evil: "ggggggb"}, nil)
	last := list[len(list)-1].Matrix
	for i := range last.Cells {
		last.Cells[i].Reason = evil + "\x1b[31m @everyone"
		last.Cells[i].Run = "javascript:alert(1)"
	}
	r := nightly.Compare(list)
	if got, want := r.Sum(), "2 newly failing, 1 no longer run, 1 newly healthy, 1 flaky, 1 still failing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var page, text, data bytes.Buffer
	for format, to := range map[string]*bytes.Buffer{"html": &page, "md": &text, "json": &data} {
		if err := r.Write(to, format); err != nil {
			t.Fatal(err)
		}
	}
	inPage, err := reporttest.HTML(page.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	inText, err := reporttest.Markdown(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []reporttest.Seen{inPage, inText} {
		for _, want := range []string{"Newly failing", "No longer run", "Newly healthy", "Flaky", "Still failing", "2 of 7 runs not as expected: 29 % (8 to 64 %)", "broken", "since 2026-10-20"} {
			if !strings.Contains(of.Text, want) {
				t.Errorf("%q is not reported: %s", want, of.Text)
			}
		}
		if of.Elements["script"] > 0 || strings.Contains(of.Text, "\x1b") {
			t.Errorf("what others wrote is obeyed: %v", of.Elements)
		}
		for _, l := range of.Links {
			if !strings.HasPrefix(l, "./") {
				t.Errorf("a link to %q", l)
			}
		}
	}
	if inPage.Elements["polyline"] == 0 || inPage.Elements["rect"] < 40 {
		t.Errorf("no curves: %v", inPage.Elements)
	}
	var again nightly.Report
	if err := json.Unmarshal(data.Bytes(), &again); err != nil || len(again.Rows) != 7 || again.Counts["newly failing"] != 2 {
		t.Errorf("%+v, %v", again.Counts, err)
	}
	r.Missing = "s3://ci/nights: <b>no answer"
	page.Reset()
	if err := r.Write(&page, "html"); err != nil {
		t.Fatal(err)
	}
	if inPage, err = reporttest.HTML(page.Bytes()); err != nil || !strings.Contains(inPage.Text, "held for new: "+r.Missing) {
		t.Errorf("missing nights are not reported: %v, %s", err, inPage.Text)
	}
	if err := r.Write(&data, "pdf"); err == nil {
		t.Error("there is a format pdf")
	}
}

// What is inconclusive is not as expected, whether it was run before or not.
func TestNewAndInconclusive(t *testing.T) {
	report := nightly.Compare(nights(map[string]string{"a": "g?", "b": ".?", "c": ".g"}, nil))
	for _, row := range report.Rows {
		if says := row.Says(); strings.Contains(says, "as expected") != (row.Scenario == "c") {
			t.Errorf("%s: %s", row.Scenario, says)
		}
	}
}

// The page has the dates of nights, and links to the pages of a site that it is a part of.
func TestPageOfASite(t *testing.T) {
	report := nightly.Compare(nights(map[string]string{"a": "gggb", "b": "gggg"}, nil))
	report.Index, report.Pages = "index.html", map[string]string{"a": "failures/a.html"}
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		t.Fatal(err)
	}
	seen, err := reporttest.HTML(page.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"index.html", "failures/a.html"} {
		if !slices.ContainsFunc(seen.Links, func(link string) bool { return strings.HasSuffix(link, want) }) {
			t.Errorf("no link to %s: %v", want, seen.Links)
		}
	}
	for _, want := range []string{">10-21</text>", ">10-23</text>", "2026-10-20 to 2026-10-23"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(page.String(), ">10-22</text>") {
		t.Error("dates overlap")
	}
	if text := report.Markdown(); !strings.HasPrefix(text, "**Night 2026-10-23**") {
		t.Errorf("%.60q", text)
	}
}
