package replay

import (
	"errors"
	"os"
	"slices"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/scenarios"
)

// A build for another cloud than the record's is not asked what it takes.
func TestBuildsForCloud(t *testing.T) {
	t.Setenv("NODESTORM_CACHE", t.TempDir())
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	ref := builds.Ref{Name: "cluster-autoscaler", Version: "1.36.1", Provider: "aws"}
	if _, err := store.Add(t.Context(), buildstore.Recipe{Ref: ref}, "/bin/true"); err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]int{"aws": 1, "hetzner": 0} {
		s := scenarios.Scenario{Record: scenarios.Record{ID: "a", Autoscaler: ref.Name, System: system,
			Targets: []scenarios.Target{{Name: "cluster-autoscaler@1.36.1"}}}}
		if got := slices.Collect(buildsFor(s)); len(got) != want {
			t.Errorf("for %s there are %d builds, want %d", system, len(got), want)
		}
	}
}

// A variable may be for the release that runs in place of the target, but not for another program.
func TestMentionsBeside(t *testing.T) {
	build := func(name, text string) builds.Target {
		of := builds.Target{Dir: t.TempDir(), Manifest: builds.Manifest{Ref: builds.Ref{Name: name, Version: "v1.0.0"}}}
		if err := errors.Join(os.Mkdir(of.Bin(), 0o700), os.WriteFile(of.Binary(), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return of
	}
	target, older, other := build("karpenter", "BATCH"), build("karpenter", "WEBHOOK"), build("descheduler", "WEBHOOK")
	if err := mentions(target, "environment variable", []string{"BATCH", "WEBHOOK"}, other, older); err != nil {
		t.Error(err)
	}
	if err := mentions(target, "environment variable", []string{"BATCH", "WEBHOOK"}, other); err == nil {
		t.Error("a variable of another program is one of the target's")
	}
}
