package harness_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNightlyWorkflowMergesShards lays the artefacts of the nightly workflow out as its jobs do, and has its merge find what the
// shards have played, and nothing of what is played at 1x: those are calls with other flags, which cannot be joined.
func TestNightlyWorkflowMergesShards(t *testing.T) {
	text, err := os.ReadFile("../.github/workflows/nightly.yml")
	if err != nil {
		t.Fatal(err)
	}
	merge := regexp.MustCompile(`nightly merge (\S+) --out`).FindSubmatch(text)
	if merge == nil {
		t.Fatal("nothing is merged")
	}
	root := t.TempDir()
	played := map[string]bool{} // by folder, whether it is to be merged
	for _, call := range regexp.MustCompile(`verify --all (.*)--out reports/out/(\S+)-\$\{\{ matrix.shard \}\}`).FindAllSubmatch(text, -1) {
		for _, n := range []string{"1", "2"} { // the artefact shard-N has what reports/out had
			folder := filepath.Join(root, "reports/out/shards/shard-"+n, string(call[2])+"-"+n)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			played[folder] = !strings.Contains(string(call[1]), "--clocks")
		}
	}
	found, err := filepath.Glob(filepath.Join(root, string(merge[1])))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range found {
		if wanted, its := played[folder]; !its || !wanted {
			t.Errorf("%s is merged", folder)
		}
		delete(played, folder)
	}
	for folder, wanted := range played {
		if wanted {
			t.Errorf("%s is not merged", folder)
		}
	}
}
