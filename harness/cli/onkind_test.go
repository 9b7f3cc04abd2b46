package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports/story"
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
	s := session{env: &env{&console.Console{Stdout: &stdout, Stderr: &stderr}}, Queue: queue.Queue{Catalogue: catalogue, Features: catalogue.Features(), Settings: replay.Settings{World: world.Config{Clock: clock.Real}, Cluster: replay.Kind}}}
	jobs := []queue.Job{s.Job(record, target)}
	play, without := s.Playable(t.Context(), jobs)
	if len(play) > 0 || len(without) != 1 || without[0].Verdict != table.Skipped || without[0].ID != failure || without[0].Target != "karpenter@v1.6.4" || without[0].Expected != "reproduced" {
		t.Fatalf("played: %v; not played: %+v", play, without)
	}
	if why := without[0].Reason; !strings.Contains(why, "--cluster kind: no") || !strings.Contains(why, "start dockerd") && !strings.Contains(why, "apt-get install") {
		t.Errorf("it says %q", why)
	}
	var end *exit.Error
	if err := s.Conclude(without, false, false); !errors.As(err, &end) || end.Code != Inconclusive {
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
	s := session{env: &env{&console.Console{Stdout: io.Discard, Stderr: io.Discard}}, Queue: queue.Queue{Catalogue: catalogue, Features: catalogue.Features(), Settings: replay.Settings{Cluster: replay.Simulated}}}
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

func TestPrintComparison(t *testing.T) {
	made, gone := story.Decision{What: "create NodeClaim 1"}, story.Decision{At: 90e9, What: "delete NodeClaim 1"}
	for _, test := range []struct {
		name     string
		verdicts [2]string
		second   []story.Decision
		end      time.Duration // of the second
		why      string
		want     []string
	}{
		{"the same", [2]string{"healthy", "healthy"}, []story.Decision{made, gone}, 91e9, "", []string{"kind healthy sim healthy", "1m30s delete NodeClaim 1 1m30s", "the same verdict, and the same 2 decisions"}},
		{"another verdict", [2]string{"healthy", "failed"}, []story.Decision{made, gone}, 91e9, "", []string{"kind healthy sim failed", "the same 2 decisions, and another verdict; the runs are a and b"}},
		{"another decision", [2]string{"healthy", "healthy"}, []story.Decision{made}, 91e9, "", []string{"≠", "—", "they differ first at decision 2"}},
		{"over before it", [2]string{"healthy", "healthy"}, []story.Decision{made}, 89e9, "", []string{"—", "the same verdict, and the same 1 decision; sim ended before the next was due"}},
		{"inconclusive", [2]string{"inconclusive", ""}, nil, 0, "kind: Docker has died", []string{"inconclusive on kind: Docker has died"}},
	} {
		var stdout bytes.Buffer
		c := queue.Comparison{
			ID: "x", Target: "karpenter@v1.7.0", Sides: [2]string{"kind", "sim"}, Verdicts: test.verdicts, Runs: [2]string{"a", "b"}, Inconclusive: test.why,
			Decisions: [2][]story.Decision{{made, gone}, test.second}, Ends: [2]time.Duration{91e9, test.end},
		}
		c.First = c.FirstDifference()
		c.Same = c.First < 0 && c.Verdicts[0] == c.Verdicts[1]
		(&session{env: &env{&console.Console{Stdout: &stdout}}}).printComparison(c)
		for _, want := range test.want {
			if !strings.Contains(strings.Join(strings.Fields(stdout.String()), " "), want) {
				t.Errorf("%s: %q is not in %s", test.name, want, &stdout)
			}
		}
	}
}
