package reports_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"nodestorm/reports"
	"nodestorm/sim/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew); got:\n%s", path, got)
	}
}

func TestTimeline(t *testing.T) {
	file, err := os.Open("testdata/history.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, problems := history.Read(file)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	if err := reports.Timeline(&out, records); err != nil {
		t.Fatal(err)
	}
	golden(t, "timeline.txt", out.Bytes())
}

func TestTimelineOfHostileText(t *testing.T) {
	hostile := "\x1b[31mred\x1b]0;title\a\r\n\x00\u202eevil\u2066 \xff " + strings.Repeat("long ", 1000)
	record := history.Record{Seq: 1, Virtual: -1500 * time.Millisecond, Event: history.Event{
		Source: history.Logged, Verb: hostile, Actor: hostile, Object: history.Object{Resource: hostile, Name: hostile},
		Detail: map[string]any{hostile: hostile, "message": hostile, "list": []any{hostile, map[string]any{hostile: 1.5}}},
	}}
	var out bytes.Buffer
	if err := reports.Timeline(&out, []history.Record{record}); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	for _, r := range text {
		if !unicode.IsPrint(r) {
			t.Errorf("%q is in the timeline", r)
		}
	}
	if !strings.HasPrefix(text, "-0:00:01.500") || utf8.RuneCountInString(text) > 240 || !strings.Contains(text, `\x1b[31mred`) {
		t.Errorf("timeline %q", text)
	}
	golden(t, "hostile.txt", out.Bytes())
}

func TestTimelineIsTheSameLiveAndRead(t *testing.T) {
	live := []history.Record{{Seq: 1, Event: history.Event{Source: history.API, Verb: "patch", Code: 200, Object: history.Object{Resource: "nodes", Name: "a"},
		Detail: map[string]any{"taints": []string{"a:NoSchedule"}, "added": []string{"a:NoSchedule"}, "grace": int64(30)}}}}
	text, err := json.Marshal(live[0])
	if err != nil {
		t.Fatal(err)
	}
	read, problems := history.Read(bytes.NewReader(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var a, b bytes.Buffer
	if err := reports.Timeline(&a, live); err != nil {
		t.Fatal(err)
	}
	if err := reports.Timeline(&b, read); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || !strings.Contains(a.String(), "nodes/a 200 +a:NoSchedule grace=30") {
		t.Errorf("live %q, read %q", a.String(), b.String())
	}
}

var rows = []reports.Row{
	{ID: "karpenter-7515-not-ready-noexecute", Target: "karpenter@v1.6.4", Expected: "reproduced", Verdict: "reproduced", Outcome: "expected",
		WallSeconds: 17.23, VirtualSeconds: 372.6, Factor: 118.2, LagP99Ms: 41.7, Run: "runs/1"},
	{ID: "karpenter-7515-not-ready-noexecute", Target: "karpenter@v1.7.0", Expected: "healthy", Verdict: "reproduced", Outcome: "regression",
		Reason: "failed: Then no more than 1 NodeClaim is created within 5m", WallSeconds: 15, VirtualSeconds: 320, Factor: 101, LagP99Ms: 40, Run: "runs/2"},
	{ID: "karpenter-7515-startup-taint-declared", Target: "karpenter@v9.9.9", Expected: "", Verdict: "skipped", Outcome: "skipped",
		Reason: "karpenter@v9.9.9 is not in the store; get it with: nodestorm target build karpenter@v9.9.9", Factor: math.NaN()},
	{ID: "karpenter-7515-startup-taint-undeclared", Target: "karpenter@v9.9.9", Expected: "reproduced", Verdict: "skipped", Outcome: "skipped",
		Reason: "karpenter@v9.9.9 is not in the store; get it with: nodestorm target build karpenter@v9.9.9"},
	{ID: "karpenter-7515-startup-taint-undeclared", Target: "karpenter@v1.7.0", Expected: "reproduced", Verdict: "inconclusive", Outcome: "inconclusive",
		Reason: "the clock was distorted\nand more", WallSeconds: 200, VirtualSeconds: 5025, Factor: 25, LagP99Ms: 1234.5, Run: "runs/3",
		Programs: []reports.Program{{Name: "karpenter", Vital: true, Timers: 90, P99: 1234.5, Max: 19900, Stopped: 20000, Distorted: "stopped for 20s (at most 2s)"}}},
}

func TestTable(t *testing.T) {
	for name, rows := range map[string][]reports.Row{"verify.txt": rows, "verify-nothing.txt": nil, "verify-skipped.txt": rows[2:4]} {
		var out bytes.Buffer
		if err := reports.Table(&out, 0, rows); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
	}
}

// The release of Kubernetes is in the table if it is another than nodestorm's own.
func TestTableOfKubernetes(t *testing.T) {
	other := slices.Clone(rows)
	other[0].Kubernetes = "v1.36.3"
	var out bytes.Buffer
	if err := reports.Table(&out, 0, other); err != nil {
		t.Fatal(err)
	}
	golden(t, "verify-kubernetes.txt", out.Bytes())
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := reports.JSON(&out, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "verify.json", out.Bytes())
	out.Reset()
	if err := reports.JSON(&out, nil); err != nil || strings.TrimSpace(out.String()) != "[]" {
		t.Errorf("no rows: %q, %v", out.String(), err)
	}
}

// GitHub makes links of these by itself, whatever Markdown says.
func TestMarkdownIsNoLink(t *testing.T) {
	for _, text := range []string{"@maintainers", "a@b.example", "#1", "o/r#1", "GH-1", "www.evil.example", "https://evil.example"} {
		if got := reports.Markdown(text); strings.Contains(got, text) || strings.ReplaceAll(strings.ReplaceAll(got, "\u200b", ""), `\`, "") != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{"karpenter@v1.6.4": "`karpenter@v1.6.4`", "a`b": "a\\`b", "": ""} {
		if got := reports.MarkdownName(text); got != want {
			t.Errorf("the name %q became %q, want %q", text, got, want)
		}
	}
}
