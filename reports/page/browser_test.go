package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"nodestorm/reports/page"
	"nodestorm/reports/story"
)

// browser starts Chromium for a test, which fails if the page complains of
// anything but what is expected. It skips where there is none.
func browser(t testing.TB, expected ...string) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is slow to start; run without -short")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium in PATH; on Debian: apt-get install chromium")
	}
	// Chromium leaves folders behind, and the path of a socket in them may not be long.
	temporary, err := os.MkdirTemp("", "nodestorm-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // when the browser has ended
		if err := os.RemoveAll(temporary); err != nil {
			t.Error(err)
		}
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Env("TMPDIR="+temporary), chromedp.WindowSize(1400, 1500), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	messages := chromedp.Console(ctx) // it starts the browser
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				break
			}
			if slices.ContainsFunc(expected, func(part string) bool { return strings.Contains(m.String(), part) }) {
				continue
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				t.Errorf("the browser complains: %s", m)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return ctx
}

func do(t testing.TB, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](t testing.TB, ctx context.Context, command cdp.Command[P, R], params P) {
	t.Helper()
	do(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	}))
}

// script runs a statement in the page.
func script(statement string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Evaluate[bool]("(() => { "+statement+"; return true })()")(ctx, target)
		return err
	})
}

// open opens a page and waits until all of it is read.
func open(t testing.TB, ctx context.Context, path string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate("file://"+path), chromedp.WaitReady(chromedp.CSS("body[data-ready]")))
}

// eval is the value of an expression of the page.
func eval[T any](t testing.TB, ctx context.Context, expression string) (value T) {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for an expression of the page to hold.
func until(t testing.TB, ctx context.Context, expression string) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingTimeout(90*time.Second))); err != nil {
		t.Fatalf("never: %s (%v)", expression, err)
	}
}

const (
	window = "nodestorm.state.to - nodestorm.state.from"
	panel  = "document.getElementById('record')"
	drawn  = "nodestorm.picture(1100, 2400)"
)

func affectedPage(t testing.TB) string {
	return write(t, page.Run{Story: readStory(t, "affected.ndjson", affected), Logs: []page.Log{{Name: "karpenter", Text: strings.NewReader(karpenterLog)}}})
}

func TestBrowserZoomsSearchesAndFollowsAChain(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, affectedPage(t))
	if n := eval[int](t, ctx, "nodestorm.state.runs[0].n"); n != 71 {
		t.Errorf("%d events are in the page, want 71", n)
	}
	first := eval[float64](t, ctx, window)
	if first < 40e6 || first > 60e6 {
		t.Errorf("the page shows %.0f s first, want the 41 s of the story and a margin", first/1e6)
	}
	shot(t, ctx, "affected-light")

	// Zoom with the wheel keeps what is under the pointer where it is.
	box := eval[[]float64](t, ctx, "(() => { const b = document.getElementById('stage').getBoundingClientRect(); return [b.left, b.top] })()")
	x, y := box[0]+700, box[1]+150
	under := fmt.Sprintf("nodestorm.state.from + (%f - nodestorm.state.left) * (%s) / (nodestorm.state.width - nodestorm.state.left)", 700.0, window)
	before := eval[float64](t, ctx, under)
	call(t, ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: chromedp.MouseWheel, X: x, Y: y, DeltaX: -0.01, DeltaY: -120, Modifiers: 2})
	until(t, ctx, fmt.Sprintf("%s < %f", window, first*.8))
	if after := eval[float64](t, ctx, under); after-before > first/100 || before-after > first/100 {
		t.Errorf("under the pointer was %.3f s and is %.3f s", before/1e6, after/1e6)
	}
	// Dragging pans.
	from := eval[float64](t, ctx, "nodestorm.state.from")
	do(t, ctx, chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x-200, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x-200, y, chromedp.ButtonLeft))
	until(t, ctx, fmt.Sprintf("nodestorm.state.from > %f", from+1e6))
	do(t, ctx, chromedp.Click(chromedp.CSS("#all")))
	until(t, ctx, fmt.Sprintf("%s > 65e6", window))
	do(t, ctx, chromedp.Click(chromedp.CSS("#symptom")))
	until(t, ctx, "nodestorm.state.selected && nodestorm.state.runs[0].seq[nodestorm.state.selected.event] === 238")
	do(t, ctx, chromedp.Click(chromedp.CSS("#story")))

	// Search, and from the pod along the chain to its Node.
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#search"), "default-6sgc7 create"))
	until(t, ctx, "document.getElementById('found').textContent === '3 found'")
	do(t, ctx, script("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))"))
	until(t, ctx, "document.getElementById('found').textContent === ''")
	do(t, ctx, chromedp.Click(chromedp.CSS("li:nth-child(1) > .event")))
	until(t, ctx, panel+".textContent.includes('Pod web')")
	chain := eval[string](t, ctx, "[...document.querySelectorAll('.chain button')].map(b => b.textContent).join(' → ')")
	if chain != "Pod web → NodeClaim default-6sgc7 → NodeClaim default-pvqrf → Node wizardly-volhard-1115035644" {
		t.Errorf("the chain of the pod is %q", chain)
	}
	shot(t, ctx, "affected-chain")
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-object="nodes/wizardly-volhard-1115035644"]`)))
	until(t, ctx, panel+".querySelector('.here').textContent.includes('Node wizardly-volhard')")
	if text := eval[string](t, ctx, panel+".textContent"); !strings.Contains(text, "nodes/wizardly-volhard-1115035644") || !strings.Contains(text, "karpenter.sh/unregistered:NoExecute") {
		t.Errorf("the Node's event is shown as %q", text)
	}

	// The log lines of the window.
	do(t, ctx, chromedp.Click(chromedp.CSS("#tab-logs")))
	until(t, ctx, "document.getElementById('grid').textContent.includes('a line to be found')")
	if text := eval[string](t, ctx, "document.getElementById('grid').textContent"); !strings.Contains(text, "onerror=alert") {
		t.Errorf("log lines are shown as %q", text)
	}
	// What is hidden can be shown.
	shown := eval[int](t, ctx, "nodestorm.state.runs[0].shown.length")
	do(t, ctx, chromedp.Click(chromedp.CSS("#noise")))
	until(t, ctx, fmt.Sprintf("nodestorm.state.runs[0].shown.length > %d", shown))
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-source="api"]`)))
	until(t, ctx, fmt.Sprintf("nodestorm.state.runs[0].shown.length < %d", shown))
}

