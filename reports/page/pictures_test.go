package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pictures of the pages that `nodestorm verify --all` writes: the first three are the
// README's, the others are worth a look after a change.
var pictures = []struct {
	name, page string
	width      int64
	dark       bool
}{
	{"karpenter-7515", "karpenter-7515-not-ready-noexecute/karpenter@v1.6.4/report.html", 1280, false},
	{"hetzner-8013", "hetzner-8013-poll-window/cluster-autoscaler@1.32.5/report.html", 1280, false},
	{"clusterapi-7872", "clusterapi-7872-conflict-forced/side-by-side.html", 1280, true},
	{"karpenter-7515-sides", "karpenter-7515-not-ready-noexecute/side-by-side.html", 1280, false},
	{"hetzner-1476", "hetzner-1476-min-size-ignored/cluster-autoscaler@1.33.0/report.html", 1280, false},
	{"phone", "hetzner-8013-poll-window/cluster-autoscaler@1.32.5/report.html", 390, true},
	{"matrix", "index.html", 1280, false},
}

// TestPictures makes them anew, of runs in the folder that NODESTORM_RUNS names:
//
//	NODESTORM_RUNS=$PWD/reports/out/verify NODESTORM_SHOTS=$PWD/reports/testdata/pictures go test ./reports/page -run Pictures
func TestPictures(t *testing.T) {
	runs := os.Getenv("NODESTORM_RUNS")
	if runs == "" {
		t.Skip("NODESTORM_RUNS names no folder of nodestorm verify --out")
	}
	ctx := browser(t)
	for _, p := range pictures {
		path := filepath.Join(runs, p.page)
		if _, err := os.Stat(path); err != nil {
			t.Logf("no picture %s: %v", p.name, err)
			continue
		}
		look := map[bool]string{false: "light", true: "dark"}[p.dark]
		call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look}}})
		do(t, ctx, chromedp.EmulateViewport(p.width, 900), chromedp.Navigate("file://"+path))
		bottom := "document.body.scrollHeight"
		if filepath.Base(path) != "index.html" {
			do(t, ctx, chromedp.WaitReady(chromedp.CSS("body[data-ready]")))
			bottom = "document.getElementById('stage').getBoundingClientRect().bottom + 24"
		}
		for range 2 { // the picture's own height follows the screen's
			do(t, ctx, chromedp.EmulateViewport(p.width, int64(eval[float64](t, ctx, bottom))))
		}
		if over := eval[int](t, ctx, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%s is %d px wider than %d", p.page, over, p.width)
		}
		keep(t, ctx, p.name, chromedp.CaptureScreenshot())
	}
}
