package timeline_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"nodestorm/reports/timeline"
	"nodestorm/sim/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("../testdata", name)
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
	file, err := os.Open("../testdata/history.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	events, problems := history.Read(file)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	if err := timeline.Write(&out, events); err != nil {
		t.Fatal(err)
	}
	golden(t, "timeline.txt", out.Bytes())
}

func TestTimelineOfHostileText(t *testing.T) {
	hostile := "\x1b[31mred\x1b]0;title\a\r\n\x00\u202eevil\u2066 \xff " + strings.Repeat("long ", 1000)
	event := history.Entry{Seq: 1, Virtual: -1500 * time.Millisecond, Event: history.Event{
		Source: history.Logged, Verb: hostile, Actor: hostile, Object: history.Object{Resource: hostile, Name: hostile},
		Detail: map[string]any{hostile: hostile, "message": hostile, "list": []any{hostile, map[string]any{hostile: 1.5}}},
	}}
	var out bytes.Buffer
	if err := timeline.Write(&out, []history.Entry{event}); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	for _, r := range text {
		if !unicode.IsPrint(r) {
			t.Errorf("%q is in the timeline", r)
		}
	}
	if !strings.HasPrefix(text, "1 -0:00:01.500") || utf8.RuneCountInString(text) > 240 || !strings.Contains(text, `\x1b[31mred`) {
		t.Errorf("timeline %q", text)
	}
	golden(t, "hostile.txt", out.Bytes())
}

func TestTimelineOfConditionsThatGo(t *testing.T) {
	var events []history.Entry
	for i, conditions := range []map[string]any{{"Ready": "True", "Consolidatable": "True"}, {"Ready": "True"},
		{"Ready": "True", "Consolidatable": "True"}} {
		events = append(events, history.Entry{Seq: uint64(i), Event: history.Event{Source: history.API, Verb: "patch", Code: 200,
			Object: history.Object{Resource: "nodeclaims", Name: "a"}, Detail: map[string]any{"conditions": conditions}}})
	}
	var out bytes.Buffer
	if err := timeline.Write(&out, events); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a 200 Consolidatable=True Ready=True", "a 200 -Consolidatable", "a 200 Consolidatable=True"} {
		if line := strings.Split(out.String(), "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %d is %q, want %q at its end", i, line, want)
		}
	}
}

func TestTimelineIsTheSameLiveAndRead(t *testing.T) {
	live := []history.Entry{{Seq: 1, Event: history.Event{Source: history.API, Verb: "patch", Code: 200, Object: history.Object{Resource: "nodes", Name: "a"},
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
	if err := timeline.Write(&a, live); err != nil {
		t.Fatal(err)
	}
	if err := timeline.Write(&b, read); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() || !strings.Contains(a.String(), "nodes/a 200 +a:NoSchedule grace=30") {
		t.Errorf("live %q, read %q", a.String(), b.String())
	}
}