func TestBrowserByKeyboardOnly(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, affectedPage(t))
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			do(t, ctx, chromedp.KeyEvent(key))
		}
	}
	for n := 0; !eval[bool](t, ctx, "document.activeElement.id === 'scroll'"); n++ {
		if n > 60 {
			t.Fatal("the picture is not reached with the Tab key")
		}
		press(kb.Tab)
	}
	before := eval[float64](t, ctx, window)
	press("+", "+")
	until(t, ctx, fmt.Sprintf("%s < %f", window, before*.6))
	from := eval[float64](t, ctx, "nodestorm.state.from")
	press(kb.ArrowRight)
	until(t, ctx, fmt.Sprintf("nodestorm.state.from > %f", from))
	press("0")
	until(t, ctx, fmt.Sprintf("Math.abs(%s - %f) < 1", window, before))
	press(kb.ArrowDown, kb.ArrowDown)
	until(t, ctx, "document.getElementById('say').textContent.includes('decisions')")
	press("j", kb.Enter)
	until(t, ctx, "!"+panel+".hidden && document.activeElement.id === 'record'")
	press(kb.Escape)
	until(t, ctx, panel+".hidden && document.activeElement.id === 'scroll'")
	press("/")
	until(t, ctx, "document.activeElement.id === 'search'")
	press("n", "o", "t", "-", "r", "e", "a", "d", "y")
	until(t, ctx, "/\\d+ found/.test(document.getElementById('found').textContent)")
	press(kb.Enter)
	until(t, ctx, "nodestorm.state.selected")
}

