package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/sim/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

// affected and fixed are a real run of karpenter-7515-not-ready-noexecute each,
// without most of the control plane's housekeeping.
var (
	affected = story.Run{
		ID: "karpenter-7515-not-ready-noexecute", Title: "A Node that is not ready yet launches a second one", Autoscaler: "karpenter",
		Mechanism: "Karpenter takes the taint of a Node that is not ready for a reason to launch another one.",
		Issue:     "aws/karpenter-provider-aws#7515", Fix: "kubernetes-sigs/karpenter#2265", Kubernetes: "v1.34.4",
		Target: "karpenter@v1.6.4", Verdict: "reproduced", Expected: "reproduced", Outcome: "expected",
		Reason:   "failed: Then no more than 1 NodeClaim is created within 5m (2 NodeClaims: default-pvqrf, 40.1s after default-6sgc7); the symptom is in the history: …",
		Evidence: []uint64{207, 215, 222, 224, 235, 238}, Seed: 1, Started: epoch, Epoch: epoch, HourlyEUR: 0.5,
		Broken:     []string{"startup-discipline: No instance is launched for a pod while the Node of an earlier one starts", "<i>: no <b>"},
		Departures: []string{"karpenter@v1.6.4 was built from 796b28ee0123 with uncommitted changes", "<b>it</b> ran as deployment.yaml (sha256 0123456789ab) has it"},
		Nodestorm:  "96c6f7f8867a with uncommitted changes", Builds: []string{"kubernetes@v1.34.4 sha256 0123456789ab", "nodestorm sha256 ab0123456789"},
		Clock: story.Clock{Mode: "auto", Virtual: 68416, Wall: 2185, Factor: 31.3, LagP50: 50, LagP99: 151, LagMax: 151, Programs: []table.Program{
			{Name: "etcd", Timers: 700, P99: 150.9, Max: 151},
			{Name: "karpenter", Timers: 90, P99: 151, Max: 19900, Stopped: 20000, Distorted: "stopped for 20s (at most 2s)"},
			{Name: "<i>", Timers: 5, P99: 1, Max: 200, Disk: 12},
		}},
	}
	fixed = story.Run{
		ID: affected.ID, Title: affected.Title, Autoscaler: "karpenter", Target: "karpenter@v1.7.0", Verdict: "healthy", Expected: "healthy", Outcome: "expected",
		Reason: "every step passed", Seed: 1, Started: epoch, Epoch: epoch, HourlyEUR: 0.5,
	}
	epoch = time.Date(2026, 11, 21, 13, 56, 6, 324000000, time.UTC)
)

const karpenterLog = `{"level":"INFO","time":"2026-11-21T13:56:38.115Z","logger":"controller","message":"found provisionable pod(s)","Pods":"default/web"}
{"level":"ERROR","time":"2026-11-21T13:57:18.223Z","logger":"controller","message":"a line to be found"}
	continued on the next line
I1121 13:57:18.300000       1 klog.go:1] "<img src=x onerror=alert(1)>" a=1
`

func readStory(t testing.TB, name string, about story.Run) *story.Story {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return storyOf(t, about, string(text))
}

func storyOf(t testing.TB, about story.Run, text string) *story.Story {
	t.Helper()
	b := story.NewBuilder(about)
	history.Scan(strings.NewReader(text), b.Add)
	return b.Story()
}

// write writes a page into a file of its own.
func write(t testing.TB, runs ...page.Run) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(file, runs...); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The text of a page is the same for the same run; what is packed is looked at by
// the tests in a browser.
func TestPageText(t *testing.T) {
	var out bytes.Buffer
	if err := page.Write(&out, page.Run{Story: readStory(t, "affected.ndjson", affected)}, page.Run{Story: readStory(t, "fixed.ndjson", fixed)}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, part := range [][2]string{{"<style>", "</style>"}, {"<script", "</html>"}, {`content="default-src`, `"`}} {
		from := strings.Index(text, part[0])
		to := from + len(part[0]) + strings.Index(text[from+len(part[0]):], part[1])
		text = text[:from+len(part[0])] + "…" + text[to:]
	}
	path := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s", path, text)
	}
}

