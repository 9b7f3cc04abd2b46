package run_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// failures are a catalogue of two: a second claim is created, and a claim is deleted.
func failures(t *testing.T, second, deleted string) *scenarios.Catalogue {
	t.Helper()
	fsys := fstest.MapFS{}
	for id, more := range map[string]string{"karpenter-1-second": second, "karpenter-2-deleted": deleted} {
		fsys["karpenter/"+id+".yaml"] = &fstest.MapFile{Data: []byte(fmt.Sprintf(`
id: %s
title: A title
system: karpenter
autoscaler: karpenter
issue: owner/repository#1
affected: ">=v1.0.0"
fixed: none
targets: [{name: karpenter@v1.6.4, expected: reproduced}]
feature: karpenter/issue-1-a.feature
summary: What users see.
mechanism: Why.
trigger: {statement: t, sequence: [{match: {source: api}}]}
work: {source: api, actor: karpenter, count: 1}
%s
`, id, more))}
	}
	catalogue, err := scenarios.LoadFrom(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

// A symptom that is widened until it fits another failure's history is noticed there,
// unless its record names that failure as kin and the run shows it.
func TestCross(t *testing.T) {
	const (
		second = `symptom: {statement: s, sequence: [{match: {source: api, verb: create, resource: nodeclaims}, count: 2}]}`
		wide   = `symptom: {statement: s, sequence: [{match: {source: api, verb: create, resource: nodeclaims}}]}`
		delete = `symptom: {statement: d, sequence: [{match: {source: api, verb: delete, resource: nodeclaims}}]}`
		long   = `symptom: {statement: d, sequence: [{match: {source: api, resource: pods}}, {match: {source: api, resource: pods}}, {match: {source: api, verb: delete, resource: pods}}]}`
	)
	claims := []history.Event{event("create", "nodeclaims", "one", "karpenter", nil), event("delete", "nodeclaims", "one", "karpenter", nil)}
	var many []history.Event
	for range 3000 {
		many = append(many, event("create", "pods", "web", "admin", nil))
	}
	tests := []struct {
		name            string
		second, deleted string // the records' symptoms
		of              string // the run's scenario
		verdict         verdict.Verdict
		events          []history.Event
		want            string // IDs of the symptoms, or the reason to give up
	}{
		{"narrow", second, delete, "karpenter-2-deleted", verdict.Reproduced, claims, ""},
		{"widened", wide, delete, "karpenter-2-deleted", verdict.Reproduced, claims, "karpenter-1-second [1]"},
		{"its own", wide, delete, "karpenter-1-second", verdict.Reproduced, claims[:1], ""},
		{"the other way round", wide, delete, "karpenter-1-second", verdict.Reproduced, claims, "karpenter-2-deleted [2]"},
		{"kin", wide + "\nkin: [karpenter-2-deleted]", delete, "karpenter-2-deleted", verdict.Reproduced, claims, ""},
		{"kin that does not fail", wide + "\nkin: [karpenter-2-deleted]", delete, "karpenter-2-deleted", verdict.Healthy, claims, "karpenter-1-second [1]"},
		{"kin of one way only", wide + "\nkin: [karpenter-2-deleted]", delete, "karpenter-1-second", verdict.Reproduced, claims, "karpenter-2-deleted [2]"},
		{"too many", second, long, "karpenter-1-second", verdict.Reproduced, many, "karpenter-2-deleted too many events could match"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checked := run.Rechecked{Run: run.Run{ID: test.of}, Now: verdict.Judgement{Verdict: test.verdict}}
			var entries history.InMemory
			for i, e := range append(slices.Clone(test.events), history.Event{Source: history.Harness, Verb: history.Ended}) {
				entries = append(entries, history.Entry{Seq: uint64(i + 1), Event: e})
			}
			checked.Events = entries
			var got []string
			for _, of := range checked.Cross(t.Context(), failures(t, test.second, test.deleted)) {
				if of.Finding.GaveUp {
					got = append(got, of.ID+" "+of.Finding.Reason)
				} else {
					got = append(got, fmt.Sprint(of.ID, " ", of.Finding.Evidence))
				}
			}
			if len(got) > 1 || (test.want == "") != (len(got) == 0) || !strings.HasPrefix(strings.Join(got, ""), test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A run that fails in the way of other records names them.
func TestLikeness(t *testing.T) {
	const (
		second = `symptom: {statement: s, sequence: [{match: {source: api, verb: create, resource: nodeclaims}}]}`
		delete = `symptom: {statement: d, sequence: [{match: {source: api, verb: delete, resource: nodeclaims}}]}`
	)
	claims := []history.Event{event("create", "nodeclaims", "one", "karpenter", nil), event("delete", "nodeclaims", "one", "karpenter", nil)}
	for _, test := range []struct {
		of, target string
		verdict    verdict.Verdict
		events     []history.Event
		want       string
	}{
		{"karpenter-1-second", "karpenter", verdict.Failed, claims, "it shows the failure of karpenter-2-deleted"},
		{"mine", "karpenter", verdict.Failed, claims, "it shows the failure of karpenter-1-second, karpenter-2-deleted"},
		{"mine", "cluster-api", verdict.Failed, claims, ""},
		{"karpenter-1-second", "karpenter", verdict.Failed, claims[:1], ""},
		{"karpenter-1-second", "karpenter", verdict.Reproduced, claims, ""},
	} {
		r := run.Run{ID: test.of, Target: builds.Manifest{Ref: builds.Ref{Name: test.target}}}
		checked := run.Rechecked{Run: r, Now: verdict.Judgement{Verdict: test.verdict}}
		var entries history.InMemory
		for i, e := range append(slices.Clone(test.events), history.Event{Source: history.Harness, Verb: history.Ended}) {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Event: e})
		}
		checked.Events = entries
		if got := checked.Likeness(t.Context(), failures(t, second, delete)); got != test.want {
			t.Errorf("%s: %q, want %q", test.of, got, test.want)
		}
	}
}