func TestBrowserLooks(t *testing.T) {
	ctx := browser(t)
	call(t, ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	open(t, ctx, affectedPage(t))
	pixel := "(() => { const c = document.getElementById('lanes'), o = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }); " +
		"o.drawImage(c, c.width - 3, c.height - 3, 1, 1, 0, 0, 1, 1); const p = o.getImageData(0, 0, 1, 1).data; return p[0] + p[1] + p[2] })()"
	paper := "getComputedStyle(document.body).backgroundColor"
	if got := eval[string](t, ctx, paper); got != "rgb(19, 21, 24)" {
		t.Errorf("the page is %s in the dark", got)
	}
	if got := eval[int](t, ctx, pixel); got > 200 {
		t.Errorf("the picture is %d of 765 bright in the dark", got)
	}
	shot(t, ctx, "affected-dark")
	do(t, ctx, chromedp.Click(chromedp.CSS("#look")))
	until(t, ctx, paper+" === 'rgb(252, 252, 251)'")
	until(t, ctx, pixel+" > 700")

	// On paper there is a picture that no canvas has drawn, with all the tables.
	do(t, ctx, script("window.dispatchEvent(new Event('beforeprint'))"))
	if n := eval[int](t, ctx, "document.querySelectorAll('#print svg text').length"); n < 20 {
		t.Errorf("the picture for paper has %d texts", n)
	}
	if n := eval[int](t, ctx, "document.querySelectorAll('details:not([open])').length"); n != 0 {
		t.Errorf("%d tables are closed on paper", n)
	}
	// On a telephone nothing is wider than the screen.
	do(t, ctx, chromedp.EmulateViewport(390, 800))
	if over := eval[int](t, ctx, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("the page is %d px wider than a small screen", over)
	}
	shot(t, ctx, "affected-small")
}

func TestBrowserSideBySide(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, write(t, page.Run{Story: readStory(t, "affected.ndjson", affected)}, page.Run{Story: readStory(t, "fixed.ndjson", fixed)}))
	shot(t, ctx, "side-by-side")
	if starts := eval[[]float64](t, ctx, "nodestorm.state.runs.map(r => r.origin + r.shift)"); starts[0] != 0 || starts[1] != 0 {
		t.Errorf("the runs begin at %v, want both at their first When", starts)
	}
	got := eval[string](t, ctx, "document.querySelector('tr.differs').textContent")
	if !strings.Contains(got, "≠") || !strings.Contains(got, "creates NodeClaim default-pvqrf") || !strings.HasSuffix(got, "—") {
		t.Errorf("the first decision that differs is shown as %q", got)
	}
	if first := eval[int](t, ctx, "nodestorm.state.runs[1].firstDifference"); first != 2 {
		t.Errorf("decision %d differs first, want the one numbered 2", first)
	}
	// It is marked above the rows and through those of its run; the symptom by a line too.
	if marks := eval[int](t, ctx, "[..."+drawn+".querySelectorAll('text')].filter(e => e.textContent === '≠').length"); marks != 1 {
		t.Errorf("the first decision that differs is marked %d times in the picture, want once: the other run has none", marks)
	}
	if lines := eval[int](t, ctx, drawn+".querySelectorAll('path[stroke-dasharray=\"4 3\"][stroke-width=\"1\"]').length"); lines != 1 {
		t.Errorf("%d lines go through the rows at the first decision that differs, want 1", lines)
	}
	// The numbers of the story are in the rows of the run that has one; of those within a few
	// pixels the first.
	if missing := eval[string](t, ctx, "[1, document.querySelectorAll('ol.evidence li').length].map(String).filter(n => ![..."+drawn+".querySelectorAll('text[text-anchor=middle]')].some(e => e.textContent === n)).join()"); missing != "" {
		t.Errorf("the timeline lacks the numbers %s of the story", missing)
	}
	// All rows of both are drawn, and there is nothing within the page to scroll.
	until(t, ctx, "document.getElementById('stage').classList.contains('whole')")
	if heights := eval[[]float64](t, ctx, "[document.getElementById('lanes').clientHeight, document.getElementById('scroll').clientHeight, document.getElementById('scroll').scrollHeight, nodestorm.state.height]"); heights[0] != heights[3] || heights[1] != heights[2] {
		t.Errorf("drawn, seen, there, and rows: %v px; want all the same", heights)
	}
}

// A log line has the time of day beside its offset: that which the line itself has.
func TestBrowserTimesOfDay(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, affectedPage(t))
	do(t, ctx, script("document.getElementById('tab-logs').click()"))
	until(t, ctx, "document.querySelector('.grid .day')")
	if differ := eval[string](t, ctx, "[...document.querySelectorAll('.grid .row')].filter(r => { const day = r.querySelector('.day').textContent; return day && !r.textContent.includes('continued on the next line') && !r.textContent.replace(day, '').includes(day.slice(0, 8)) }).map(r => r.textContent).join('; ')"); differ != "" {
		t.Errorf("other times of day than in the lines: %s", differ)
	}
	if some := eval[int](t, ctx, "[...document.querySelectorAll('.grid .day')].filter(e => /^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}$/.test(e.textContent)).length"); some == 0 {
		t.Error("no line has a time of day")
	}
}

// Of a search for nothing there is nothing to see, and the page lives on.
func TestBrowserSearchesForNothing(t *testing.T) {
	ctx := browser(t)
	open(t, ctx, affectedPage(t))
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#search"), "there-is-no-such-thing"))
	until(t, ctx, "document.getElementById('found').textContent === '0 found' && !nodestorm.state.rows.length")
	until(t, ctx, "document.getElementById('grid').textContent.startsWith('No event in the window')")
	do(t, ctx, script("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))"))
	until(t, ctx, "nodestorm.state.rows.length")
}

