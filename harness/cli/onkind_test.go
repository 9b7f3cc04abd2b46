package cli

import (
	"bytes"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports/table"
	"nodestorm/sim/time/clock"
)

const failure = "karpenter-7515-not-ready-noexecute"

// Without Docker each replay on kind is skipped by name, and says what brings it.
func TestKindWithoutDocker(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup(failure)
	if err != nil {
		t.Fatal(err)
	}
	target := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}}}
	var stdout, stderr bytes.Buffer
	e := &console.Console{Stdout: &stdout, Stderr: &stderr}
	settings := replay.Settings{World: world.Config{Clock: clock.Real}, Cluster: replay.Kind}
	s := queue.Queue{Catalogue: catalogue, Features: catalogue.Features(), Settings: settings}
	jobs := []queue.Job{s.Job(record, target)}
	play, without := s.Playable(t.Context(), jobs)
	if len(play) > 0 || len(without) != 1 || without[0].Verdict != table.Skipped || without[0].ID != failure || without[0].Target != "karpenter@v1.6.4" || without[0].Expected != "reproduced" {
		t.Fatalf("played: %v; not played: %+v", play, without)
	}
	if why := without[0].Reason; !strings.Contains(why, "--cluster kind: no") || !strings.Contains(why, "start dockerd") && !strings.Contains(why, "apt-get install") {
		t.Errorf("it says %q", why)
	}
	if err := e.Conclude(without, false, false); exit.CodeOf(err) != Inconclusive {
		t.Errorf("the exit status is of %v", err)
	}
	s.Cluster = replay.Simulated
	if play, without := s.Playable(t.Context(), jobs); len(play) != 1 || len(without) > 0 {
		t.Errorf("simulated: played %v, not %+v", play, without)
	}
}

// A failure that one cloud only can show is not played on another.
func TestOnAnotherCloud(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := queue.Queue{Catalogue: catalogue, Features: catalogue.Features(), Settings: replay.Settings{Cluster: replay.Simulated}}
	for _, test := range []struct {
		id, cloud, only string
	}{
		{"karpenter-1211-stranded", builds.Instances, builds.Kwok},
		{"karpenter-1211-stranded", builds.Kwok, ""},
		{"karpenter-2349-launch-error", builds.Kwok, builds.Instances},
		{"karpenter-2349-launch-error", "", ""},
		{failure, builds.Instances, ""},
	} {
		record, err := catalogue.Lookup(test.id)
		if err != nil {
			t.Fatal(err)
		}
		s.Cloud = test.cloud
		play, without := s.Playable(t.Context(), []queue.Job{s.Job(record, builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}}})})
		if test.only == "" {
			if len(play) != 1 || len(without) != 0 {
				t.Errorf("%s on %q is not played: %+v", test.id, test.cloud, without)
			}
			continue
		}
		if want := "--cloud " + test.cloud + ": it can be seen on " + test.only + " only"; len(without) != 1 || without[0].Reason != want || without[0].Outcome != table.Skipped {
			t.Errorf("%s on %q: %+v, want it skipped: %s", test.id, test.cloud, without, want)
		}
	}
}
