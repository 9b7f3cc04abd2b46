package scenarios_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nodestorm/features"
	"nodestorm/scenarios"
)

const good = `
id: karpenter-1-a
title: A title
system: karpenter
autoscaler: karpenter
issue: owner/repository#1
fix: owner/repository#2
affected: ">=v1.0.0, <v1.7.0 || =v1.7.5"
fixed: ">=v1.7.0, !=v1.7.5"
targets:
  - {name: karpenter@v1.6.4, expected: reproduced}
  - {name: karpenter@v1.7.0, expected: healthy}
feature: karpenter/issue-1-a.feature
summary: What users see.
mechanism: Why.
trigger:
  statement: It can fail.
  sequence: [{match: {source: fault, verb: effective}}]
work: {source: api, actor: karpenter, count: 2}
symptom:
  statement: It fails.
  sequence: [{match: {source: api, verb: create}}]
`

func TestCatalogueIsRight(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if err := catalogue.CheckFeatures(os.DirFS("../features")); err != nil {
		t.Error(err)
	}
}

func TestListJSON(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(catalogue.Entries())
	if err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"karpenter-7515-not-ready-noexecute", "karpenter-7515-startup-taint-undeclared",
		"karpenter-7515-startup-taint-declared", "karpenter-7515-startup-taint-other-effect", "karpenter-7515-not-ready-flap"} {
		i := slices.IndexFunc(entries, func(e map[string]any) bool { return e["id"] == want })
		if i < 0 {
			t.Errorf("no record %s", want)
			continue
		}
		for _, field := range []string{"id", "title", "system", "autoscaler", "issue", "affected", "fixed", "targets"} {
			if _, ok := entries[i][field]; !ok {
				t.Errorf("%s: %s is missing", want, field)
			}
		}
	}
}

func load(records ...string) (*scenarios.Catalogue, error) {
	fsys := fstest.MapFS{}
	for i, r := range records {
		fsys["karpenter/"+string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(r)}
	}
	return scenarios.LoadFrom(fsys)
}