// hostile is a run whose every text would like to be something else.
func hostile() string {
	evil := `<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u001b[31m\u202e`
	line := func(seq int, source, verb, resource, name, detail string) string {
		return fmt.Sprintf(`{"seq":%d,"virtual":%d,"real":%d,"source":%q,"verb":"%s","object":{"resource":"%s","name":"%s"},"actor":"%s","detail":%s}`+"\n",
			seq, seq*1e9, seq*1e9, source, verb, resource, name, evil, detail)
	}
	return line(1, "step", "passed", "", "", `{"kind":"Action","text":"`+evil+`"}`) +
		line(2, "api", "create", "pods", evil, `{"`+evil+`":"`+evil+`","message":"`+strings.Repeat("long ", 200_000)+`"}`) +
		line(3, "node", "running", "pods", evil, `{"node":"`+evil+`"}`) +
		line(4, "api", "create", "nodes", evil, `{"taints":["`+evil+`"],"ready":"False: `+evil+`","providerID":"`+evil+`"}`) +
		line(12, "api", "update", "nodes", evil, `{"added":"`+evil+`","removed":{"a":1},"taints":7}`) +
		line(5, "fault", "armed", "nodes", evil, `{"fault":"`+evil+`"}`) +
		line(6, "cloud", evil, evil, evil, `{}`) +
		line(7, "log", "log", "", "", `{"message":"`+evil+`","Pods":"`+evil+`"}`) +
		`{"seq":8,"virtual":9223372036854775807,"real":-9223372036854775808,"source":"` + evil + `","verb":"__proto__","object":{"resource":"constructor","name":"__proto__"},"detail":{"__proto__":{"a":1},"constructor":"x","toString":1}}` + "\n" +
		"{\"seq\":9,\"virtual\":2,\"real\":1,\"source\":\"log\",\"verb\":\"log\",\"detail\":{\"message\":\"\xff\xfe\"}}\n" +
		`{"seq":10,"virtual":-9000000000000000000,"real":1,"source":"harness","verb":"died"}` + "\n" + `{"seq":11,"vir`
}

func TestBrowserShowsHostileTextAsText(t *testing.T) {
	ctx := browser(t)
	evil := "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>"
	about := story.Run{ID: evil, Title: evil, Target: evil, Verdict: "reproduced", Reason: evil, Evidence: []uint64{2, 4, 8}, Issue: "javascript:alert(1)//#1", Problems: []string{evil}}
	open(t, ctx, write(t, page.Run{Story: storyOf(t, about, hostile()), Logs: []page.Log{{Name: evil, Text: strings.NewReader(evil + strings.Repeat("x", 1<<20) + "\n\x1b[31m\xff\n")}}}))
	do(t, ctx, chromedp.Click(chromedp.CSS("#all")), chromedp.Click(chromedp.CSS("#noise")))
	for n := range 9 {
		do(t, ctx, script(fmt.Sprintf("nodestorm.select(nodestorm.state.runs[0], {event: %d})", n)))
		until(t, ctx, "!"+panel+".hidden")
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#all")), chromedp.Click(chromedp.CSS("#tab-logs")))
	until(t, ctx, "document.getElementById('grid').textContent.includes('<script>')")
	if eval[bool](t, ctx, "'pwned' in window || document.querySelectorAll('img').length > 0 || ({}).a === 1") {
		t.Error("text of the history was executed")
	}
	if href := eval[string](t, ctx, "[...document.querySelectorAll('a[href]')].map(a => a.href).join()"); strings.Contains(href, "javascript") {
		t.Errorf("links go to %s", href)
	}
	if text := eval[string](t, ctx, "document.body.innerText"); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "events have a time more than a year away") {
		t.Error("what does not print is not shown as its code, or absurd times are not named")
	}
	if size := eval[int](t, ctx, "document.documentElement.innerHTML.length"); size > 600_000 {
		t.Errorf("the page has %d characters: a line of 1 MB was not cut", size)
	}
}

// shot keeps a picture of the whole page in the folder that NODESTORM_SHOTS names.
func shot(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	keep(t, ctx, name, chromedp.FullScreenshot(100))
}

func keep(t testing.TB, ctx context.Context, name string, take chromedp.Action[[]byte]) {
	t.Helper()
	folder := os.Getenv("NODESTORM_SHOTS")
	if folder == "" {
		return
	}
	do(t, ctx, chromedp.Sleep(200*time.Millisecond)) // for the eye only: what is drawn with the next frames
	picture, err := chromedp.Run(ctx, take)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder+"/"+name+".png", picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
