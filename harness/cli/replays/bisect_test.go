package replays

import (
	"slices"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/search/bisect"
)

// What was learned of another symptom, or on another cloud, is no answer.
func TestBisectConditions(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("hetzner-8402-min-size")
	if err != nil {
		t.Fatal(err)
	}
	b := &bisection{session: &session{}, Options: bisect.Options{Subject: bisect.Subject{Record: record}}}
	first := b.conditions()
	b.Record.Symptom.Statement += ", and more"
	second := b.conditions()
	b.Cloud = builds.Instances
	if third := b.conditions(); slices.Equal(first, second) || slices.Equal(second, third) {
		t.Errorf("the conditions are %q, %q and %q", first, second, third)
	}
}
