package page_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"nodestorm/reports/matrix"
	"nodestorm/reports/page"
)

// The index of all runs is filtered by what a row and its cells say, and leads to
// their pages.
func TestBrowserFiltersTheMatrix(t *testing.T) {
	run := write(t, page.Run{Story: readStory(t, "affected.ndjson", affected)})
	m := matrix.New(time.Now(), []matrix.Scenario{
		{ID: "karpenter-1", Title: "The first", System: "karpenter", Provider: "aws"},
		{ID: "hetzner-2", Title: "The second", System: "hetzner", Provider: "hetzner"},
	}, []matrix.Cell{
		{Scenario: "karpenter-1", Target: "karpenter@v1", Verdict: "reproduced", Outcome: "expected", Run: filepath.Base(run)},
		{Scenario: "karpenter-1", Target: "karpenter@v2", Verdict: "reproduced", Outcome: "regression"},
		{Scenario: "hetzner-2", Target: "cluster-autoscaler@1", Verdict: "healthy", Outcome: "expected"},
	})
	path := filepath.Join(filepath.Dir(run), "index.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(file, "html"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	do(t, ctx, chromedp.Navigate("file://"+path), chromedp.WaitReady(chromedp.CSS("tbody")))
	shown := func(want string) {
		t.Helper()
		rows := "[...document.querySelectorAll('tbody tr')].filter(r => !r.hidden).map(r => r.querySelector('.id').textContent + ' ' + r.querySelectorAll('td[data-text]:not(.dim)').length).join()"
		until(t, ctx, rows+" === '"+want+"'")
	}
	shown("hetzner-2 1,karpenter-1 2")
	for _, filter := range []struct{ text, want string }{
		{"HETZNER", "hetzner-2 1"}, {"aws", "karpenter-1 2"}, {"karpenter v2", "karpenter-1 1"}, {"reproduced", "karpenter-1 2"}, {"regression", "karpenter-1 1"}, {"nothing", ""},
	} {
		do(t, ctx, script("document.getElementById('filter').value = ''"), chromedp.SendKeys(chromedp.CSS("#filter"), filter.text))
		shown(filter.want)
	}
	do(t, ctx, script("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))"), chromedp.Click(chromedp.CSS("#odd")))
	shown("karpenter-1 1")
	do(t, ctx, chromedp.Click(chromedp.CSS("#odd")), chromedp.Click(chromedp.CSS("td a")), chromedp.WaitReady(chromedp.CSS("body[data-ready]")))
	if n := eval[int](t, ctx, "nodestorm.state.runs[0].n"); n != 71 {
		t.Errorf("the page of the run has %d events", n)
	}
}