func TestExpected(t *testing.T) {
	catalogue, err := load(good)
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-1-a")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]scenarios.Expectation{
		"karpenter@v1.6.4": scenarios.Reproduced, "karpenter@v1.7.0": scenarios.Healthy,
		"karpenter@v1.2.0": scenarios.Reproduced, "karpenter@v1.7.5": scenarios.Reproduced, "karpenter@v1.8.0": scenarios.Healthy,
		"karpenter@v0.9.0": "", "karpenter@my-branch": "", "cluster-autoscaler@1.32.0": "", "karpenter": "",
	} {
		if got := record.Expected(target); got != want {
			t.Errorf("%s: expected %q, want %q", target, got, want)
		}
	}
	if _, err := catalogue.Lookup("karpenter-2"); err == nil || !strings.Contains(err.Error(), `unknown scenario "karpenter-2", did you mean karpenter-1-a; nodestorm list shows all 1`) {
		t.Errorf("looking up an unknown ID: %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	with := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	tests := []struct{ name, record, want string }{
		{"unknown field", with("title:", "titel:"), `scenarios/karpenter/a.yaml: unknown field "titel" (allowed: id, title, system,`},
		{"unknown target field", with("name: karpenter@v1.6.4", "nam: karpenter@v1.6.4"), `unknown field "targets[0].nam" (allowed: name, expected)`},
		{"no title", with("title: A title", ""), "title is missing"},
		{"an invariant without a sentence", with("title:", "invariants: [{never: {source: api}}]\ntitle:"), "invariants[0]: statement is missing"},
		{"an invariant of a part of the run", with("title:", "invariants: [{statement: s, never: {source: api}, within: 5m}]\ntitle:"), "invariants[0]: within: an invariant is about the whole run"},
		{"an invariant of every run that is none", with("title:", "breaks: [no-crush]\ntitle:"), `breaks[0]: unknown invariant "no-crush" (allowed: back-off, bounded-loop`},
		{"a known failure that is none", with("title:", "known: [{invariant: no-crush, releases: none, because: b}]\ntitle:"), `known[0]: unknown invariant "no-crush"`},
		{"a known failure of no release", with("title:", "known: [{invariant: no-crash, because: b}]\ntitle:"), "known[0].releases"},
		{"a known failure without a cause", with("title:", "known: [{invariant: no-crash, releases: none}]\ntitle:"), "known[0].because is missing: name the failure that breaks no-crash"},
		{"an invariant that nothing breaks", with("title:", "invariants: [{statement: s, count: {source: api}, atLeast: 0}]\ntitle:"), "invariants[0]: atLeast: 0: no history could have less"},
		{"no feature", with("feature: karpenter/issue-1-a.feature", ""), "feature is missing"},
		{"other feature", with("karpenter/issue-1-a.feature", "hetzner/a.feature"), `feature: "hetzner/a.feature" is not like karpenter/`},
		{"unknown system", with("system: karpenter", "system: azure"), `system: unknown value "azure" (allowed: hetzner, clusterapi, karpenter,`},
		{"unknown autoscaler", with("autoscaler: karpenter", "autoscaler: ca"), `autoscaler: unknown value "ca" (allowed: cluster-autoscaler, karpenter, karpenter-aws, cluster-api, aws-ccm, vpa-recommender, kubespray)`},
		{"id", with("id: karpenter-1-a", "id: Karpenter_1"), `id: "Karpenter_1" is not like karpenter-7515-what-fails`},
		{"cloud", with("autoscaler: karpenter", "autoscaler: karpenter\ncloud: hetzner"), `cloud: "hetzner": want a provider`},
		{"another autoscaler", with("autoscaler: karpenter", "autoscaler: cluster-autoscaler"), `autoscaler: "cluster-autoscaler": records of the system karpenter are about karpenter`},
		{"kubernetes", with("autoscaler: karpenter", "autoscaler: karpenter\nkubernetes: new"), `kubernetes: "new" is no range of releases`},
		{"issue", with("owner/repository#1", "https://example.org/1"), "issue: "},
		{"fix", with("fix: owner/repository#2", "fix: https://example.org/2"), "fix: "},
		{"other target", with("karpenter@v1.6.4", "kubernetes@v1.6.4"), `targets[0].name: "kubernetes@v1.6.4" is not like karpenter@`},
		{"target twice", with("karpenter@v1.7.0", "karpenter@v1.6.4"), "targets[1].name: karpenter@v1.6.4 is there twice"},
		{"expectation", with("expected: reproduced", "expected: broken"), `targets[0].expected: unknown value "broken" (allowed: reproduced, healthy)`},
		{"version", with("karpenter@v1.6.4", "karpenter@latest"), `"latest" is no version`},
		{"affected", with(`">=v1.0.0, <v1.7.0 || =v1.7.5"`, "before v1.7"), `affected, or targets[0].name: "before v1.7" is no range of releases`},
		{"no affected", with(`affected: ">=v1.0.0, <v1.7.0 || =v1.7.5"`, ""), `"" is no range of releases`},
		{"fixed", with(`fixed: ">=v1.7.0, !=v1.7.5"`, "fixed: sometime"), `fixed: "sometime" is no range of releases (want "none" or`},
		{"contradiction", with(`affected: ">=v1.0.0, <v1.7.0 || =v1.7.5"`, "affected: none"), `karpenter@v1.6.4 is expected reproduced, but affected is "none"`},
		{"other contradiction", with("karpenter@v1.7.0", "karpenter@v1.3.0"), `karpenter@v1.3.0 is expected healthy, but affected is`},
		{"both", with(`fixed: ">=v1.7.0, !=v1.7.5"`, `fixed: ">=v1.6.0"`), "affected and fixed both have v1.6.4"},
		{"symptom", with("verb: create", "verb: make"), `symptom: sequence[0]: match: unknown verb "make"`},
		{"kin is itself", good + "kin: [karpenter-1-a]\n", "kin[0]: karpenter-1-a is the record itself"},
		{"unknown kin", good + "kin: [karpenter-1-b]\n", `scenarios/karpenter/a.yaml: kin[0]: unknown scenario "karpenter-1-b", did you mean karpenter-1-a`},
		{"a twin without a title", good + "twins: [{id: karpenter-1-b}]\n", "scenarios/karpenter/a.yaml: twins[0].title is missing"},
		{"a twin's own symptom", good + "twins: [{id: karpenter-1-b, title: B, symptom: {}}]\n", `unknown field "twins[0].symptom" (allowed: id, title, system, feature, summary, mechanism, notes)`},
		{"a twin's system", good + "twins: [{id: karpenter-1-b, title: B, system: hetzner}]\n", `twins[0].id: "karpenter-1-b" is not like hetzner-7515-what-fails`},
		{"a twin of the same ID", good + "twins: [{id: karpenter-1-b, title: B}, {id: karpenter-1-a, title: A}]\n", `twins[1].id: "karpenter-1-a" is taken by scenarios/karpenter/a.yaml`},
		{"a twin is named as kin", good + "kin: [karpenter-1-b]\ntwins: [{id: karpenter-1-b, title: B}]\n", "kin[0]: karpenter-1-b is the record itself or its twin"},
		{"unknown kin of twins", good + "kin: [karpenter-1-c]\ntwins: [{id: karpenter-1-b, title: B}]\n", `kin[0]: unknown scenario "karpenter-1-c"`},
		{"twins without an end", good + "twins: [" + strings.Repeat("{id: a},", 101) + "]\n", "twins: there are 101, more than 100"},
		{"no trigger", with("trigger:\n  statement: It can fail.\n  sequence: [{match: {source: fault, verb: effective}}]\n", ""), "scenarios/karpenter/a.yaml: trigger is missing: write, as a statement and a sequence"},
		{"trigger", with("verb: effective", "verb: broken"), `trigger: sequence[0]: match: unknown verb "broken"`},
		{"trigger of absences", with("{match: {source: fault, verb: effective}}", "{absent: [{source: api}], for: 1m}"), "trigger: sequence: it has absences only"},
		{"no work", with("work: {source: api, actor: karpenter, count: 2}\n", ""), "scenarios/karpenter/a.yaml: work: it is missing: write a pattern of what the target must have done"},
		{"work without count", with(", count: 2", ""), "work: count: 0, want 1 or more"},
		{"work since", with(", count: 2", ", count: 2, since: then"), `work: since: unknown value "then" (allowed: start, or nothing for the last When)`},
		{"work without an actor", with(", actor: karpenter", ""), "work: actor is missing"},
		{"work in the log", with("work: {source: api", "work: {source: [api, log]"), "work: source: log shows no work (allowed: api, cloud, node, harness)"},
		{"work anywhere", with("work: {source: api", "work: {source: {not: cloud}"), "work: source: log shows no work"},
		{"work's verb", with("work: {source: api", "work: {verb: make, source: api"), `work: unknown verb "make"`},
		{"syntax", "id: [", "scenarios/karpenter/a.yaml: yaml:"},
		{"empty", "", "the document is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(test.record)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	t.Run("duplicate", func(t *testing.T) {
		if _, err := load(good, good); err == nil || !strings.Contains(err.Error(), `scenarios/karpenter/b.yaml: id: "karpenter-1-a" is taken by scenarios/karpenter/a.yaml`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("folder", func(t *testing.T) {
		_, err := scenarios.LoadFrom(fstest.MapFS{"hetzner/a.yaml": {Data: []byte(good)}})
		if err == nil || !strings.Contains(err.Error(), `system: "karpenter", but the folder is "hetzner"`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if _, err := load(); err == nil {
			t.Error("an empty catalogue is loaded")
		}
	})
}

func TestCheckFeatures(t *testing.T) {
	catalogue, err := load(good)
	if err != nil {
		t.Fatal(err)
	}
	const name, scenario = "karpenter/issue-1-a.feature", "  Scenario: S\n    Given a cluster\n"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"right", map[string]string{name: "Feature: F\n  @karpenter-1-a @slow\n" + scenario, "world/x.feature": "Feature: F\n" + scenario}, ""},
		{"missing", nil, "karpenter-1-a: feature: features/karpenter/issue-1-a.feature is not there"},
		{"no tag", map[string]string{name: "Feature: F\n" + scenario}, `features/karpenter/issue-1-a.feature: scenario "S": none of its tags () is an ID`},
		{"unknown tag", map[string]string{name: "Feature: F\n  @karpenter-1-a\n" + scenario + "  @karpenter-9-b\n" + scenario}, "none of its tags (@karpenter-9-b) is an ID"},
		{"twice", map[string]string{name: "@karpenter-1-a\nFeature: F\n" + scenario + scenario}, "2 scenarios of features/karpenter/issue-1-a.feature have the tag"},
		{"other file", map[string]string{name: "Feature: F\n  @karpenter-1-a\n" + scenario, "karpenter/b.feature": "Feature: F\n  @karpenter-1-a\n" + scenario}, "belongs to features/karpenter/issue-1-a.feature"},
		{"malformed", map[string]string{name: "Feature: F\n  Scenario: S\n    Given x\n    Oops\n"}, "features/karpenter/issue-1-a.feature: malformed: (4:5): \"Oops\" begins no line of a feature"},
		{"no text", map[string]string{name: "\x1b[2J\xff"}, `features/karpenter/issue-1-a.feature: malformed: "(1:1)`},
		{"foreign folder", map[string]string{name: "Feature: F\n  @karpenter-1-a\n" + scenario, "other/b.feature": "Feature: F\n  @other-1-b\n" + scenario}, "features/other/b.feature: scenario"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range test.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			err := catalogue.CheckFeatures(fsys)
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\x1b")) {
				t.Errorf("error %q, want one line with %q", err, test.want)
			}
		})
	}
}
