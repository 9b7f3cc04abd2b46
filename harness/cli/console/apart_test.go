package console

import (
	"bytes"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/scenarios"
)

// What takes long to build is left out of all records where the store lacks it, and that is said.
func TestWithoutApart(t *testing.T) {
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	e := &Console{Stderr: &said, Store: store}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var records []scenarios.Record
	for _, id := range []string{"aws-9616-short-fleet", "karpenter-4403-control-plane", "karpenter-3166-labels-of-a-buffer", "karpenter-1713-room",
		"karpenter-4403-control-plane-at-rest"} {
		r, err := catalogue.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	got := e.WithoutApart(catalogue, records)
	if len(got) != 1 || got[0].ID != records[4].ID {
		t.Errorf("what is left: %v", got)
	}
	// A release of Karpenter that is named is played, whatever it takes.
	if named := e.WithoutOthersApart(catalogue, records[1:], "karpenter"); len(named) != 2 || named[0].ID != records[2].ID {
		t.Errorf("what is left for Karpenter: %v", named)
	}
	for _, want := range []string{
		"left out: 4 records, for which the store lacks what takes long to build: nodestorm target build descheduler@v0.36.0 " +
			"karpenter-aws@v1.12.1 karpenter-aws@v1.14.0 karpenter@v1.14.0 kubernetes@v1.35.4\n",
		"left out: 2 records, for which the store lacks what takes long to build: nodestorm target build descheduler@v0.36.0 kubernetes@v1.35.4\n",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it says %q, want %q", said.String(), want)
		}
	}
}
