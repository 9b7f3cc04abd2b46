package page_test

import (
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
	mu      sync.Mutex
	records []history.Record
	shown   int
}

func (g *growing) add(records ...history.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.records = append(g.records, records...)
}

func (g *growing) tell() *story.Story {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown == len(g.records) {
		return nil
	}
	g.shown = len(g.records)
	b := story.NewBuilder(story.Run{ID: "live", Title: "live", Live: true})
	for _, r := range g.records {
		b.Add(r)
	}
	return b.Story()
}

func pod(seq uint64, name string) history.Record {
	return history.Record{Seq: seq, Virtual: time.Duration(seq) * time.Second, Event: history.Event{Source: history.API, Verb: "create", Actor: "nodestorm", Code: 201,
		Object: history.Object{Resource: "pods", Namespace: "default", Name: name}}}
}

func TestBrowserFollowsALiveRun(t *testing.T) {
	ctx := browser(t)
	g := &growing{}
	live, err := page.Serve(g.tell)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			live.Close(nil)
		}
	})
	do(t, ctx, chromedp.Navigate(live.URL()))
	until(t, ctx, "!document.getElementById('live').hidden")
	g.add(pod(1, "first"))
	until(t, ctx, "nodestorm.state.runs.length && nodestorm.state.runs[0].n === 1")
	g.add(pod(2, "second"), pod(3, "third"))
	until(t, ctx, "nodestorm.state.runs[0].n === 3 && nodestorm.state.rows.some(r => r.label === 'third')")
	until(t, ctx, "document.getElementById('grid').textContent.includes('pods/default/third')")

	b := story.NewBuilder(story.Run{ID: "live", Title: "live", Verdict: "healthy"})
	b.Add(pod(1, "first"))
	live.Close(b.Story())
	closed = true
	until(t, ctx, "nodestorm.state.runs[0].run.verdict === 'healthy' && document.getElementById('live').hidden")
}

// The page is for browsers on this machine, and nothing but it is there.
func TestLiveIsForThisMachine(t *testing.T) {
	g := &growing{}
	live, err := page.Serve(g.tell)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close(nil)
	if !strings.HasPrefix(live.URL(), "http://127.0.0.1:") {
		t.Errorf("it is served at %s", live.URL())
	}
	for _, test := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "", "", 200},
		{"GET", "", "evil.example", 403},
		{"GET", "data/core?revision=1", "", 410},
		{"GET", "data/../../etc/passwd", "", 404},
		{"POST", "", "", 405},
	} {
		request, err := http.NewRequest(test.method, live.URL()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.host != "" {
			request.Host = test.host
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != test.want {
			t.Errorf("%s /%s of host %q: %d %s, want %d", test.method, test.path, test.host, answer.StatusCode, text, test.want)
		}
		if answer.StatusCode == 200 && !strings.Contains(string(text), "connect-src &#39;self&#39;") {
			t.Error("the page may not fetch the run")
		}
	}
}
