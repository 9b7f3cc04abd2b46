package console

import (
	"bytes"
	"strings"
	"testing"

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
	of := func(id, autoscaler, target string) scenarios.Record {
		return scenarios.Record{ID: id, Autoscaler: autoscaler, Targets: []scenarios.Target{{Name: target}}}
	}
	got := e.WithoutApart([]scenarios.Record{
		of("aws-1-a", "karpenter-aws", "karpenter-aws@v1.14.0"), of("karpenter-1-a", "karpenter", "karpenter@v1.7.0"),
	})
	if len(got) != 1 || got[0].ID != "karpenter-1-a" {
		t.Errorf("what is left: %v", got)
	}
	if !strings.Contains(said.String(), "left out: 1 record of karpenter-aws") {
		t.Errorf("it says %q", said.String())
	}
}
