package buildstore

import (
	"fmt"
	"slices"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/reports/wording"
)

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

// String is the news in a line: which phase of which, how long of what is expected, and what
// comes after it. Packages are those that were compiled: Go has no news of those that it has
// already.
func (u Update) String() string {
	text := fmt.Sprintf("%s: %s", u.Ref, u.Stage)
	phase := slices.Index(Phases, u.Stage)
	switch {
	case u.Stage == Unpacking:
		text += fmt.Sprintf(" layer %d of %d", u.Done+1, u.Total)
	case u.Stage == Pushing || u.Stage == Pulling:
		text += fmt.Sprintf(" %d of %d MiB", u.Done, u.Total)
	case phase >= 0:
		text += fmt.Sprintf(" (phase %d of %d)", phase+1, len(Phases))
	}
	text += ", " + u.Elapsed.Round(time.Second).String()
	switch {
	case u.Expected == 0 || phase < 0:
	case u.Elapsed < u.Expected:
		text += fmt.Sprintf(" of about %s (%d %%)", u.Expected.Round(time.Second), 100*u.Elapsed/u.Expected)
	default:
		text += fmt.Sprintf(", longer than the %s expected", u.Expected.Round(time.Second))
	}
	if u.Stage == Compiling && u.Done > 0 {
		text += fmt.Sprintf(", %s compiled", wording.Counted(u.Done, "package"))
	}
	if phase >= 0 && phase+1 < len(Phases) {
		text += fmt.Sprintf(", then %s", Phases[phase+1])
	}
	return text
}
