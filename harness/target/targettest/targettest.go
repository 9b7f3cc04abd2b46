// Package targettest gets builds for tests that start them.
package targettest

import (
	"testing"

	"nodestorm/harness/target"
)

// Get is the build that the store has of ref. Without it the test is skipped, and says
// what is missing and the command that gets it; under -short it is skipped too, as
// what needs a build takes seconds at least.
func Get(t testing.TB, ref target.Ref) target.Target {
	t.Helper()
	if testing.Short() {
		t.Skipf("it starts %s; run without -short", ref)
	}
	store, err := target.Open("")
	if err != nil {
		t.Fatal(err)
	}
	build, err := store.Get(ref)
	if err != nil {
		t.Skip(err)
	}
	return build
}
