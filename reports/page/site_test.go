package page_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"nodestorm/reports/page"
	"nodestorm/reports/site"
)

// The index finds failures by text and by choice, with the keyboard, and keeps what it finds in its address; the page of a
// failure shows its runs.
func TestSiteInABrowser(t *testing.T) {
	ctx := browser(t)
	dir := t.TempDir()
	s := &site.Site{Failures: []site.Failure{
		{ID: "a-1", Title: "One", System: "a", Component: "karpenter", Summary: "A second Node is launched.", Runs: "runs/a-1.html", Sides: "reproduced on karpenter@v1",
			Releases: []site.Release{{Version: "v1", Expected: "reproduced"}, {Version: "v2", Expected: "healthy"}}},
		{ID: "b-2", Title: "Two", System: "b", Component: "cluster-autoscaler", Releases: []site.Release{{Version: "1.0.0", Expected: "healthy"}}},
	}}
	put := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, write := range s.Pages() {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		put(name, text.Bytes())
	}
	run, err := os.ReadFile(write(t, page.Run{Story: readStory(t, "affected.ndjson", affected)}))
	if err != nil {
		t.Fatal(err)
	}
	put("runs/a-1.html", run)

	visible := func() int {
		t.Helper()
		return eval[int](t, ctx, `document.querySelectorAll('#failures > li:not([hidden])').length`)
	}
	index := "file://" + filepath.Join(dir, "index.html")
	do(t, ctx, chromedp.Navigate(index), chromedp.WaitReady(chromedp.CSS("#shown")))
	if n := visible(); n != 2 {
		t.Errorf("%d failures, want 2", n)
	}
	for _, test := range []struct {
		does string
		want int
	}{
		{"const e = document.getElementById('text'); e.value = 'second NODE'; e.dispatchEvent(new Event('input', {bubbles: true}))", 1},
		{"document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))", 2},
		{"const e = document.getElementById('component'); e.value = 'karpenter'; e.dispatchEvent(new Event('input', {bubbles: true}))", 1},
		{"const e = document.getElementById('release'); e.value = 'karpenter@v1'; e.dispatchEvent(new Event('input', {bubbles: true}))", 1},
		{"const e = document.getElementById('system'); e.value = 'b'; e.dispatchEvent(new Event('input', {bubbles: true}))", 0},
	} {
		do(t, ctx, script(test.does))
		if n := visible(); n != test.want {
			t.Errorf("%s: %d failures, want %d", test.does, n, test.want)
		}
	}
	if hash := eval[string](t, ctx, "location.hash"); hash != "#system=b&component=karpenter&release=karpenter%40v1" {
		t.Errorf("the address has %q", hash)
	}
	do(t, ctx, chromedp.Navigate(index+"?again#release=karpenter%40v1"), chromedp.WaitReady(chromedp.CSS("#shown")),
		script("document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent('keydown', {key: '/'}))"))
	if n, focus := visible(), eval[string](t, ctx, "document.activeElement.id"); n != 1 || focus != "text" {
		t.Errorf("by address: %d failures; / goes to %q", n, focus)
	}

	// A phone shows all of a page, without scrolling sideways.
	call(t, ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 800, DeviceScaleFactor: 1, Mobile: true})
	for _, name := range []string{"index.html", "open.html", "failures/a-1.html"} {
		do(t, ctx, chromedp.Navigate("file://"+filepath.Join(dir, name)), chromedp.WaitReady(chromedp.CSS("main")))
		if wide := eval[int](t, ctx, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("%s is %d pixels wide on a phone of 390", name, wide)
		}
	}
	if frames := eval[int](t, ctx, "window.frames.length"); frames != 1 {
		t.Errorf("%d frames, want that of the runs", frames)
	}
}
