package harness_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

var update = flag.Bool("update", false, "write the counts into the documents")

// counted are the places of documents that count what there is: the numbers are in the order of counts.
var counted = []struct {
	file   string
	says   *regexp.Regexp
	counts []string
}{
	{"README.md", regexp.MustCompile(`\d+ of\s\d+\srecords`), []string{"played", "records"}},
	{"README.md", regexp.MustCompile(`\d+\srecords\sof\s\d+\sissues,\s\d+\sof\sthem\scontrols`), []string{"records", "issues", "controls"}},
	{"docs/quickstart.md", regexp.MustCompile(`\d+ replays of \d+ records`), []string{"replays", "played"}},
	{"docs/quickstart.md", regexp.MustCompile(`without a word all \d+`), []string{"records"}},
	{"docs/tutorial-first-failure.md", regexp.MustCompile(`, \d+ symptoms: `), []string{"records"}},
}

// TestReferenceCounts keeps what documents count of the catalogue in step with it.
func TestReferenceCounts(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	counts, issues := map[string]int{}, map[string]bool{}
	for _, r := range catalogue.Records() {
		needs, err := replay.NeededBy(catalogue, []scenarios.Record{r})
		if err != nil {
			t.Fatal(err)
		}
		counts["records"]++
		issues[r.Issue] = true
		if r.Control() {
			counts["controls"]++
		}
		if !program.Named(r.Autoscaler).PerCloud && !slices.ContainsFunc(needs, replay.Apart) { // what make replay plays
			counts["played"]++
			counts["replays"] += len(r.Targets)
		}
	}
	counts["issues"] = len(issues)
	number := regexp.MustCompile(`\d+`)
	for _, place := range counted {
		file := filepath.Join("..", filepath.FromSlash(place.file))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !place.says.Match(text) {
			t.Errorf("%s does not say %q", place.file, place.says)
		}
		now := place.says.ReplaceAllStringFunc(string(text), func(said string) string {
			next := 0
			return number.ReplaceAllStringFunc(said, func(string) string {
				next++
				return strconv.Itoa(counts[place.counts[next-1]])
			})
		})
		if *update && now != string(text) {
			if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if now != string(text) {
			t.Errorf("%s counts other than the catalogue has, where it says %q: run make reference", place.file, place.says)
		}
	}
}
