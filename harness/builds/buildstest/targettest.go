// Package buildstest gets builds for tests that start them.
package buildstest

import (
	"errors"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
)

// Get is the build that the store has of ref. Without it the test is skipped, and says
// what is missing and the command that gets it; a damaged one fails the test. Under -short it is skipped too, as
// what needs a build takes seconds at least.
func Get(t testing.TB, ref builds.Ref) builds.Target {
	t.Helper()
	if testing.Short() {
		t.Skipf("it starts %s; run without -short", ref)
	}
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	build, err := store.Get(ref)
	if errors.As(err, new(*buildstore.CorruptError)) {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	return build
}
