package formats_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

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
			ID: "karpenter-7515-not-ready-noexecute", Title: "A Node that is not ready yet launches a second one", Autoscaler: "karpenter", Target: target, Source: "sigs.k8s.io/karpenter",
			Kubernetes: "v1.34.4", Issue: "aws/karpenter-provider-aws#7515", Verdict: verdict, Expected: map[string]string{"expected": verdict, "regression": "healthy"}[outcome], Outcome: outcome, Reason: reason,
			Evidence: evidence, Seed: 1, Commit: "96c6f7f8867a2013ced34d5bafd588954dc95d36", Nodestorm: "96c6f7f8867a", Started: epoch, Epoch: epoch,
			Clock:  story.Clock{Mode: "auto", Virtual: 68416.1, Wall: 2184.8, Factor: 31.3, LagP50: 50, LagP99: 151, LagMax: 151},
			Repeat: "nodestorm run karpenter-7515-not-ready-noexecute --target " + target + " --seed 1",
		}
	}
	other := func(s *story.Story) *story.Story {
		s.Run.Departures = []string{s.Run.Target + " was built from 796b28ee0123 with uncommitted changes", "<b>it</b> ran as deployment.yaml (sha256 0123456789ab) has it"}
		return s
	}
	breaking := func(s *story.Story) *story.Story {
		s.Run.Broken = []string{"startup-discipline: Nothing is launched while a Node starts"}
		return s
	}
	failed := "failed: Then no more than 1 NodeClaim is created within 5m (2 NodeClaims)"
	evidence := []uint64{207, 215, 222, 224, 235, 238}
	return []*story.Story{
		breaking(readStory(t, "affected", about("karpenter@v1.6.4", "reproduced", "expected", failed, evidence...))),
		other(readStory(t, "fixed", about("karpenter@v1.7.0", "healthy", "expected", "every step passed"))),
		other(readStory(t, "affected", about("karpenter@v1.8.0", "reproduced", "regression", failed, evidence...))),
		readStory(t, "affected", about("karpenter@my-fix", "", "", "")),
	}
}

func readStory(t testing.TB, name string, about story.Run) *story.Story {
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

// FuzzFormats makes sure that nothing in a history breaks a format, and that text
// for people has nothing in it that does not print, and no markup of others.
func FuzzFormats(f *testing.F) {
	f.Add("<script>alert(1)</script>", "```\n# heading", int64(1))
	f.Add("]]>", "| a | b |\r\n\x1b[31m\xff\u202e@maintainers #1 ![x](http://x)", int64(-1<<63))
	f.Add("Feature: x\n  Scenario: y", "\"\"\"\n* * *", int64(1<<62))
	f.Add("www.evil.example", "a@b.example https://evil.example ftp://evil.example", int64(0))
	f.Fuzz(func(t *testing.T, name, text string, at int64) {
		b := story.NewBuilder(story.Run{ID: name, Title: text, Target: name, Verdict: text, Outcome: name, Reason: text, Evidence: []uint64{1, 2, 3}, Problems: []string{text}, Repeat: text, Issue: text, Epoch: time.Unix(0, at)})
		for seq, source := range history.Sources() {
			b.Add(history.Entry{Seq: uint64(seq + 1), Virtual: time.Duration(at), Event: history.Event{Source: source, Verb: text, Actor: name, Object: history.Object{Resource: "nodes", Name: text},
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
				strictJUnit(t, out)
			case "md", "issue":
				for _, r := range string(out) {
					if !unicode.IsPrint(r) && r != '\n' && r != '\u200b' {
						t.Fatalf("%s has %q", format, r)
					}
				}
				plain(t, out)
			default:
				conforms(t, format, out)
			}
		}
	})
}

func TestUnknownFormat(t *testing.T) {
	if err := formats.Write(&bytes.Buffer{}, "pdf", nil); err == nil || !strings.Contains(err.Error(), `format "pdf": want one of junit, cucumber`) {
		t.Errorf("error %v", err)
	}
}

// An inconclusive run is said to be so once.
func TestInconclusiveOnce(t *testing.T) {
	var out bytes.Buffer
	s := story.NewBuilder(story.Run{ID: "a", Target: "k@v1", Verdict: "inconclusive", Expected: "healthy", Outcome: "inconclusive", Reason: "late"}).Story()
	if err := formats.Write(&out, "md", []*story.Story{s}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "inconclusive, inconclusive") || !strings.Contains(text, "inconclusive (the catalogue expects healthy): late") {
		t.Errorf("%s", text)
	}
}
