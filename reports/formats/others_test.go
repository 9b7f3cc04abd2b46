package formats_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"
	"github.com/joshdk/go-junit"
)

func TestJUnitForOthers(t *testing.T) {
	all := runs(t)
	other := runs(t)[0]
	other.Run.Target, other.Run.Verdict, other.Run.Outcome = "karpenter@v1.9.0", "failed", "not as expected"
	suites, err := junit.Ingest(written(t, "junit", append(all, other)...))
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
		"failed karpenter-7515-not-ready-noexecute on karpenter@v1.8.0; skipped karpenter-7515-not-ready-noexecute on karpenter@my-fix; " +
		"failed karpenter-7515-not-ready-noexecute on karpenter@v1.9.0"
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
		Results struct {
			Summary map[string]int64
			Tests   []struct{ Status string }
		}
	}
	if err := json.Unmarshal(written(t, "ctrf", runs(t)...), &report); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{"tests": int64(len(report.Results.Tests)), "passed": 0, "failed": 0, "skipped": 0, "pending": 0, "other": 0}
	for _, test := range report.Results.Tests {
		counts[test.Status]++
	}
	for status, n := range counts {
		if report.Results.Summary[status] != n {
			t.Errorf("summary.%s is %d, of %d tests", status, report.Results.Summary[status], n)
		}
	}
	if counts["tests"] != 4 || counts["passed"] != 2 || counts["failed"] != 1 || counts["other"] != 1 {
		t.Errorf("tests by status: %v", counts)
	}
}

// Slices of a thread must nest: of those that overlap otherwise Perfetto drops one.
func TestTraceForOthers(t *testing.T) {
	type event struct {
		Name, Ph string
		TS, Dur  float64
		PID, TID int
	}
	var trace struct{ TraceEvents []event }
	if err := json.Unmarshal(written(t, "trace", runs(t)...), &trace); err != nil {
		t.Fatal(err)
	}
	phases, threads := map[string]int{}, map[[2]int][]event{}
	for _, e := range trace.TraceEvents {
		phases[e.Ph]++
		if e.Ph == "X" {
			threads[[2]int{e.PID, e.TID}] = append(threads[[2]int{e.PID, e.TID}], e)
		}
	}
	if phases["X"] < 20 || phases["i"] < 200 || phases["C"] < 20 || phases["M"] < 20 {
		t.Errorf("phases %v", phases)
	}
	for _, thread := range threads {
		slices.SortStableFunc(thread, func(a, b event) int { return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur)) })
		var within []event
		for _, e := range thread {
			const grain = 1e-4 // µs: floats are not exact, and nothing is shorter than 1e-3
			for len(within) > 0 && within[len(within)-1].TS+within[len(within)-1].Dur < e.TS+grain {
				within = within[:len(within)-1]
			}
			if n := len(within); n > 0 && within[n-1].TS+within[n-1].Dur+grain < e.TS+e.Dur {
				t.Errorf("%q at %.0f begins within %q and ends after it", e.Name, e.TS, within[n-1].Name)
			}
			within = append(within, e)
		}
	}
}
