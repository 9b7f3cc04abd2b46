package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/workload"
	"nodestorm/reports/comparison"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/time/lag"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pod are the events of a pod that is created and bound so many seconds later, each at its second.
func pod(name string, at, waits int) map[int]history.Event {
	object := history.Object{Resource: "pods", Namespace: "default", Name: name}
	return map[int]history.Event{
		at: {Source: history.API, Verb: "create", Object: object, Actor: "kubectl", Code: 201, Detail: history.Detail{"owner": "ReplicaSet/web"}},
		at + waits: {Source: history.API, Verb: "create", Object: object, Actor: "kube-scheduler", Code: 201,
			Detail: history.Detail{"subresource": "binding", "node": "a"}},
	}
}

// stepped is the event of a step that ended.
func stepped(role history.Role, text, status string) history.Event {
	return history.Outcome{Role: role, Text: text, Status: status}.Event()
}

// store stores a run with events at their seconds; status is that of its workload, from 10 s to 100 s.
func store(t *testing.T, dir string, seed uint64, is verdict.Verdict, status string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := run.Run{ID: "small", Seed: seed, Started: start, Clock: lag.Figures{Mode: "auto"},
		Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}, SHA256: "5e4d"}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	clk := clocktesting.NewFakePassiveClock(start)
	log, err := history.Create(filepath.Join(dir, run.HistoryFile), start, clk)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]history.Event{
		10: stepped(history.Given, "a cluster", "passed"), 100: stepped(history.When, workload.StepQuotes, status),
		200: stepped(history.Then, "every pod is Running within 20m", "passed"), 201: {Source: history.Harness, Verb: history.Ended},
	}
	for _, p := range []map[int]history.Event{pod("before", 1, 5), pod("one", 20, 30), pod("two", 21, 8), pod("after", 110, 60)} {
		for second, e := range p {
			at[second] = e
		}
	}
	for second := range 202 {
		if e, is := at[second]; is {
			clk.SetTime(start.Add(time.Duration(second) * time.Second))
			log.Record(e)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	r.Judgement = verdict.Judgement{Verdict: is, Reason: "timers ran late"}
	r.Seal = &run.Seal{History: log.Digest(), Record: run.RecordDigest(scenarios.Record{ID: "small"})}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
}

// A run counts from the start of its workload to the end of that, and what does not count is said.
func TestStored(t *testing.T) {
	dir := t.TempDir()
	store(t, filepath.Join(dir, "1"), 1, verdict.Healthy, "passed")
	store(t, filepath.Join(dir, "2"), 2, verdict.Inconclusive, "passed")
	store(t, filepath.Join(dir, "3"), 3, verdict.Failed, "failed")
	store(t, filepath.Join(dir, "4"), 4, verdict.Healthy, "passed")
	changed := filepath.Join(dir, "4", run.HistoryFile)
	text, err := os.ReadFile(changed)
	if err == nil {
		err = os.WriteFile(changed, []byte(strings.Replace(string(text), `"two"`, `"too"`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	store(t, filepath.Join(dir, "5"), 5, verdict.Inconclusive, "passed")
	store(t, filepath.Join(dir, "6"), 5, verdict.Failed, "passed") // in the place of 5
	v, scenario, err := Stored(t.Context(), dir, "")
	if err != nil || scenario != "small" || !strings.HasPrefix(v.Name, "karpenter@v1.6.4 in ") || len(v.Runs) != 5 {
		t.Fatalf("%+v, %s, %v", v, scenario, err)
	}
	for i, want := range []string{"", "it is inconclusive: timers ran late", "its workload did not come to its end: failed", "was changed since the run", ""} {
		r := v.Runs[i]
		if (r.Why == "") != (want == "") || !strings.Contains(r.Why, want) || (r.Values == nil) != (want != "") {
			t.Errorf("the run of the seed %d: %q, want %q", r.Seed, r.Why, want)
		}
	}
	for name, want := range map[string]float64{measure.PodWaitMax: 30, measure.PodWaitTotal: 38, measure.APICalls: 4} {
		if got := v.Runs[0].Values[name]; got.Value != want || got.Absent != "" {
			t.Errorf("%s is %+v, want %g", name, got, want)
		}
	}
}

// What cannot be the runs of one variant is said.
func TestStoredRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Stored(t.Context(), dir, ""); err == nil || !strings.Contains(err.Error(), "there is no run.json in it or below") {
		t.Errorf("of an empty folder: %v", err)
	}
	for n := range 2 {
		store(t, filepath.Join(dir, fmt.Sprint(n)), 1, verdict.Healthy, "passed")
	}
	if _, _, err := Stored(t.Context(), dir, ""); err == nil || !strings.Contains(err.Error(), "both have the seed 1: want one run of each seed") {
		t.Errorf("of one seed twice: %v", err)
	}
	other := run.Run{ID: "small", Seed: 2, Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}}}
	if err := other.Save(filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Stored(t.Context(), dir, ""); err == nil || !strings.Contains(err.Error(), "want a folder for each variant") {
		t.Errorf("of two targets: %v", err)
	}
}

// A comparison is left in each of its formats.
func TestLeave(t *testing.T) {
	dir := t.TempDir()
	if err := Leave(dir, comparison.Compare([]comparison.Variant{{Name: "a"}, {Name: "b"}}, nil)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{PageFile: "<!doctype html>", "comparison.md": "Nothing is compared", "comparison.json": `"variants": [`} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s", file, err, text)
		}
	}
	if err := Leave(filepath.Join(dir, "none"), comparison.Comparison{}); err == nil {
		t.Error("it is left in a folder that is not there")
	}
}
