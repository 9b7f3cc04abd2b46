package site_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/reporttest"
	"nodestorm/reports/site"
)

const hostile = `<script>alert(1)</script>"onload="x` + "\x1b[31m"

// written are the pages of a site by their paths, as readers see them.
func written(t *testing.T, s *site.Site) map[string]reporttest.Seen {
	t.Helper()
	pages := map[string]reporttest.Seen{}
	for name, write := range s.Pages() {
		var page bytes.Buffer
		if err := write(&page); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seen, err := reporttest.HTML(page.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = seen
	}
	return pages
}

func failures() []site.Failure {
	return []site.Failure{
		{
			ID: "karpenter-1-open", Title: hostile, System: "karpenter", Component: "karpenter", Issue: "kubernetes-sigs/karpenter#1", Fix: hostile,
			Affected: ">=v1.0.0", Fixed: hostile, Summary: hostile, Mechanism: "First.\n" + hostile, Notes: hostile, Feature: "Feature: x\n  " + hostile,
			Releases: []site.Release{{Version: "v1.0.0", Expected: "reproduced"}, {Version: hostile, Expected: "reproduced", Verdict: "healthy", Verified: time.Unix(0, 0)}},
			Related:  []string{"hetzner-2-fixed"}, Runs: "runs/karpenter-1-open.html", Sides: hostile,
		},
		{
			ID: "hetzner-2-fixed", Title: "Fixed", System: "hetzner", Component: "cluster-autoscaler", Cloud: "hetzner", Issue: hostile,
			Affected: "<2.0.0", Fixed: ">=2.0.0",
			Releases: []site.Release{{Version: "1.0.0", Expected: "reproduced"}, {Version: "2.0.0", Expected: "healthy"}, {Version: "2.1.0"}},
		},
		{
			ID: "hetzner-3-control", Title: "Control", Control: true, Component: "cluster-autoscaler",
			Releases: []site.Release{{Version: "1.0.0", Expected: "healthy"}, {Version: "2.0.0", Expected: "healthy", Verdict: "healthy"}},
		},
	}
}

// Whatever records say is text, and the pages lead to each other and to the issues.
func TestPages(t *testing.T) {
	s := &site.Site{Failures: failures(), Nights: true}
	pages := written(t, s)
	want := []string{"failures/hetzner-2-fixed.html", "failures/hetzner-3-control.html", "failures/karpenter-1-open.html", "index.html", "open.html"}
	if got := slices.Sorted(maps.Keys(pages)); !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	for name, seen := range pages {
		scripts := map[string]int{"index.html": 1}[name]
		if seen.Elements["script"] != scripts || strings.Contains(seen.Text, "\x1b") {
			t.Errorf("%s has %d scripts: %q", name, seen.Elements["script"], seen.Text)
		}
		for _, link := range seen.Links {
			if !strings.HasPrefix(link, "./") && !strings.HasPrefix(link, "../") && !strings.HasPrefix(link, "https://github.com/") &&
				!slices.Contains([]string{"index.html", "open.html", site.NightsFile}, link) {
				t.Errorf("%s leads to %q", name, link)
			}
		}
	}
	for _, name := range []string{"index.html", "failures/karpenter-1-open.html"} {
		const legend = "Each box is a release, the oldest first."
		if text := pages[name].Text; !strings.Contains(text, legend) || name == "index.html" && strings.Index(text, legend) > strings.Index(text, "karpenter-1-open") {
			t.Errorf("%s does not say before them what the boxes are: %s", name, text)
		}
	}
	one := pages["failures/karpenter-1-open.html"]
	for _, part := range []string{"First.\n<script>", "Feature: x\n  <script>", `\x1b[31m`, "nodestorm verify karpenter-1-open"} {
		if !strings.Contains(one.Text, part) {
			t.Errorf("the page of a failure does not say %q: %s", part, one.Text)
		}
	}
	for _, link := range []string{"https://github.com/kubernetes-sigs/karpenter/issues/1", "./../runs/karpenter-1-open.html", "./hetzner-2-fixed.html"} {
		if !slices.Contains(one.Links, link) {
			t.Errorf("no link %s: %v", link, one.Links)
		}
	}
	if open := pages["open.html"]; len(open.Rows) != 2 || !slices.Contains(open.Links, "./failures/karpenter-1-open.html") {
		t.Errorf("failures of the newest releases: %q", open.Rows)
	}
}

func TestOpen(t *testing.T) {
	s := &site.Site{Failures: failures()}
	if open := s.OpenFailures(); len(open) != 1 || open[0].ID != "karpenter-1-open" {
		t.Errorf("open: %v", open)
	}
	if got, want := s.AffectedReleases()[0], "cluster-autoscaler@1.0.0"; got != want || len(s.AffectedReleases()) != 3 {
		t.Errorf("affected: %v", s.AffectedReleases())
	}
	if s.Components()[0] != "cluster-autoscaler" || len(s.Components()) != 2 || len(s.Systems()) != 3 {
		t.Errorf("%v, %v", s.Components(), s.Systems())
	}
	if (site.Failure{}).Open() {
		t.Error("a failure without releases is open")
	}
}

func TestReleases(t *testing.T) {
	for _, test := range []struct{ expected, verdict, mark, says string }{
		{"", "", "unknown", "not in the record's ranges, not replayed"},
		{"healthy", "", "healthy unverified", "not affected, not replayed"},
		{"reproduced", "reproduced", "reproduced", "affected, replayed 1970-01-01: reproduced"},
		{"healthy", "reproduced", "healthy other", "not affected, replayed 1970-01-01: reproduced"},
	} {
		r := site.Release{Expected: test.expected, Verdict: test.verdict, Verified: time.Unix(0, 0)}
		if r.Mark() != test.mark || r.Says() != test.says {
			t.Errorf("%+v: %q, %q", test, r.Mark(), r.Says())
		}
	}
}
