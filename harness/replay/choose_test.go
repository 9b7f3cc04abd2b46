package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"nodestorm/features"
	"nodestorm/harness/replay"
)

func TestTagged(t *testing.T) {
	catalogue, err := features.Catalogue()
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
	if flap := "@karpenter-7515-not-ready-flap"; count("@karpenter and not (@"+scenario+" or "+flap+")") != all-2 || count("@"+scenario+" or "+flap+" and @hetzner") != 1 || count("(@"+scenario+" or "+flap+") and not @hetzner") != 2 {
		t.Error("Cucumber's expressions choose otherwise")
	}
	for tags, want := range map[string]string{
		"":                          "want an expression such as",
		"karpenter":                 "want an expression such as",
		"@a &&":                     "want an expression such as",
		"@a || @b":                  "want an expression such as",
		"@a and @b":                 "no scenario has these tags",
		"@a && (@b)":                `"&&" is not a tag`,
		"@a,@b and @c":              "the two forms do not mix",
		"@karpenter and":            `a tag is missing after "and"`,
		"not":                       `a tag is missing after "not"`,
		"()":                        "it names no tag",
		"(@karpenter":               "unmatched (",
		"@karpenter)":               "unmatched )",
		"@karpenter @hetzner":       "expected operator",
		"and @karpenter":            "expected operand",
		"@kar\\pen":                 "illegal escape",
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
		{"duration", "5m from now", "5mm from now", `"Then 5mm from now, exactly 1 NodeClaim has been created since the start" matches nothing`},
		{"CPU", "1 CPU", "one CPU", "matches nothing"},
		{"no cluster", "Given a cluster without the admission plugin DefaultTolerationSeconds\n    And a Ready", "Given a Ready", "must with a cluster"},
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

// More nodes than the machine has memory for are refused before there is a world, however they
// are asked for.
func TestCheckRoom(t *testing.T) {
	record := lookup(t, scenario)
	for _, asked := range []string{"100000000 simulated nodes", "99999999999999999999 simulated nodes",
		"these node groups:\n      | name | min | max |\n      | a | 50000000 | 60000000 |\n      | b | 50000000 | 50000000 |"} {
		text := "Feature: many\n  @" + scenario + "\n  Scenario: many\n    Given a cluster\n    And " + asked + "\n    When the scenario waits for 1s\n    Then 1s from now, a pod has been scheduled since the start, and no eviction has been asked for\n"
		r := replay.Request{Record: record, Features: fstest.MapFS{record.Feature: {Data: []byte(text)}}, Settings: replay.Settings{Out: filepath.Join(t.TempDir(), "none")}}
		err := r.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "nodes need about") || !strings.Contains(err.Error(), "GiB are free, enough for ") {
			t.Errorf("%s: %v", asked, err)
		}
	}
}

// A release that the world is to have, and that was never built, is found before there
// is a world.
func TestCheckReleases(t *testing.T) {
	record := lookup(t, "clusterapi-7872-conflict-forced")
	text, err := os.ReadFile("../../features/" + record.Feature)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1.9.99", "v1.9.5-mine"} { // upstream's, and a user's own
		other := strings.ReplaceAll(string(text), "Cluster API v1.9.5", "Cluster API "+version)
		r := replay.Request{Record: record, Features: fstest.MapFS{record.Feature: {Data: []byte(other)}}}
		if err := r.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster-api@"+version) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with the release", err)
		}
	}
}
