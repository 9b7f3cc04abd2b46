package buildstore

import "time"
import "nodestorm/harness/builds"

// Stage is what a build is doing.
type Stage string

// The stages of a build, in order. A build whose target is already there has none.
const (
	Waiting     Stage = "waiting"      // for another build of the same target
	Checkout    Stage = "checking out" // a ref of a repository
	Downloading Stage = "downloading"
	Compiling   Stage = "compiling"
	Linking     Stage = "linking"
	Unpacking   Stage = "unpacking" // an image, instead
	Pushing     Stage = "pushing"   // to a registry
	Pulling     Stage = "pulling"   // from a registry
)

// Update is one piece of news from a build.
type Update struct {
	Ref   builds.Ref
	Stage Stage
	// Done of Total layers have been unpacked, MiB pushed or pulled, or packages
	// have been compiled or are being. Those that Go's
	// build cache has are not counted before linking starts, and if it has all,
	// there is no news after the first. Zero Total means not known yet.
	Done, Total int
	// Package is the one that was started last; while downloading, a module;
	// while unpacking, the image.
	Package string
	// Elapsed is real time since the build was asked for.
	Elapsed time.Duration
	// Expected is how long the build will take about, see [Store.Expected]. Zero is not known.
	Expected time.Duration
}

// Phases are the stages of every build from source, in order: of one that has all in Go's
// build cache the last takes all the time.
var Phases = []Stage{Downloading, Compiling, Linking}

// Progress receives the news of a build, one at a time. Nil is allowed.
type Progress func(Update)

// reporter fills in what all updates of one build have in common.
type reporter struct {
	ref      builds.Ref
	start    time.Time
	expected time.Duration
	to       Progress
}

func (r reporter) send(u Update) {
	if r.to != nil {
		u.Ref, u.Elapsed, u.Expected = r.ref, time.Since(r.start), r.expected
		r.to(u)
	}
}
