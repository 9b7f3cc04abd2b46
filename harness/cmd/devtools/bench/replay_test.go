package bench

import (
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/replay"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
)

// recordOf is a record of the catalogue.
func recordOf(b *testing.B, id string) (*scenarios.Catalogue, scenarios.Record) {
	b.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		b.Fatal(err)
	}
	record, err := catalogue.Lookup(id)
	if err != nil {
		b.Fatal(err)
	}
	return catalogue, record
}

// replayOf is how a record of the catalogue is replayed on one of its targets.
func replayOf(b *testing.B, catalogue *scenarios.Catalogue, record scenarios.Record, on scenarios.Target) replay.Request {
	b.Helper()
	ref, err := builds.ParseRef(on.Name)
	if err != nil {
		b.Fatal(err)
	}
	return replay.Request{
		Record: record, Features: catalogue.Features(), Target: buildstest.Get(b, ref),
		Settings: replay.Settings{World: world.Config{Seed: 1}, Kubernetes: buildstest.Get(b, builds.Kubernetes), Out: b.TempDir()},
	}
}
