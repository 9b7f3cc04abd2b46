package schedule

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/sentences/validation"
	"nodestorm/scenarios"
)

// check reads what godog would play, and checks its steps.
func check(t *testing.T, s Schedule) string {
	t.Helper()
	text, err := s.Feature()
	if err != nil {
		t.Fatalf("%v:\n%s", err, s.YAML())
	}
	suite := godog.TestSuite{Options: &godog.Options{FS: fstest.MapFS{"nemesis.feature": {Data: []byte(text)}}, Paths: []string{"nemesis.feature"}}}
	features, err := suite.RetrieveFeatures()
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, pickle := range features[0].Pickles {
		if err := validation.Steps(pickle.Steps, nil); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
	return text
}

// Whatever is drawn has steps that worlds know, reads back from its file, and is the same
// again of the same seed, and another of another.
func TestDraw(t *testing.T) {
	seen := map[string]bool{}
	for _, at := range Sites() {
		for way := range profiles {
			d := Drawing{Site: at, Profile: way, Version: "99.0.0", Before: []string{"98.0.0", "97.0.0"}}
			var before Schedule
			for seed := range uint64(4) {
				s, err := d.Draw(seed)
				if err != nil {
					t.Fatalf("%s, %s, seed %d: %v", at, way, seed, err)
				}
				text := check(t, s)
				for kind := range kinds {
					seen[kind] = seen[kind] || strings.Contains(string(s.YAML()), "do: "+kind+"\n")
				}
				again, err := d.Draw(seed)
				if err != nil || !bytes.Equal(s.YAML(), again.YAML()) {
					t.Errorf("%s, %s: the seed %d draws another schedule the second time (%v)", at, way, seed, err)
				}
				read, err := Read(s.YAML())
				if err != nil || !bytes.Equal(s.YAML(), read.YAML()) {
					t.Errorf("%s, %s, seed %d: it does not read back from its file (%v):\n%s", at, way, seed, err, s.YAML())
				}
				if before.Site == "" {
					before = s
					continue
				}
				if bytes.Equal(s.YAML(), before.YAML()) {
					t.Errorf("%s, %s: the seeds %d and %d draw the same", at, way, seed-1, seed)
				}
				varied, err := d.Vary(before, seed)
				if err != nil {
					t.Fatalf("%s, %s: varying with the seed %d: %v", at, way, seed, err)
				}
				if check(t, varied) == text {
					t.Errorf("varied, it is the one that was drawn")
				}
				before = s
			}
		}
	}
	for kind := range kinds {
		if !seen[kind] && kind != "wait" { // which is for what is left of other acts
			t.Errorf("nothing draws %s", kind)
		}
	}
}

// No step waits for anything before there is a pod, and there has to be one.
func TestDemand(t *testing.T) {
	const bare = `{site: cluster-autoscaler/externalgrpc, seed: 1, groups: [{name: a, type: medium, min: 1, max: 3}], rest: 1m, acts: [{do: fault, fault: 'the first call "list instances" to the cloud is not answered'}, DEMAND, {after: 90s, do: wait}]}`
	for _, test := range []struct {
		demand string
		waits  int
		wrong  string
	}{
		{"{do: deploy, name: web, pods: 1, cpu: 500}, {do: restart}", 3, ""},
		{"{do: deploy, name: web, cpu: 500}, {do: scale, name: web, pods: 1}", 3, ""},
		{"{do: deploy, name: web, cpu: 500}", 0, "none brings a pod"},
		{"{do: restart}", 0, "none brings a pod"},
		{"{do: wait}, {do: deploy, name: web, pods: 1, cpu: 500}", 0, "act 2, wait: after: for how long is missing"},
	} {
		s, err := Read([]byte(strings.Replace(bare, "DEMAND", test.demand, 1)))
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("of %s it says %v, want %q", test.demand, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text := check(t, s)
		first, _, _ := strings.Cut(text, "these objects are created")
		if strings.Count(text, "every pod is Running") != test.waits || strings.Contains(first, "every pod is Running") || !strings.Contains(text, "the scenario waits for 1m30s\n    And all faults are cleared\n") {
			t.Errorf("with %s it says\n%s", test.demand, text)
		}
	}
}

// What a person writes wrong is said in a sentence.
func TestRead(t *testing.T) {
	good := `{site: cluster-autoscaler/externalgrpc, seed: 1, groups: [{name: a, type: medium, max: 3}], rest: 1m, acts: [{do: deploy, name: web, pods: 2, cpu: 500}, {after: 90s, do: scale, name: web, pods: 1}]}`
	s, err := Read([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	text := check(t, s)
	for _, words := range []string{`Deployment/web" is scaled to 1`, "When the scenario waits for 1m30s", "every pod is Running within", "written by hand"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in the feature:\n%s", words, text)
		}
	}
	with, err := Read([]byte(strings.Replace(good, "rest: 1m", `rest: 1m, settings: {--expander: price}, intolerant: true`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if text := check(t, with); !strings.Contains(text, "| --expander | price |") || !strings.Contains(text, "a cluster without the admission plugin DefaultTolerationSeconds") {
		t.Errorf("how it is set up is not in the feature:\n%s", text)
	}
	pool, err := Read([]byte(`{site: karpenter/kwok, seed: 1, groups: [{name: a, type: c-2x-amd64-linux}], ready: 150s, acts: [{do: deploy, name: web, pods: 1, cpu: 500}],
settings: {BATCH_IDLE_DURATION: 15s, terminationGracePeriod: 1m, consolidateAfter: Never, expireAfter: 15m, budget: 100%}}`))
	if err != nil {
		t.Fatal(err)
	}
	text = check(t, pool)
	for _, words := range []string{"| BATCH_IDLE_DURATION | 15s |", "expireAfter: 15m\n", "terminationGracePeriod: 1m", `{budgets: [{nodes: "100%"}], consolidateAfter: Never}`, "are Ready 2m30s later"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in the feature:\n%s", words, text)
		}
	}
	if s.Length() != 150*time.Second {
		t.Errorf("it takes %s", s.Length())
	}
	for _, wrong := range []struct{ old, new, says string }{
		{"do: scale", "do: scael", `act 2, scael: do: unknown act "scael", did you mean "scale"?`},
		{"name: web, pods: 1", "name: wbe, pods: 1", `there is no Deployment or CapacityBuffer or NodePool "wbe" then`},
		{"medium", "mediun", `type: unknown type "mediun", did you mean "medium"?`},
		{"externalgrpc", "externalgrcp", `did you mean "cluster-autoscaler/externalgrpc"?`},
		{"after: 90s", "after: 90x", `"90x", want a duration`},
		{"after: 90s", "after: -90s", "want zero or more"},
		{"rest: 1m", "rest: -1m", "rest: -1m: want zero or more"},
		{"max: 3", "max: 0", "want 0 <= min <= max"},
		{"cpu: 500", "cpus: 500", "cpus"},
		{"pods: 1}", "pods: 100000}", "want 0 to 1000"},
		{"do: scale, name: web, pods: 1", `do: fault, fault: "one\ntwo"`, "want a sentence"},
		{"do: scale, name: web, pods: 1", `do: drain, which: middle`, "want newest or oldest"},
		{"seed: 1", "seed: -1", "seed"},
		{"do: scale, name: web, pods: 1", `do: maximum, name: a, pods: 1`, "it cannot be done on cluster-autoscaler/externalgrpc"},
		{"do: scale, name: web, pods: 1", `do: target, name: b, pods: 1`, `there is no group "b"`},
		{"do: scale, name: web, pods: 1", `do: remove-group, name: a}, {do: target, name: a, pods: 1`, `the group "a" is gone then`},
		{"cpu: 500", "cpu: 500, priority: 2000000000", "priority: 2000000000"},
		{"rest: 1m", `settings: {--expandr: price}`, `did you mean "--expander"?`},
		{"rest: 1m", `settings: {--expander: "price |"}`, "is no value"},
		{"rest: 1m", "ready: 1m", "it cannot be said on cluster-autoscaler/externalgrpc"},
		{"do: scale, name: web", "do: daemons, cpu: 5, name: web", "one that no other has had"},
		{"do: scale, name: web", "do: job, cpu: 5, name: web", "for: how long its pods run is missing"},
		{"do: scale, name: web", "do: job, cpu: 5, for: 1m, name: a", "one that no other has had"},
		{"cpu: 500", "cpu: 500, for: 1h", "want at most 5m for pods to stop"},
		{"rest: 1m", "before: 1", "before: 1: want 0 to 2, and 0 on a site whose program cannot be upgraded"},
		{"do: scale, name: web, pods: 1", "do: upgrade", "no older release runs then"},
		{"do: scale, name: web, pods: 1", "do: roll-back", "nothing is upgraded then"},
		{"do: scale, name: web", "do: static, name: fixed", "it cannot be done on cluster-autoscaler/externalgrpc"},
	} {
		if _, err := Read([]byte(strings.Replace(good, wrong.old, wrong.new, 1))); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%s: %v, want %q", wrong.new, err, wrong.says)
		}
	}
}

// Objects of later releases need a gate, and are scaled each in its way.
func TestObjectsOfKarpenter(t *testing.T) {
	s, err := Read([]byte(`{site: karpenter/kwok, seed: 1, groups: [{name: a, type: c-2x-amd64-linux}], rest: 1m, settings: {FEATURE_GATES: NodeRepair=true}, acts: [
{do: deploy, name: web, pods: 1, cpu: 500, held: true, for: 1m}, {do: static, name: fixed, pods: 1}, {do: buffer, name: spare, pods: 1, cpu: 500},
{do: scale, name: fixed, pods: 2}, {do: scale, name: spare, pods: 3}, {do: hold, which: oldest}, {do: delete, name: fixed}, {do: delete, name: spare}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text := check(t, s)
	for _, words := range []string{"| FEATURE_GATES | NodeRepair=true,CapacityBuffer=true,StaticCapacity=true |", "replicas: 1\n        template:", `"NodePool/fixed" is scaled to 2`,
		`"CapacityBuffer/spare" is patched with`, "spec: {replicas: 3}", `"Node/$oldest" is annotated "karpenter.sh/do-not-disrupt=true"`, `"NodePool/fixed" is deleted`,
		`annotations: {karpenter.sh/do-not-disrupt: "true", nodestorm.sim/stop-after: 1m}`, "terminationGracePeriodSeconds: 600"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in the feature:\n%s", words, text)
		}
	}
	for version, drawn := range map[string]bool{"": false, "mine": false, "v1.7.0": false, "v1.8.0": true} {
		d := Drawing{Site: "karpenter/kwok", Profile: "churn", Version: version}
		found := false
		for seed := range uint64(20) {
			s, err := d.Draw(seed)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(s.YAML()), "do: static\n")
			if strings.Contains(string(s.YAML()), "do: buffer\n") {
				t.Errorf("%q has no CapacityBuffer", version)
			}
		}
		if found != drawn {
			t.Errorf("a NodePool of a fixed size is drawn for %q: %v", version, found)
		}
	}
}

// A schedule of the profile upgrade begins with an older release where there is one, has nothing that it lacks, and is upgraded
// and rolled back in turn.
func TestUpgrade(t *testing.T) {
	first := map[int]bool{}
	for seed := range uint64(40) {
		d := Drawing{Site: "karpenter/kwok", Profile: "upgrade", Version: "v1.14.1", Before: []string{"v1.7.0", "v1.6.4"}}
		s, err := d.Draw(seed)
		if err != nil {
			t.Fatal(err)
		}
		first[s.Before] = true
		text := check(t, s)
		begins, _, _ := strings.Cut(text, "Karpenter\n")
		if !strings.Contains(begins, olderRelease[s.Before]) || strings.Contains(string(s.YAML()), "do: static\n") {
			t.Errorf("seed %d:\n%s", seed, text)
		}
		varied, err := Drawing{Site: d.Site, Profile: "churn", Version: d.Version, Before: d.Before}.Vary(s, seed)
		if err != nil || varied.Before != s.Before || strings.Contains(string(varied.YAML()), "do: static\n") {
			t.Errorf("varied: %v\n%s", err, varied.YAML())
		}
		d.Before = nil
		if s, err := d.Draw(seed); err != nil || s.Before != 0 || strings.Contains(string(s.YAML()), "do: upgrade\n") {
			t.Errorf("seed %d, without an older release: %v\n%s", seed, err, s.YAML())
		}
	}
	if len(first) != 2 || first[0] {
		t.Errorf("the releases that run first: %v", first)
	}
	const turns = `{site: karpenter/kwok, seed: 1, before: 2, groups: [{name: a, type: c-2x-amd64-linux}], rest: 1m, acts: [{do: deploy, name: web, pods: 1, cpu: 500}, {do: upgrade}, {do: roll-back}, {do: upgrade}%s]}`
	s, err := Read(fmt.Appendf(nil, turns, ""))
	if err != nil {
		t.Fatal(err)
	}
	if text := check(t, s); !strings.Contains(text, "When the target is upgraded\n    And the target is rolled back\n    And the target is upgraded\n") {
		t.Error(text)
	}
	if _, err := Read(fmt.Appendf(nil, turns, ", {do: upgrade}")); err == nil || !strings.Contains(err.Error(), "no older release runs then") {
		t.Errorf("upgraded twice: %v", err)
	}
}

// Releases get the settings that they have, and all that are listed as later ones are settings.
func TestSettingsOfReleases(t *testing.T) {
	for name := range settingsSince {
		name, value, _ := strings.Cut(name, "=")
		if !slices.ContainsFunc(Sites(), func(site string) bool {
			values, known := sites()[site].settings[name]
			return known && (value == "" || slices.Contains(values, value))
		}) {
			t.Errorf("%s %s is no setting of any site", name, value)
		}
	}
	drawn := func(site, version string) string {
		all := ""
		for seed := range uint64(40) {
			s, err := Drawing{Site: site, Profile: "small", Version: version}.Draw(seed)
			if err != nil {
				t.Fatal(err)
			}
			all += string(s.YAML())
		}
		return all
	}
	for _, test := range []struct {
		site, version, setting string
		want                   bool
	}{
		{"cluster-autoscaler/externalgrpc", "1.36.1", "--salvo-scale-up", true},
		{"cluster-autoscaler/externalgrpc", "1.35.4", "--salvo-scale-up", false},
		{"cluster-autoscaler/externalgrpc", "mine", "--salvo-scale-up", false},
		{"cluster-autoscaler/externalgrpc", "mine", "--parallel-scale-up", true},
		{"karpenter/kwok", "v1.14.1", "consolidationPolicy: Balanced", true},
		{"karpenter/kwok", "v1.13.0", "consolidationPolicy: Balanced", false},
		{"karpenter/kwok", "v1.13.0", "consolidationPolicy: WhenEmpty", true},
	} {
		if got := strings.Contains(drawn(test.site, test.version), test.setting); got != test.want {
			t.Errorf("%s is drawn for %s %q: %v", test.setting, test.site, test.version, got)
		}
	}
}

// Whatever is drawn for a release of Karpenter is known to it: a build that does not know a variable or a gate plays nothing.
func TestReleasesKnowSettings(t *testing.T) {
	versions, err := scenarios.ReleasesOf("karpenter")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			build := buildstest.Get(t, builds.Ref{Name: "karpenter", Version: version})
			for name, values := range karpenterSettings {
				if !isVariable(name) {
					continue
				}
				for _, value := range (Drawing{Version: version}).valuesOf(name, values) {
					if gate, _, is := strings.Cut(value, "="); is {
						name = gate
					}
					if known, err := build.Mentions(name); err != nil || !known {
						t.Errorf("%s is drawn for it (%v)", name, err)
					}
				}
			}
		})
	}
}

// Demand that no machine could take is not drawn: that it waits would be no failure.
func TestFits(t *testing.T) {
	at, err := siteOf("cluster-autoscaler/externalgrpc")
	if err != nil {
		t.Fatal(err)
	}
	with := func(acts ...Act) bool {
		s := Schedule{Groups: []Group{{Name: "a", Type: "small", Max: 8}, {Name: "b", Type: "medium", Max: 3}}, Acts: acts}
		return s.fits(at)
	}
	web := func(pods, cpu int, spread string) Act {
		return Act{Do: "deploy", Name: "web", Pods: pods, CPU: cpu, Spread: spread}
	}
	if !with(web(6, 1000, "")) || with(web(7, 1000, "")) || with(web(1, 4000, "")) || with(web(3, 100, "nodes")) {
		t.Error("two machines of four processors are not taken for what they are")
	}
	agent := Act{Do: "daemons", Name: "agent", CPU: 400}
	if !with(agent, web(4, 1000, "")) || with(agent, web(5, 1500, "")) || with(agent, agent) || with(agent, web(1, 3500, "")) {
		t.Error("what daemons take is not counted, or more than there is")
	}
	if lower := (Act{Do: "maximum", Name: "b", Pods: 1}); with(web(1, 1000, ""), lower) || !with(web(1, 1000, ""), Act{Do: "maximum", Name: "a", Pods: 0}) {
		t.Error("a maximum that is lowered is not that of its group")
	}
	if with(web(4, 1000, ""), Act{Do: "drain", Which: "newest"}) {
		t.Error("a machine that is drained is counted on")
	}
}
