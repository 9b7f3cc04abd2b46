package compare

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/harness/search/schedule"
	"nodestorm/harness/search/workload"
)

const small = "lasts: 5m\nloads:\n  - {name: web, kind: Deployment, cpu: 500m, pods: 2}\n"

// The usual world of every program and cloud is a feature that can be played, with flags and variables.
func TestUsualWorlds(t *testing.T) {
	for _, site := range schedule.Sites() {
		name, on, _ := strings.Cut(site, "/")
		w, err := UsualWorld(name, on)
		if err != nil {
			t.Errorf("%s: %v", site, err)
			continue
		}
		flag := "--log-level=debug"
		if !program.Named(name).Drawn.Pools {
			flag = "--scan-interval=20s"
		}
		for _, v := range []Variant{parsed(t, name+"@v1.7.0"), parsed(t, name+"@v1.7.0 A=1 "+flag)} {
			text, err := w.Feature(v, "small", []byte(small))
			if err != nil {
				t.Errorf("%s: %v", site, err)
			}
			file := filepath.Join(t.TempDir(), "small.feature")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if wrong := replay.ReadFolder(file).Problems; len(wrong) > 0 {
				t.Errorf("%s: %v\n%s", site, wrong, text)
			}
			if len(v.Flags) > 0 && !strings.Contains(text, strings.Replace(flag, "=", " | ", 1)) {
				t.Errorf("%s has no flag in\n%s", v, text)
			}
		}
	}
	for name, want := range map[string]string{"kubespray": "has no world of its own", "karpenter": `has no usual world on "hetzner": want one of`} {
		if _, err := UsualWorld(name, "hetzner"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A world can be that of a feature's Givens: flags that a variant has take the place of those there.
func TestReadWorld(t *testing.T) {
	const given = `Feature: a
  Scenario: b
    Given a cluster
    And a cloud of node groups
    And these node groups:
      | name | min | max |
      | a    | 0   | 9   |
    And Cluster Autoscaler with the flags:
      | --expander | random |
      | scan-interval | 10s |
    When a pod "x" that requests 1 CPU is created
    Then the pod "x" is Running within 5m
`
	w, err := ReadWorld([]byte(given), "cluster-autoscaler")
	if err != nil {
		t.Fatal(err)
	}
	text, err := w.Feature(parsed(t, "cluster-autoscaler@1.33.0 --scan-interval=20s B=a|b"), "small", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    Given a cluster\n    And the target has the environment variables:\n      | B | a\\|b |\n",
		"      | --expander | random |\n      | --scan-interval | 20s |\n    When this workload runs:\n      \"\"\"\n      lasts: 5m\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "10s") || strings.Contains(text, "CPU is created") {
		t.Errorf("more than the Givens, or an old flag, is in\n%s", text)
	}
	for text, want := range map[string]string{
		"": "it has 0 scenarios of karpenter",
		"Feature: a\n  Scenario: b\n    When a\n":                                       "has no Given",
		"Feature: a\n  Scenario: b\n    Given a\n  Scenario: c\n    Given a\n":          "it has 0 scenarios of karpenter: want one",
		"Feature: a\n  Scenario: b\n    Given these objects from the file \"a.yaml\"\n": "reads a file: quote that below the step",
	} {
		if _, err := ReadWorld([]byte(text), "karpenter"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	none := World{steps: []step{{text: "a cluster"}}}
	if _, err := none.Feature(parsed(t, "karpenter@v1.7.0 --a=b"), "small", nil); err == nil || !strings.Contains(err.Error(), "has no step") {
		t.Errorf("flags for no program: %v", err)
	}
}

// Of a file with a scenario for each program, each has what holds for all and what is its own.
func TestReadWorldOfEach(t *testing.T) {
	text, err := features.Files.ReadFile("workloads/beside.feature")
	if err != nil {
		t.Fatal(err)
	}
	worlds := map[string][]step{}
	for name, own := range map[string]string{"karpenter": "Karpenter", "cluster-autoscaler": "these node groups:"} {
		w, err := ReadWorld(text, name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.ContainsFunc(w.steps, func(s step) bool { return s.text == own }) {
			t.Errorf("%s has no step %q: %q", name, own, w.steps)
		}
		worlds[name] = w.steps
	}
	one, other := worlds["karpenter"], worlds["cluster-autoscaler"]
	if len(one) < 4 || !reflect.DeepEqual(one[:3], other[:3]) || reflect.DeepEqual(one[3], other[3]) {
		t.Errorf("want three Givens for both, and then each its own: %q and %q", one, other)
	}
}

// Pods that no machine has room for are found before anything starts.
func TestFits(t *testing.T) {
	w, err := UsualWorld("karpenter", "")
	if err != nil {
		t.Fatal(err)
	}
	for cpu, want := range map[string]string{"7": "", "8": "the pods of Job/big-1 request 8 CPU each and never fit: the largest machine of this world, c-8x-amd64-linux, has 8"} {
		of, err := workload.Read([]byte("{lasts: 1h, loads: [{name: big, kind: Job, runs: 1m, cpu: " + cpu + "}]}"))
		if err != nil {
			t.Fatal(err)
		}
		acts, err := of.Expand(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Fits(acts); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s CPU: %v", cpu, err)
		}
	}
}

// A world to compare in has room: what leaves little of a cloud is for searches.
func TestUsualWorldHasRoom(t *testing.T) {
	w, err := UsualWorld("karpenter-aws", "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := w.Feature(parsed(t, "karpenter-aws@v1.14.0"), "small", []byte(small))
	if err != nil || !strings.Contains(text, "Given a cluster") || strings.Contains(text, "subnet") || !strings.Contains(text, "values: [spot, on-demand]") {
		t.Errorf("%v\n%s", err, text)
	}
}
