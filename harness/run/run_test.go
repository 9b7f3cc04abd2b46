package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/time/lag"
)

const scenario = "karpenter-7515-not-ready-noexecute"

type detail = map[string]any

// launched is what the API server says of a second NodeClaim for a pod whose first
// machine is not ready yet, in the order of time.
var launched = []history.Event{
	event("create", "pods", "web", "admin", nil),
	event("create", "nodeclaims", "one", "karpenter", nil),
	event("patch", "nodeclaims", "one", "karpenter", detail{"providerID": "kwok://a"}),
	event("create", "nodes", "a", "karpenter", detail{"providerID": "kwok://a", "taints": []string{"karpenter.sh/unregistered:NoExecute"}}),
	event("patch", "nodes", "a", "node-controller", detail{"providerID": "kwok://a", "taints": []string{"node.kubernetes.io/not-ready:NoExecute"}}),
	event("create", "nodeclaims", "two", "karpenter", nil),
}

func event(verb, resource, name, actor string, d detail) history.Event {
	return history.Event{Source: history.API, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Actor: actor, Code: 200, Detail: d}
}

// store writes a run as a live one would and returns its folder and judgement.
func store(t *testing.T, status string, events ...history.Event) (string, verdict.Judgement) {
	t.Helper()
	return storeUnplayed(t, "", status, events...)
}

// then is a Then that no sentence says: it is taken as recorded.
const then = "no more than 1 NodeClaim"

// storeUnplayed stores a run with which something went wrong outside its history.
func storeUnplayed(t *testing.T, unplayed, status string, events ...history.Event) (string, verdict.Judgement) {
	t.Helper()
	return storeThen(t, unplayed, history.Outcome{Role: history.Then, Text: then, Status: status}, events...)
}

func storeThen(t *testing.T, unplayed string, then history.Outcome, events ...history.Event) (string, verdict.Judgement) {
	t.Helper()
	dir := t.TempDir()
	r := run.Run{ID: scenario, Unplayed: unplayed, Seed: 7, Started: time.Now(), Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}, Source: builds.Source{Kind: builds.FromModule, Module: builds.Modules["karpenter"], Version: "v1.6.4", Package: "./kwok"}, SHA256: "5e4d"},
		Clock: lag.Figures{Mode: "auto"}, Expected: scenarios.Reproduced}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	clk := clocktesting.NewFakePassiveClock(start)
	log, err := history.Create(filepath.Join(dir, run.HistoryFile), start, clk)
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, then.Event(),
		history.Event{Source: history.Harness, Verb: history.Ended})
	for i, e := range events {
		clk.SetTime(start.Add(time.Duration(i) * time.Second))
		log.Record(e)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	catalogue := load(t)
	record, err := catalogue.Lookup(scenario)
	if err != nil {
		t.Fatal(err)
	}
	r.Judgement, _ = run.Judge(r, record, history.InMemory(log.Events()))
	r.Seal = &run.Seal{History: log.Digest(), Record: run.RecordDigest(record)}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir, r.Judgement
}

func load(t *testing.T) *scenarios.Catalogue {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

func TestRecheckAgreesWithLive(t *testing.T) {
	bound := event("create", "pods", "web", "kube-scheduler", detail{"subresource": "binding", "node": "a"})
	tests := []struct {
		name, status, unplayed string
		events                 []history.Event
		want                   verdict.Verdict
	}{
		{"second claim", "failed", "", launched, verdict.Reproduced},
		{"one claim", "passed", "", launched[:5], verdict.Healthy},
		{"second claim after the pod was bound", "failed", "", append(append([]history.Event{}, launched[:5]...), bound, launched[5]), verdict.Failed},
		{"second claim, and no time", "failed", "virtual time stood still", launched, verdict.Inconclusive},
		{"one claim, and a world that did not end", "passed", "after the last step: etcd is still there", launched[:5], verdict.Inconclusive},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, live := storeUnplayed(t, test.unplayed, test.status, test.events...)
			again, err := run.Recheck(t.Context(), dir, kept.Records(load(t)))
			if err != nil {
				t.Fatal(err)
			}
			if live.Verdict != test.want || again.Now.Verdict != test.want || again.Run.Verdict != test.want || again.Now.Reason != live.Reason {
				t.Errorf("live %+v, stored %+v, again %+v; want %s", live, again.Run.Judgement, again.Now, test.want)
			}
			if test.unplayed != "" && live.Reason != test.unplayed {
				t.Errorf("the reason is %q, want %q", live.Reason, test.unplayed)
			}
			if again.Expected != scenarios.Reproduced || again.Run.Seed != 7 || len(again.Doubts) != 0 || again.Changed {
				t.Errorf("rechecked %+v", again)
			}
		})
	}
}

