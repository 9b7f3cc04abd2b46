package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/run/crosscheck"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// A run whose log reports what the history does not have proves nothing.
func TestOwnLogDisagrees(t *testing.T) {
	epoch := time.Date(2026, 3, 4, 5, 6, 0, 0, time.UTC)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, LogFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "I0304 05:06:10.000000 1 executor.go:12] Scale-up: setting group a size to 1\n"
	if err := os.WriteFile(filepath.Join(dir, LogFolder, "cluster-autoscaler.log"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	call := history.Event{Source: history.Cloud, Verb: "NodeGroupIncreaseSize", Code: 200, Actor: "cluster-autoscaler", Object: history.Object{Resource: "nodegroups", Name: "a"}}
	other := call
	other.Verb = "Refresh"
	for _, test := range []struct {
		did  history.Event
		want verdict.Verdict
	}{{call, verdict.Healthy}, {other, verdict.Inconclusive}} {
		var entries history.InMemory
		for i, e := range []history.Event{test.did, history.Outcome{Role: history.Then, Text: "x", Status: "passed"}.Event(), {Source: history.Harness, Verb: history.Ended}} {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(10+20*i) * time.Second, Event: e})
		}
		r := Run{ID: "x", Epoch: epoch, Target: builds.Manifest{Ref: builds.Ref{Name: "cluster-autoscaler"}}}
		if err := r.HoldAgainstLog(t.Context(), dir, entries); err != nil {
			t.Fatal(err)
		}
		got, _ := Judge(r, scenarios.Unrecorded("x", "cluster-autoscaler"), entries)
		if lost := got.Verdict == verdict.Inconclusive; got.Verdict != test.want || lost != strings.Contains(got.Reason, "the log has the scale-up of the group a to 1 at 10s, and the history no call") {
			t.Errorf("%s: %+v, %+v", test.did.Verb, got, r.OwnLog)
		}
	}
}

// What the symptom shows is documented, and says nothing against the run.
func TestDocumentedDisagreement(t *testing.T) {
	o := &OwnLog{Disagreements: []crosscheck.Disagreement{{Lost: true, Text: "removed, and not deleted", Evidence: []uint64{9}}, {Text: "refused", Evidence: []uint64{3}}}}
	for _, test := range []struct {
		j           verdict.Judgement
		want        verdict.Verdict
		unexplained int
	}{
		{verdict.Judgement{Verdict: verdict.Reproduced, Evidence: []uint64{4, 9}}, verdict.Reproduced, 1},
		{verdict.Judgement{Verdict: verdict.Reproduced, Evidence: []uint64{4}}, verdict.Inconclusive, 2},
		{verdict.Judgement{Verdict: verdict.Failed, Evidence: []uint64{9}}, verdict.Inconclusive, 2},
		{verdict.Judgement{Verdict: verdict.Healthy}, verdict.Inconclusive, 2},
	} {
		if got := o.applyTo(test.j); got.Verdict != test.want {
			t.Errorf("%+v is weighed as %+v", test.j, got)
		}
		if said := (Run{OwnLog: o, Judgement: test.j}).Unexplained(); len(said) != test.unexplained {
			t.Errorf("%+v: %q", test.j, said)
		}
	}
}
