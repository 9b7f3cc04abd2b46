package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pictures are those of README.md and reports/README.md, of pages that `nodestorm verify` writes. Their runs need no
// Cluster Autoscaler, so one command makes them wherever there is a browser.
var pictures = []struct {
	name, page string
	dark       bool
}{
	{"karpenter-7515", "karpenter-7515-not-ready-noexecute/karpenter@v1.6.4/report.html", false},
	{"karpenter-2300-sides", "karpenter-2300-double-launch/side-by-side.html", true},
	{"clusterapi-10712", "clusterapi-10712-skipped/cluster-api@v1.12.0/report.html", false},
}

const pictureWidth = 1280

// TestPictures makes them anew, of runs in the folder that NODESTORM_RUNS names. To replay these and make them:
//
//	make pictures
func TestPictures(t *testing.T) {
	runs := os.Getenv("NODESTORM_RUNS")
	if runs == "" {
		t.Skip("NODESTORM_RUNS names no folder of nodestorm verify --out")
	}
	ctx := browser(t)
	for _, p := range pictures {
		path := filepath.Join(runs, p.page)
		if _, err := os.Stat(path); err != nil {
			t.Errorf("no picture %s: %v", p.name, err)
			continue
		}
		look := map[bool]string{false: "light", true: "dark"}[p.dark]
		call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look}}})
		do(t, ctx, chromedp.EmulateViewport(pictureWidth, 900), chromedp.Navigate("file://"+path))
		do(t, ctx, chromedp.WaitReady(chromedp.CSS("body[data-ready]")))
		bottom := "document.getElementById('stage').getBoundingClientRect().bottom + 24"
		for range 2 { // the picture's own height follows the screen's
			do(t, ctx, chromedp.EmulateViewport(pictureWidth, int64(eval[float64](t, ctx, bottom))))
		}
		if over := eval[int](t, ctx, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%s is %d px wider than %d", p.page, over, pictureWidth)
		}
		keep(t, ctx, p.name, chromedp.CaptureScreenshot())
	}
}