// Reasons in words that nodestorm has replaced since are no difference; any other reason is.
func TestRecheckOfOlderWords(t *testing.T) {
	r := run.Rechecked{Run: run.Run{}}
	r.Run.Judgement.Verdict, r.Now.Verdict = verdict.Failed, verdict.Failed
	for was, now := range map[string]string{
		`"a" is there 2 times within 1m0s, of 1 at most (records 5 6)`:     `"a" was seen 2 times within 1m0s, at most 1 allowed (events 5 6)`,
		`"a" is there 0 times, of 1 at least, since record 3`:              `"a" was seen 0 times, at least 1 required, since event 3`,
		`"a" is 1 times in the history since the last When, of 2 at least`: `"a" was seen 1 time since the last When, at least 2 required`,
		`the history has no record from the source api`:                    `the history has no event from the source api`,
		`"b" is not there`: `"b" was not seen`,
	} {
		for _, test := range []struct {
			was, now string
			same     bool
		}{{was, now, true}, {was, was, true}, {was, strings.Replace(now, "\"", "\"c", 1) + " 7", false}} {
			r.Run.Judgement.Reason, r.Now.Reason = test.was, test.now
			if got := r.Differences(); (len(got) == 0) != test.same {
				t.Errorf("%q and now %q: %q", test.was, test.now, got)
			}
		}
	}
}

// A run whose recorded outcome of a Then was changed, with digests that fit, is judged by
// what its history says. So is one whose live judge was another.
func TestRecheckJudgesThens(t *testing.T) {
	const real = "5s from now, exactly 1 NodeClaim has been created since the start"
	for _, test := range []struct {
		recorded, changed string
		events            []history.Event
		want              verdict.Verdict
		difference        string
	}{
		{"failed", "passed", launched, verdict.Reproduced, "was recorded as passed, the history says failed: \"api create nodeclaims\" was seen 2 times, at most 1 allowed"},
		{"passed", "failed", launched[:5], verdict.Healthy, "was recorded as failed, the history says passed"},
		{"failed", "failed", launched, verdict.Reproduced, ""},
		{"passed", "passed", launched[:5], verdict.Healthy, ""},
		{"passed", "passed", launched[:3:3], verdict.Inconclusive, "was recorded as passed, the history says undecided: its window ends at 5s, and the history at 4s"},
	} {
		dir, live := storeThen(t, "", history.Outcome{Role: history.Then, Text: real, Status: test.recorded}, test.events...)
		file := filepath.Join(dir, run.HistoryFile)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.Replace(string(text), `"source":"step","verb":"`+test.recorded, `"source":"step","verb":"`+test.changed, 1))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run.Reseal(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		again, err := run.Recheck(t.Context(), dir, kept.Records(load(t)))
		if err != nil {
			t.Fatal(err)
		}
		if live.Verdict != test.want || again.Now.Verdict != test.want || again.Thens.Again != 1 || again.Thens.AsRecorded != 0 || len(again.Doubts) != 0 {
			t.Errorf("recorded as %s, changed to %s: live %+v, again %+v %+v, want %s", test.recorded, test.changed, live, again.Now, again.Thens, test.want)
		}
		if said := strings.Join(again.Differences(), "\n"); !strings.Contains(said, test.difference) || (test.difference == "") != (said == "") {
			t.Errorf("recorded as %s, changed to %s: differences %q, want %q", test.recorded, test.changed, said, test.difference)
		}
	}
}

func TestRecheckRefuses(t *testing.T) {
	write := func(file, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"no run.json", remove(run.File), "is no folder of a run: it has no run.json"},
		{"no history", remove(run.HistoryFile), "has no history.ndjson"},
		{"cut off", write(run.File, `{"format": 1, "id": "kar`), "is cut off after 24 bytes"},
		{"damaged", write(run.File, `{"format": one}`), "is damaged"},
		{"foreign", write(run.File, `{"name": "x"}`), "was not written by nodestorm"},
		{"later format", write(run.File, `{"format": 9, "id": "x", "commit": "abc"}`), `has format 9, this nodestorm reads formats up to 2: use the nodestorm that made the run (commit "abc")`},
		{"huge", write(run.File, strings.Repeat(" ", 5<<20)), "it has more than 4 MiB"},
		{"unknown scenario", write(run.File, `{"format": 1, "id": "x"}`), `unknown scenario "x"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, _ := store(t, "failed", launched...)
			test.change(t, dir)
			if _, err := run.Recheck(t.Context(), dir, kept.Records(load(t))); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	if _, err := run.Recheck(t.Context(), filepath.Join(t.TempDir(), "none"), kept.Records(load(t))); err == nil || !strings.Contains(err.Error(), "is no folder of a run") {
		t.Errorf("error %v", err)
	}
}

func TestSaveLeavesNothingBehind(t *testing.T) {
	if err := (run.Run{ID: "x"}).Save(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "writing run.json") {
		t.Errorf("saving into a folder that is not there: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, run.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (run.Run{ID: "x"}).Save(dir); err == nil {
		t.Error("saved over a folder")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