// A commit between releases is in no range of a record: what shows there is no surprise.
func TestPageOfACommit(t *testing.T) {
	run := affected
	run.Target, run.Expected, run.Outcome = "karpenter@280d3fbe4f31", "", "not as expected"
	var out bytes.Buffer
	if err := page.Write(&out, page.Run{Story: readStory(t, "affected.ndjson", run)}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "the catalogue expects nothing of this build") || strings.Contains(text, `"outcome">not as expected`) {
		t.Error("the page of a commit says that it is not as expected")
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	text, err := os.ReadFile(write(t, page.Run{Story: readStory(t, "affected.ndjson", affected)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{" src=", "<link", "@import", "url(http", "<iframe", "<form"} {
		if bytes.Contains(text, []byte(outside)) {
			t.Errorf("the page has %q", outside)
		}
	}
	if !bytes.Contains(text, []byte("default-src &#39;none&#39;; script-src &#39;sha256-")) {
		t.Error("the page has no policy that allows its own script only")
	}
}

func TestPageOfNothing(t *testing.T) {
	if err := page.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "one run or two, not 0") {
		t.Errorf("error %v", err)
	}
	if err := page.Write(&bytes.Buffer{}, page.Run{Story: storyOf(t, story.Run{}, "")}); err != nil {
		t.Errorf("a run without a record: %v", err)
	}
}

// Whatever a history holds, a page comes of it, and none of its text is markup.
func FuzzPage(f *testing.F) {
	f.Add("web", "<script>alert(1)</script>", int64(1), "\x1b[31m\xff\u202e")
	f.Add("</script><img src=x onerror=alert(1)>", "create", int64(-1<<63), `{"a":"]]>"}`)
	f.Add("dear", "create", int64(math.Float64bits(1e308)), "")
	f.Add("a\x00b", "<!--", int64(1<<62), strings.Repeat("long ", 1000))
	f.Fuzz(func(t *testing.T, name, verb string, at int64, text string) {
		b := story.NewBuilder(story.Run{ID: name, Title: text, Target: verb, Verdict: "reproduced", Reason: text, Evidence: []uint64{1, 2}, Problems: []string{text}, Settings: []string{text}, Issue: name, Repeat: text})
		for seq, source := range history.Sources() {
			b.Add(history.Entry{Seq: uint64(seq + 1), Virtual: time.Duration(at) + time.Duration(seq), Real: time.Duration(-at), Event: history.Event{
				Source: source, Verb: verb, Actor: name, Object: history.Object{Resource: "pods", Namespace: text, Name: name},
				Detail: map[string]any{"message": text, "text": text, "kind": "Action", "Pods": name, "node": name, "taints": []any{text}, "added": []any{text, 1.5}, "ready": text, text: verb},
			}})
		}
		for seq := range 3 {
			b.Add(history.Entry{Seq: uint64(100 + seq), Virtual: time.Duration(seq) * time.Hour, Event: history.Event{
				Source: history.Cloud, Verb: "created", Object: history.Object{Resource: "instances", Name: fmt.Sprint(name, seq)},
				Detail: map[string]any{"hourlyEUR": math.Float64frombits(uint64(at)), "group": text},
			}})
		}
		var out bytes.Buffer
		if err := page.Write(&out, page.Run{Story: b.Story(), Logs: []page.Log{{Name: name, Text: strings.NewReader(text)}}}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.ToLower(out.String()), "<script"); n != 6 {
			t.Errorf("%d scripts, want the four sections, the resources and our own", n)
		}
		if strings.Contains(out.String(), "<img") || strings.ContainsAny(out.String(), "\x1b\x00\u202e") {
			t.Error("text of the history is in the page as it was")
		}
	})
}

// A world that a user keeps has no verdict to wait for.
func TestPageOfAWorldThatStays(t *testing.T) {
	for unjudged, want := range map[bool]string{true: "no verdict: nothing is judged in a world that stays", false: "no verdict yet"} {
		b := story.NewBuilder(story.Run{ID: "nodestorm up", Live: true, Unjudged: unjudged})
		text, err := os.ReadFile(write(t, page.Run{Story: b.Story()}))
		if err != nil || strings.Count(string(text), ">"+want+"<") != 1 {
			t.Errorf("unjudged %t: want %q, %v", unjudged, want, err)
		}
	}
}
