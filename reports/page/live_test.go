package page_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

// growing is a history that comes in parts.
type growing struct {
	mu     sync.Mutex
	events []history.Entry
	shown  int
}

func (g *growing) add(events ...history.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, events...)
}

func (g *growing) latest() *story.Story {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown == len(g.events) {
		return nil
	}
	g.shown = len(g.events)
	b := story.NewBuilder(story.Run{ID: "live", Title: "A run to watch", Live: true})
	for _, r := range g.events {
		b.Add(r)
	}
	return b.Story()
}

func pod(seq uint64, name string) history.Entry {
	return history.Entry{Seq: seq, Virtual: time.Duration(seq) * time.Second, Event: history.Event{Source: history.API, Verb: "create", Actor: "nodestorm", Code: 201,
		Object: history.Object{Resource: "pods", Namespace: "default", Name: name}}}
}

func step(seq uint64, kind, text string) history.Entry {
	return history.Entry{Seq: seq, Virtual: time.Duration(seq) * time.Second, Event: history.Event{Source: history.Step, Verb: "passed", Detail: map[string]any{"kind": kind, "text": text}}}
}

func serve(t testing.TB, g *growing) *page.Live {
	t.Helper()
	live, err := page.Serve(story.Run{ID: "live", Title: "A run to watch", Live: true}, g.latest)
	if err != nil {
		t.Fatal(err)
	}
	return live
}

const card = "document.getElementById('overview').textContent"

// All of the page follows the run: what it says, the picture, the events; and at the
// end the verdict.
func TestBrowserFollowsALiveRun(t *testing.T) {
	ctx := browser(t)
	g := &growing{}
	live := serve(t, g)
	closed := false
	t.Cleanup(func() {
		if !closed {
			live.Close(nil)
		}
	})
	do(t, ctx, chromedp.Navigate(live.URL()))
	until(t, ctx, "!document.getElementById('live').hidden && "+card+".includes('A run to watch') && "+card+".includes('no verdict yet')")
	g.add(pod(5, "first"))
	until(t, ctx, "nodestorm.state.runs.length && nodestorm.state.runs[0].n === 1")
	do(t, ctx, script("nodestorm.select(nodestorm.state.runs[0], {event: 0}); document.querySelector('.facts').open = true; document.querySelector('.facts > summary').focus()"))
	// Events come in the order in which they are known, not in that of their times.
	g.add(step(9, "Action", "something is done"), pod(7, "third"), pod(3, "before"))
	until(t, ctx, "nodestorm.state.runs[0].n === 4 && nodestorm.state.rows.some(r => r.label === 'third')")
	until(t, ctx, "document.getElementById('grid').textContent.includes('pods/default/third')")
	if got := eval[string](t, ctx, "[...nodestorm.state.runs[0].seq].join()+' '+[...nodestorm.state.runs[0].t].map(t => t / 1e6).join()"); got != "3,5,7,9 3,5,7,9" {
		t.Errorf("the events are %s, want them by time", got)
	}
	if seq := eval[int](t, ctx, "nodestorm.state.runs[0].seq[nodestorm.state.selected.event]"); seq != 5 {
		t.Errorf("event %d is chosen, want the one of before", seq)
	}
	until(t, ctx, card+".includes('something is done')")
	if !eval[bool](t, ctx, "document.querySelector('.facts').open && document.activeElement.parentNode.className === 'facts'") {
		t.Error("what was open is closed, or the focus is elsewhere")
	}
	shot(t, ctx, "live")
	do(t, ctx, chromedp.Reload())
	until(t, ctx, "nodestorm.state.runs.length && nodestorm.state.runs[0].n === 4 && "+card+".includes('something is done')")

	b := story.NewBuilder(story.Run{ID: "live", Title: "A run to watch", Verdict: "healthy"})
	b.Add(pod(1, "first"))
	live.Close(b.Story())
	closed = true
	until(t, ctx, "nodestorm.state.runs[0].run.verdict === 'healthy' && document.getElementById('live').hidden")
	if got := eval[string](t, ctx, "document.querySelector('.badge').textContent + ': ' + document.querySelector('.sentence').textContent"); got != "healthy: The failure does not show: every step of the scenario passed, and the world was undistorted." {
		t.Errorf("the page ends with %q", got)
	}
}

// A nodestorm that is gone is no run that stands still.
func TestBrowserNoticesALostConnection(t *testing.T) {
	ctx := browser(t, "Failed to load resource: net::ERR_")
	g := &growing{}
	live := serve(t, g)
	do(t, ctx, chromedp.Navigate(live.URL()))
	g.add(pod(1, "first"))
	until(t, ctx, "nodestorm.state.runs.length && document.getElementById('live').textContent === 'live'")
	live.Close(nil)
	until(t, ctx, "document.getElementById('live').className.includes('lost') && document.getElementById('live').textContent.includes('does not answer')")
	if n := eval[int](t, ctx, "nodestorm.state.runs[0].n"); n != 1 {
		t.Errorf("%d events are left", n)
	}
	shot(t, ctx, "lost")
}

// The page is for browsers on this machine, and nothing but it is there.
func TestLiveIsForThisMachine(t *testing.T) {
	live := serve(t, &growing{})
	defer live.Close(nil)
	if !strings.HasPrefix(live.URL(), "http://127.0.0.1:") {
		t.Errorf("it is served at %s", live.URL())
	}
	for _, test := range []struct {
		method, path, host, site string
		want                     int
	}{
		{"GET", "", "", "", 200},
		{"GET", "", "evil.example", "", 403},
		{"GET", "", "", "cross-site", 200}, // a link
		{"GET", "data/logs?revision=1", "", "cross-site", 403},
		{"GET", "data/core?revision=1", "", "same-origin", 410},
		{"GET", "data/../../etc/passwd", "", "", 404},
		{"POST", "", "", "", 405},
	} {
		request, err := http.NewRequest(test.method, live.URL()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.host != "" {
			request.Host = test.host
		}
		if test.site != "" {
			request.Header.Set("Sec-Fetch-Site", test.site)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != test.want {
			t.Errorf("%s /%s of host %q from %q: %d %s, want %d", test.method, test.path, test.host, test.site, answer.StatusCode, text, test.want)
		}
		if answer.StatusCode == 200 && !strings.Contains(string(text), "connect-src &#39;self&#39;") {
			t.Error("the page may not fetch the run")
		}
	}
}

// Close waits for who listens to read the last state, and who has asked for that
// before it was there has not read it.
func TestCloseWaitsForReaders(t *testing.T) {
	g := &growing{}
	g.add(pod(1, "first"))
	live := serve(t, g)
	get := func(path string) *http.Response {
		t.Helper()
		answer, err := http.Get(live.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	listening := get("events")
	defer listening.Body.Close()
	events := bufio.NewScanner(listening.Body)
	expect := func(want string) {
		t.Helper()
		for events.Scan() {
			if events.Text() == want {
				return
			}
		}
		t.Fatalf("the events end before %q: %v", want, events.Err())
	}
	expect("data: 1")
	early := get("data/logs?revision=2")
	_ = early.Body.Close()
	if early.StatusCode != http.StatusGone {
		t.Fatalf("a state of later is answered with %s", early.Status)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		live.Close(story.NewBuilder(story.Run{ID: "live", Verdict: "healthy"}).Story())
	}()
	expect("data: 2")
	late := get("data/logs?revision=2")
	_ = late.Body.Close()
	if late.StatusCode != http.StatusNoContent {
		t.Errorf("the last state is answered with %s", late.Status)
	}
	<-closed
}
