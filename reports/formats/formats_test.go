package formats_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"
	"github.com/joshdk/go-junit"

	"nodestorm/reports/formats"
	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

var epoch = time.Date(2026, 11, 21, 13, 56, 6, 324000000, time.UTC)

// runs are a real run that shows a failure, one that does not, one that is not as
// expected, and one without a verdict.
func runs(t testing.TB) []*story.Story {
	t.Helper()
	about := func(target, verdict, outcome, reason string, evidence ...uint64) story.Run {
		return story.Run{
			ID: "karpenter-7515-not-ready-noexecute", Title: "A Node that is not ready yet buys a second one", Autoscaler: "karpenter", Target: target, Source: "sigs.k8s.io/karpenter",
			Kubernetes: "v1.34.4", Issue: "aws/karpenter-provider-aws#7515", Verdict: verdict, Expected: map[string]string{"expected": verdict, "regression": "healthy"}[outcome], Outcome: outcome, Reason: reason,
			Evidence: evidence, Seed: 1, Commit: "96c6f7f8867a2013ced34d5bafd588954dc95d36", Started: epoch, Epoch: epoch,
			Clock:  story.Clock{Mode: "auto", Virtual: 68416.1, Wall: 2184.8, Factor: 31.3, LagP50: 50, LagP99: 151, LagMax: 151},
			Repeat: "nodestorm run karpenter-7515-not-ready-noexecute --target " + target + " --seed 1",
		}
	}
	failed := "failed: Then no more than 1 NodeClaim is created within 5m (2 NodeClaims)"
	evidence := []uint64{207, 215, 222, 224, 235, 238}
	return []*story.Story{
		tell(t, "affected", about("karpenter@v1.6.4", "reproduced", "expected", failed, evidence...)),
		tell(t, "fixed", about("karpenter@v1.7.0", "healthy", "expected", "every step passed")),
		tell(t, "affected", about("karpenter@v1.8.0", "reproduced", "regression", failed, evidence...)),
		tell(t, "affected", about("karpenter@my-fix", "", "", "")),
	}
}

func tell(t testing.TB, name string, about story.Run) *story.Story {
	t.Helper()
	text, err := os.ReadFile("../page/testdata/" + name + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	b := story.NewBuilder(about)
	history.Scan(bytes.NewReader(text), b.Add)
	return b.Story()
}

func written(t testing.TB, format string, stories ...*story.Story) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := formats.Write(&out, format, stories); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	for _, format := range formats.Names() {
		got := written(t, format, runs(t)...)
		if format == "messages" { // the machine is in its first line
			_, got, _ = bytes.Cut(got, []byte("\n"))
		}
		path := filepath.Join("testdata", "runs."+format)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs (go test -update writes it anew)", path)
		}
	}
}

func TestJUnitForOthers(t *testing.T) {
	suites, err := junit.Ingest(written(t, "junit", runs(t)...))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range suites {
		for _, c := range s.Tests {
			got = append(got, string(c.Status)+" "+c.Name)
		}
	}
	want := "passed karpenter-7515-not-ready-noexecute on karpenter@v1.6.4; passed karpenter-7515-not-ready-noexecute on karpenter@v1.7.0; " +
		"failed karpenter-7515-not-ready-noexecute on karpenter@v1.8.0; skipped karpenter-7515-not-ready-noexecute on karpenter@my-fix"
	if strings.Join(got, "; ") != want {
		t.Errorf("another reader understands %q", got)
	}
}

