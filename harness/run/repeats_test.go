package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// The error that a target logs in every round is part of why its run could not be set up, and of no other run.
func TestRepeats(t *testing.T) {
	const (
		once = "E0304 05:06:09.000000       1 main.go:12] \"once\" err=\"no\"\n"
		klog = "I0304 05:06:10.000000       1 a.go:12] Failed to list: quiet\n" + once +
			"E0304 05:06:10.000000       1 a.go:12] \"Failed to list\" node=\"a-1\"\n" +
			"E0304 05:06:20.000000       1 a.go:12] \"Failed to list\" node=\"a-2\"\n" +
			"E0304 05:06:30.000000       1 a.go:12] \"Failed to list\" node=\"b-37\"\n"
		zap = `{"level":"ERROR","time":"t","message":"Reconciler error","error":"no class 7"}` + "\n"
	)
	given := func(status string) history.Event {
		return history.Outcome{Role: history.Given, Text: "a pod", Status: status}.Event()
	}
	for name, test := range map[string]struct {
		log  string
		step history.Event
		want string // at the end of the reason; empty: nothing of the log
	}{
		"klog":             {klog, given("failed"), `; x has logged this error 3 times: "Failed to list" node="b-37"`},
		"zap":              {zap + zap + once + zap + zap, given("failed"), "; x has logged this error 4 times: Reconciler error: no class 7"},
		"twice":            {zap + zap, given("failed"), ""},
		"set up":           {klog, given("passed"), ""},
		"the line is long": {strings.Repeat("E", 1<<20) + "\n" + klog, given("failed"), `node="b-37"`},
		"no log":           {"", given("failed"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, LogFolder), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, LogFolder, "x.log"), []byte(test.log), 0o644); err != nil {
				t.Fatal(err)
			}
			events := history.InMemory{{Seq: 1, Event: test.step}, {Seq: 2, Event: history.Event{Source: history.Harness, Verb: history.Ended}}}
			r := Run{ID: "x", Target: builds.Manifest{Ref: builds.Ref{Name: "x"}}}
			if err := r.HoldAgainstLog(t.Context(), dir, events); err != nil {
				t.Fatal(err)
			}
			j, _ := Judge(r, scenarios.Unrecorded("x", "x"), events)
			if j.Verdict != verdict.Inconclusive || !strings.HasSuffix(j.Reason, test.want) || test.want == "" && strings.Contains(j.Reason, "has logged") {
				t.Errorf("%s: %s; want %q", j.Verdict, j.Reason, test.want)
			}
		})
	}
}
