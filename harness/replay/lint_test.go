package replay_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

// Lint has nothing to say of the catalogue, as if it were a folder of a user's.
func TestLintOfCatalogue(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, record := range catalogue.Records() {
		maps.Copy(all, folderOf(t, catalogue, record))
	}
	l, err := replay.Lint(scenarios.Empty(), []string{written(t, all)})
	if err != nil {
		t.Fatal(err)
	}
	if l.Recorded < len(catalogue.Records()) {
		t.Errorf("it looks at %d of %d records", l.Recorded, len(catalogue.Records()))
	}
	for _, p := range l.Problems {
		t.Error(p)
	}
}

// A step may name a release that the catalogue knows, one that is like none of those, and one that the store has.
func TestLintFindsReleases(t *testing.T) {
	store := t.TempDir()
	t.Setenv("NODESTORM_CACHE", store)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-4403-upgraded")
	if err != nil {
		t.Fatal(err)
	}
	folder := folderOf(t, catalogue, record)
	right := folder[record.Feature]
	for version, want := range map[string]string{"v1.7.0": "", "v1.14.1": "", "v1.7.1": "",
		"v1.77.0": "the step names karpenter@v1.77.0, and the store has no build of it: did you mean v1.7.0?",
		"v1.41.1": "did you mean v1.14.1?", "1.7.0": "did you mean v1.7.0?"} {
		folder[record.Feature] = strings.ReplaceAll(right, "upgraded to v1.7.0", "upgraded to "+version)
		if got := linted(t, folder); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: it says %q, want %q", version, got, want)
		}
	}
	if err := os.MkdirAll(filepath.Join(store, "targets", "karpenter", "v1.77.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	folder[record.Feature] = strings.ReplaceAll(right, "upgraded to v1.7.0", "upgraded to v1.77.0")
	if got := linted(t, folder); got != "" {
		t.Errorf("of a build in the store it says %q", got)
	}
}