// Every message refers to what was sent before, as the protocol wants it.
func TestMessagesForOthers(t *testing.T) {
	known := map[string]string{} // ID → what it is of
	need := func(kind, id string) {
		t.Helper()
		if known[id] != kind {
			t.Errorf("ID %s is of %q, want %s", id, known[id], kind)
		}
	}
	make := func(kind, id string) {
		t.Helper()
		if known[id] != "" {
			t.Errorf("ID %s is given twice, to %s and %s", id, known[id], kind)
		}
		known[id] = kind
	}
	statuses, attachments := map[messages.TestStepResultStatus]int{}, 0
	lines := bufio.NewScanner(bytes.NewReader(written(t, "messages", runs(t)...)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e messages.Envelope
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		switch {
		case e.Source != nil:
			if _, err := gherkin.ParseGherkinDocument(strings.NewReader(e.Source.Data), func() string { return "" }); err != nil {
				t.Error(err)
			}
		case e.Pickle != nil:
			make("pickle", e.Pickle.Id)
			for _, s := range e.Pickle.Steps {
				make("pickle step", s.Id)
			}
		case e.TestCase != nil:
			need("pickle", e.TestCase.PickleId)
			make("case", e.TestCase.Id)
			for _, s := range e.TestCase.TestSteps {
				need("pickle step", s.PickleStepId)
				make("step", s.Id)
			}
		case e.TestCaseStarted != nil:
			need("case", e.TestCaseStarted.TestCaseId)
			make("attempt", e.TestCaseStarted.Id)
		case e.TestStepStarted != nil:
			need("attempt", e.TestStepStarted.TestCaseStartedId)
			need("step", e.TestStepStarted.TestStepId)
		case e.TestStepFinished != nil:
			need("attempt", e.TestStepFinished.TestCaseStartedId)
			statuses[e.TestStepFinished.TestStepResult.Status]++
		case e.Attachment != nil:
			attachments++
			need("step", e.Attachment.TestStepId)
			if _, err := base64.StdEncoding.DecodeString(e.Attachment.Body); err != nil {
				t.Error(err)
			}
		case e.TestCaseFinished != nil:
			need("attempt", e.TestCaseFinished.TestCaseStartedId)
		}
	}
	if statuses["FAILED"] != 3 || statuses["PASSED"] != 3*5+7 || attachments != 8 {
		t.Errorf("statuses %v, %d attachments", statuses, attachments)
	}
}

func TestCTRFForOthers(t *testing.T) {
	var report struct {
		ReportFormat, SpecVersion string
		Results                   struct {
			Tool    struct{ Name string }
			Summary map[string]int64
			Tests   []struct {
				Name, Status string
				Duration     *int64
			}
		}
	}
	if err := json.Unmarshal(written(t, "ctrf", runs(t)...), &report); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, test := range report.Results.Tests {
		if test.Name == "" || test.Duration == nil || !strings.Contains(" passed failed skipped pending other ", " "+test.Status+" ") {
			t.Errorf("test %+v lacks what the schema requires", test)
		}
		counts[test.Status]++
	}
	for _, field := range []string{"tests", "passed", "failed", "pending", "skipped", "other", "start", "stop"} {
		value, there := report.Results.Summary[field]
		if !there {
			t.Errorf("summary.%s is missing", field)
		}
		if _, counted := counts[field]; counted && value != counts[field] {
			t.Errorf("summary.%s is %d, of %d tests", field, value, counts[field])
		}
	}
	if report.ReportFormat != "CTRF" || report.SpecVersion == "" || report.Results.Tool.Name != "nodestorm" || report.Results.Summary["tests"] != 4 {
		t.Errorf("report %+v", report)
	}
}

// What Perfetto and chrome://tracing need of every event.
func TestTraceForOthers(t *testing.T) {
	var trace struct {
		TraceEvents []struct {
			Name, Ph, S string
			TS, Dur     *float64
			PID, TID    *int
			Args        map[string]any
		}
	}
	if err := json.Unmarshal(written(t, "trace", runs(t)...), &trace); err != nil {
		t.Fatal(err)
	}
	phases := map[string]int{}
	for _, e := range trace.TraceEvents {
		phases[e.Ph]++
		if e.Name == "" || e.TS == nil || e.PID == nil || e.TID == nil || e.Ph == "X" && (e.Dur == nil || *e.Dur < 0) || e.Ph == "i" && e.S != "t" ||
			e.Ph == "C" && e.Args["value"] == nil || e.Ph == "M" && e.Args["name"] == nil {
			t.Errorf("event %+v lacks what its phase needs", e)
		}
	}
	if phases["X"] < 20 || phases["i"] < 200 || phases["C"] < 20 || phases["M"] < 20 {
		t.Errorf("phases %v", phases)
	}
}

// FuzzFormats makes sure that nothing in a history breaks a format, and that text
// for people has nothing in it that does not print.
func FuzzFormats(f *testing.F) {
	f.Add("<script>alert(1)</script>", "```\n# heading", int64(1))
	f.Add("]]>", "| a | b |\r\n\x1b[31m\xff\u202e@maintainers #1 ![x](http://x)", int64(-1<<63))
	f.Add("Feature: x\n  Scenario: y", "\"\"\"\n* * *", int64(1<<62))
	f.Fuzz(func(t *testing.T, name, text string, at int64) {
		b := story.NewBuilder(story.Run{ID: name, Title: text, Target: name, Verdict: text, Outcome: name, Reason: text, Evidence: []uint64{1, 2, 3}, Problems: []string{text}, Repeat: text, Issue: text, Epoch: time.Unix(0, at)})
		for seq, source := range history.Sources() {
			b.Add(history.Record{Seq: uint64(seq + 1), Virtual: time.Duration(at), Event: history.Event{Source: source, Verb: text, Actor: name, Object: history.Object{Resource: "nodes", Name: text},
				Detail: map[string]any{"text": text, "kind": "Outcome", "error": text, "message": text, "providerID": name, "added": []any{text}}}})
		}
		s := b.Story()
		for _, format := range formats.Names() {
			out := written(t, format, s)
			switch format {
			case "junit":
				if _, err := junit.Ingest(out); err != nil {
					t.Errorf("junit: %v", err)
				}
			case "md", "issue":
				for _, r := range string(out) {
					if !unicode.IsPrint(r) && r != '\n' && r != '\u200b' {
						t.Fatalf("%s has %q", format, r)
					}
				}
			case "messages":
			default:
				if !json.Valid(out) {
					t.Errorf("%s is no JSON", format)
				}
			}
		}
	})
}

func TestUnknownFormat(t *testing.T) {
	if err := formats.Write(&bytes.Buffer{}, "pdf", nil); err == nil || !strings.Contains(err.Error(), `format "pdf": want one of junit, messages`) {
		t.Errorf("error %v", err)
	}
}
