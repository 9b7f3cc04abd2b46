package replay_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
)

// What goes wrong after the last record is kept with the run: judged again, it shows
// as little as before.
func TestRunUnplayed(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	record := lookup(t, scenario)
	result, err := replay.Run(t.Context(), replay.Request{
		Record: record, Target: kubernetes, Settings: replay.Settings{World: world.Config{Seed: 1}, Kubernetes: kubernetes, Out: t.TempDir()},
		Features: fstest.MapFS{record.Feature: {Data: []byte(`Feature: a world that does not end well
  @` + scenario + `
  Scenario: nothing happens
    Given a cluster
    When the scenario waits for 1s
    Then 1s from now, a pod has been scheduled since the start, and no eviction has been asked for
`)}},
		Ready: func(w *world.World) {
			w.OnStop(func() error { return errors.New("the last part\ndoes not end") })
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "after the last step: ending the world: the last part … does not end"
	if result.Verdict != verdict.Inconclusive || result.Reason != want {
		t.Errorf("%s: %s; want inconclusive: %s", result.Verdict, result.Reason, want)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Recheck(t.Context(), result.Dir, kept.Records(catalogue))
	if err != nil || again.Now.Verdict != result.Verdict || again.Now.Reason != result.Reason || strings.Contains(again.Now.Reason, "\n") {
		t.Errorf("judged again: %+v, %v; live it was %+v", again.Now, err, result.Judgement)
	}
}
