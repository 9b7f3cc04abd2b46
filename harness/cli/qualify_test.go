package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/reports/qualification"
)

// TestQualify judges a stored run of a failure, which shows on the release.
func TestQualify(t *testing.T) {
	run := aRun(t)
	for _, test := range []struct {
		args string
		code int
		want []string
	}{
		{"qualify karpenter@v1.6.4 --tags @" + scenario + " --since none", 0, []string{"karpenter@v1.6.4 is fit to roll out", "stays"}},
		// On v1.7.0 nothing was played, so nothing is known of it.
		{"qualify karpenter@v1.7.0 --tags @" + scenario, 3, []string{"cannot say whether karpenter@v1.7.0 is fit", "was not played"}},
		// Other failures are about the release as well.
		{"qualify karpenter@v1.6.4 --since none", 3, []string{"cannot say", scenario, "was not played"}},
		{"qualify karpenter@v1.6.4 --tags @" + scenario + " --since none -o md", 0, []string{"### Stays: 1"}},
		{"qualify karpenter@v1.6.4 --tags @" + scenario + " --since none -o json", 0, []string{`"answer": "` + string(qualification.Fit) + `"`}},
	} {
		args := append(strings.Fields(test.args), run)
		code, stdout, stderr := nodestorm(t, args...)
		if code != test.code {
			t.Errorf("%s: %d, want %d: %s%s", test.args, code, test.code, stdout, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s prints no %q:\n%s", test.args, want, stdout)
			}
		}
	}
}

// TestQualifyWithComparison takes a comparison of the same two releases, and no other.
func TestQualifyWithComparison(t *testing.T) {
	run := aRun(t)
	file := filepath.Join(t.TempDir(), "comparison.json")
	for text, want := range map[string]string{
		`{"workload": "day", "variants": [{"name": "karpenter@v1.5.0"}, {"name": "karpenter@v1.6.4"}], "rows": [{"variant": 1, "measure": "cost", "claim": "worse"}]}`: "The workload day, beside karpenter@v1.5.0: in 1 of 1 measure the difference is certain",
		`{"variants": [{"name": "karpenter@v1.6.4"}, {"name": "karpenter@v1.5.0"}], "rows": [{"variant": 1}]}`:                                                         "it compares karpenter@v1.6.4 with karpenter@v1.5.0: want karpenter@v1.5.0, and with it karpenter@v1.6.4",
		`{`: "it is no comparison",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stdout, stderr := nodestorm(t, "qualify", "karpenter@v1.6.4", "--since", "v1.5.0", "--tags", "@"+scenario, "--comparison", file, run)
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: %s%s, want %q", text, stdout, stderr, want)
		}
	}
	b := newBench(t)
	b.refuses(t, "--comparison: it is with the release before, and --since none has none", "qualify", "karpenter@v1.6.4", "--since", "none", "--comparison", file)
}

// TestQualifyRefuses says in one line what cannot be played, before anything is.
func TestQualifyRefuses(t *testing.T) {
	b := newBench(t)
	for flags, want := range map[string]string{
		"--kubernetes v1.36.3,v1.35.4":         "--kubernetes v1.35.4: kubernetes@v1.35.4 is not in the store",
		"--kubernetes v1.36.3,v1.36.3":         "it is there twice; want releases such as v1.36.3, with commas between them",
		"--kubernetes v1.36.3,":                "want releases such as v1.36.3",
		"--kubernetes v1.36.3,v1.20.1":         "release v1.20.1 of Kubernetes is too old",
		"--explore -1m":                        "--explore -1m0s: want a span, such as 10m",
		"--explore 10m --since none some/runs": "--explore plays, and of runs that are there nothing is played",
	} {
		b.refuses(t, want, append([]string{"qualify", "karpenter@v1.7.0"}, strings.Fields(flags)...)...)
	}
}

// TestNoReleaseBefore skips an upgrade where there is nothing to upgrade from.
func TestNoReleaseBefore(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := queue.Queue{Catalogue: catalogue, Features: catalogue.Features(), Settings: replay.Settings{Cluster: replay.Simulated}}
	record, err := catalogue.Lookup("karpenter-4403-upgraded-scaling-up")
	if err != nil {
		t.Fatal(err)
	}
	for version, played := range map[string]bool{"v1.0.6": false, "v1.5.0": true, "mine": true} {
		build := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: version}}}
		play, without := s.Playable(t.Context(), []queue.Job{s.Job(record, build)})
		if len(play) == 1 != played {
			t.Errorf("on %s played is %t: %+v", version, !played, without)
		}
		if !played && !strings.Contains(without[0].Reason, "knows 0 releases of karpenter before v1.0.6") {
			t.Errorf("on %s the reason is %q", version, without[0].Reason)
		}
	}
}

// TestGiven skips, among others, what a release cannot be given, and leaves what is played alone to its replay.
func TestGiven(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := queue.Queue{Catalogue: catalogue, Features: catalogue.Features()}
	build := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}}, Dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(build.Binary()), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, build.Binary(), "a program that knows FEATURE_GATES, and NodeRepair of them", 0o600)
	var jobs []queue.Job
	for _, id := range []string{scenario, "karpenter-3028-not-ready"} {
		record, err := catalogue.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, s.Job(record, build))
	}
	play, without := s.Given(t.Context(), jobs)
	if len(play) != 1 || play[0].Record.ID != scenario || len(without) != 1 ||
		!strings.HasSuffix(without[0].Reason, "karpenter@v1.7.0 knows no feature gate CapacityBuffer") {
		t.Errorf("%d are played: %+v", len(play), without)
	}
	if play, without := s.Given(t.Context(), jobs[1:]); len(play) != 1 || len(without) != 0 {
		t.Errorf("alone: %d are played: %+v", len(play), without)
	}
}
