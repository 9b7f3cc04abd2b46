package replay

import (
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
