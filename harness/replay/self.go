package replay

import (
	"context"
	"runtime/debug"
	"strings"

	"nodestorm/harness/builds/repository"
	"nodestorm/harness/run"
)

// built is the commit that this program was built from, with "+dirty" behind it if
// there were uncommitted changes. The Makefile has the linker set it.
var built string

// Self is what this program was built from, and what the features are of: the checkout,
// or the program where that is empty. The program of a test, which does not know its
// commit, is of the checkout around it; of any other the checkout may hold another.
func Self(ctx context.Context, around, checkout string) (program, features run.Code) {
	state := func(dir string) (c run.Code) {
		if dir != "" {
			c.Commit, c.Dirty = repository.State(ctx, dir)
		}
		return c
	}
	program.Commit, program.Dirty = strings.CutSuffix(built, "+dirty")
	if program.Commit == "" {
		program = stamped()
	}
	if program.Commit == "" && ofTest {
		program = state(around)
	}
	if checkout == "" {
		return program, program
	}
	return program, state(checkout)
}

// ofTest reports whether this is the program that go test has just built and runs.
var ofTest = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && strings.HasSuffix(info.Path, ".test")
}()

// stamped is what the go command notes in programs that it builds in a checkout.
func stamped() (c run.Code) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return c
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			c.Commit = s.Value
		case "vcs.modified":
			c.Dirty = s.Value == "true"
		}
	}
	return c
}
