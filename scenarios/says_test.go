package scenarios_test

import (
	"testing"

	"nodestorm/scenarios"
)

// A catalogue has the words of its records and features, and not those of comments nor parts of others.
func TestSays(t *testing.T) {
	c := scenarios.CatalogueOf(scenarios.Record{Title: "nodes of max\nand mia", Mechanism: "It waits.", Feature: "zoe/x.feature"})
	for word, want := range map[string]bool{"max": true, "mia": true, "ma": false, "waits": true, "zoe": false, "node": false} {
		if c.HasWord(word) != want {
			t.Errorf("%s: %t", word, !want)
		}
	}
	text := []byte("# by zoe\nFeature: of max\n  # and mia\n  Scenario: a\n    Given a \"web-server\"\n")
	for word, want := range map[string]bool{"zoe": false, "mia": false, "max": true, "web": true, "server": true, "serve": false} {
		if scenarios.ContainsWord(text, word) != want {
			t.Errorf("%s: %t", word, !want)
		}
	}
	if (*scenarios.Catalogue)(nil).HasWord("max") {
		t.Error("no catalogue says something")
	}
}
