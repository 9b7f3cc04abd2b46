package replay_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

func TestTagged(t *testing.T) {
	catalogue, err := scenarios.Load()
	if err != nil {
		t.Fatal(err)
	}
	features := os.DirFS("../../features")
	count := func(tags string) int {
		records, err := replay.Tagged(catalogue, features, tags)
		if err != nil {
			t.Errorf("tags %q: %v", tags, err)
		}
		return len(records)
	}
	all := count("@karpenter")
	if one := count("@" + scenario); one != 1 || count("@karpenter && ~@"+scenario) != all-1 || count("@"+scenario+",@karpenter-7515-not-ready-flap") != 2 {
		t.Errorf("%d of %d scenarios have the tag of one", one, all)
	}
	for tags, want := range map[string]string{
		"":                          "want an expression such as",
		"karpenter":                 "want an expression such as",
		"@a &&":                     "want an expression such as",
		"@a || @b":                  "want an expression such as",
		"@a and @b":                 "want an expression such as",
		"@a && (@b)":                "want an expression such as",
		"@none":                     "no scenario has these tags",
		"@karpenter && ~@karpenter": "no scenario has these tags",
	} {
		if records, err := replay.Tagged(catalogue, features, tags); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("tags %q: %d scenarios, error %v; want one line with %q", tags, len(records), err, want)
		}
	}
}

func TestCheckSteps(t *testing.T) {
	record := lookup(t, scenario)
	right, err := os.ReadFile("../../features/" + record.Feature)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"other words", `a Deployment "web" of 1 pod that requests 1 CPU is created`, `one pod "web" is created`, `its step "When one pod \"web\" is created" matches nothing`},
		{"other role", `When a Deployment "web" of 1 pod that requests 1 CPU is created`, `Then a Deployment "web" of 1 pod that requests 1 CPU is created`, "matches nothing"},
		{"duration", "within 5m", "within 5mm", `"Then no more than 1 NodeClaim is created within 5mm" matches nothing`},
		{"CPU", "1 CPU", "one CPU", "matches nothing"},
		{"no cluster", "Given a cluster whose API server adds no default tolerations\n    And a Ready", "Given a Ready", "must with a cluster"},
		{"malformed", "Scenario:", "Scenaro:", "reading features/" + record.Feature},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.ReplaceAll(string(right), test.old, test.new)
			if test.old != "" && text == string(right) {
				t.Fatal("the feature does not have what is to be replaced")
			}
			r := replay.Request{Record: record, Features: fstest.MapFS{record.Feature: {Data: []byte(text)}}}
			err := r.CheckSteps()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// A release that the world is to have, and that nobody has built, is found before there
// is a world.
func TestCheckReleases(t *testing.T) {
	record := lookup(t, "clusterapi-7872-conflict-forced")
	text, err := os.ReadFile("../../features/" + record.Feature)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.ReplaceAll(string(text), "Cluster API v1.9.5", "Cluster API v1.9.99")
	r := replay.Request{Record: record, Features: fstest.MapFS{record.Feature: {Data: []byte(other)}}}
	if err := r.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster-api@v1.9.99") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with the release", err)
	}
}

// Of what an autoscaler does, Decisions keep what and in which order.
func TestDecisions(t *testing.T) {
	event := func(at time.Duration, verb, resource, name string, code int, detail map[string]any) history.Record {
		return history.Record{Virtual: at, Event: history.Event{Source: history.API, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Code: code, Detail: detail}}
	}
	records := []history.Record{
		event(1*time.Second, "create", "nodeclaims", "default-x7", 201, nil),
		event(2*time.Second, "create", "nodes", "busy-bee", 201, nil),
		event(2*time.Second, "patch", "nodes", "busy-bee", 200, nil),
		event(3*time.Second, "create", "nodeclaims", "default-q2", 409, nil),
		event(4*time.Second, "create", "nodes", "busy-bee", 201, map[string]any{"subresource": "binding"}),
		event(5*time.Second, "create", "nodeclaims", "default-k1", 201, nil),
		event(6*time.Second, "create", "pods", "web", 201, nil),
		event(7*time.Second, "delete", "nodes", "busy-bee", 200, nil),
		event(8*time.Second, "delete", "nodes", "busy-bee", 200, nil),
	}
	for i, verb := range []string{"created", "starting", "running", "deleting", "deleted"} {
		r := event(time.Duration(9+i)*time.Second, verb, "instances", "pool1-5f", 0, nil)
		r.Source = history.Cloud
		records = append(records, r)
	}
	got := replay.Decisions(records)
	want := []story.Decision{{At: 1e9, What: "create nodeclaim 1"}, {At: 2e9, What: "create node 1"}, {At: 5e9, What: "create nodeclaim 2"}, {At: 7e9, What: "delete node 1"},
		{At: 9e9, What: "create instance 1"}, {At: 12e9, What: "delete instance 1"}}
	if len(got) != len(want) {
		t.Fatalf("decisions %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("decision %d is %v, want %v", i, got[i], want[i])
		}
	}
	later := append([]story.Decision{}, got...)
	later[3].At += time.Hour
	other := append([]story.Decision{}, got...)
	other[2].What = "delete nodeclaim 1"
	for name, test := range map[string]struct {
		list  []story.Decision
		first int
	}{"the same": {got, -1}, "later": {later, -1}, "other": {other, 2}, "shorter": {got[:3], 3}, "empty": {nil, 0}} {
		if first := story.FirstDifference(got, test.list); first != test.first {
			t.Errorf("%s: first difference %d, want %d", name, first, test.first)
		}
	}
}
