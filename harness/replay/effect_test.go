package replay_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// saying is a request for a scenario of these steps on a release of Karpenter.
func saying(t *testing.T, version, steps string) replay.Request {
	t.Helper()
	record := lookup(t, scenario)
	return replay.Request{
		Record: record, Target: buildstest.Get(t, builds.Ref{Name: "karpenter", Version: version}),
		Settings: replay.Settings{
			World: world.Config{Seed: 1, Clock: clock.Auto}, Kubernetes: buildstest.Get(t, builds.Kubernetes), Out: t.TempDir(),
		},
		Features: fstest.MapFS{record.Feature: {Data: []byte("Feature: what a scenario gives has an effect\n\n  @" + scenario +
			"\n  Scenario: one\n" + steps)}},
	}
}

// Machines take as long as the scenario says before they register, on releases whose provider kwok makes Nodes at once, too.
func TestMachinesRegisterLate(t *testing.T) {
	for _, version := range []string{"v1.0.6", "v1.7.0"} {
		t.Run(version, func(t *testing.T) {
			r := saying(t, version, `    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 2m after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
`)
			var in *world.World
			r.Ready = func(w *world.World) { in = w }
			result := undistorted(t, r)
			var launched, registered time.Duration
			for _, e := range in.History().Since(0) {
				switch {
				case e.Source != history.API || e.Verb != "create" || e.Code >= 300:
				case e.Object.Resource == "nodeclaims":
					launched = e.Virtual
				case e.Object.Resource == "nodes":
					registered = e.Virtual
				}
			}
			if took := registered - launched; result.Verdict == verdict.Failed || took < 2*time.Minute || took > 3*time.Minute {
				t.Errorf("%s (%s): a machine that was asked for at %s has registered at %s", result.Verdict, result.Reason, launched, registered)
			}
		})
	}
}

// What a target would ignore without a word is refused before anything starts.
func TestGatesAreKnown(t *testing.T) {
	const steps = `    Given a cluster
    And the target has the environment variables:
      | FEATURE_GATES | NodeRepair=true,NodeOverlay=false,CapacityBuffer=true |
    And Karpenter
    When the scenario waits for 1s
    Then 1s from now, a pod has been scheduled since the start, and no eviction has been asked for
`
	for version, unknown := range map[string]string{"v1.5.0": "CapacityBuffer", "v1.14.1": ""} {
		err := saying(t, version, steps).Check(t.Context())
		switch {
		case unknown == "" && err != nil:
			t.Errorf("%s: %v", version, err)
		case unknown != "" && (err == nil || !strings.HasSuffix(err.Error(), version+" knows no feature gate "+unknown)):
			t.Errorf("%s: %v; want that it knows no %s", version, err, unknown)
		}
	}
}

// A version of an API group that this Kubernetes has not makes a run inconclusive, by name.
func TestServed(t *testing.T) {
	const steps = `    Given a cluster whose API server also serves "policy/v1beta1"
    When the scenario waits for 1s
    Then 1s from now, a pod has been scheduled since the start, and no eviction has been asked for
`
	result := undistorted(t, saying(t, "v1.7.0", steps))
	if want := "the API server was asked to serve policy/v1beta1, and does not"; result.Verdict != verdict.Inconclusive ||
		!strings.Contains(result.Reason, want) {
		t.Errorf("%s: %s; want inconclusive: %s", result.Verdict, result.Reason, want)
	}
}

// A step that nothing in its scenario makes true is found before anything starts.
func TestNothingMakesItTrue(t *testing.T) {
	const machines = "    And machines that register 2m after their launch and are Ready 1s later\n"
	tests := map[string]string{
		"    Given a cluster\n" + machines + "    And 1 simulated node\n":                                   "the scenario has no Karpenter",
		"    Given a cluster\n    And Karpenter with a NodePool \"default\"\n" + machines:                   "the target runs already",
		"    Given a cluster\n" + machines + "    And Karpenter with a NodePool \"default\"\n":              "",
		"    Given a cluster\n" + machines + "    And a cloud of instances\n    And Karpenter\n":            "",
		"    Given a cluster\n" + machines + "    And a cloud of node groups\n    And Cluster Autoscaler\n": "the scenario has no Karpenter",
	}
	// No agent taints its Node from nothing on: lint says so, and not only the run.
	tests["    Given a cluster\n    And a node agent \"a\" that taints its Node with \"example.com/a:NoSchedule\" from 0s to 2s after registration\n"] =
		`"0s" is no duration`
	for steps, want := range tests {
		r := saying(t, "v1.7.0", steps+"    When the scenario waits for 1s\n    Then 1s from now, a pod has been scheduled since the start, and no eviction has been asked for\n")
		err := r.CheckSteps()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v; want %q", steps, err, want)
		}
	}
}
