// Package run is the folder of one run: what was run and what came of it, in
// files that can be judged again without running anything.
//
//	run.json        Run
//	history.ndjson  the history, see sim/history
//	logs/           a file per component
//	scenario/       the feature and the record, if they are a user's own
//	junit.xml       its verdict and steps, as JUnit XML, see reports/formats
//	cucumber.json   its steps, as Cucumber JSON
//	report.html     all of it for people, see reports/page
package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/lag"
)

// Names of the files and folders in a run's folder.
const (
	File         = "run.json"
	HistoryFile  = "history.ndjson"
	LogFolder    = "logs"
	JUnitFile    = "junit.xml"
	CucumberFile = "cucumber.json"
	ReportFile   = "report.html"
	// ScenarioFolder is a catalogue of the run's scenario.
	ScenarioFolder = "scenario"
)

// Format is the version of run.json that this build writes. It changes when an
// older reader would misunderstand the file. Of runs of an older format, which have
// no Seal, nothing is concluded; they can be shown.
const Format = 2

// Run is run.json. It is written when the run begins, without clock figures and
// verdict, and again when it is over.
type Run struct {
	Format int `json:"format"`
	// ID is the scenario's in the catalogue.
	ID string `json:"id"`
	// Seed is what all randomness of the run derives from.
	Seed uint64 `json:"seed"`
	// Commit is nodestorm's own, empty when it is not known.
	Commit string `json:"commit,omitempty"`
	// Started is real time. Epoch is the virtual time from which the history's
	// offsets count; zero in runs of before it was kept.
	Started time.Time `json:"started"`
	Epoch   time.Time `json:"epoch,omitzero"`
	// Target is the build under test, Kubernetes the control plane.
	Target     builds.Manifest `json:"target"`
	Kubernetes builds.Manifest `json:"kubernetes,omitzero"`
	// Flags are those of the command, with base names for paths, Settings what the
	// target was started with: arguments or environment, without credentials.
	Flags    []string `json:"flags,omitempty"`
	Settings []string `json:"settings,omitempty"`
	// Facts are what judges have to know of the target and of its cloud; none in runs of before
	// they were kept.
	Facts []invariants.Fact `json:"facts,omitempty"`
	// Provenance says what else was run; nil in runs of before it was noted.
	Provenance *Provenance `json:"provenance,omitempty"`
	// Clock says how time passed, from when the world was ready.
	Clock lag.Figures `json:"clock"`
	// Wall is how long the run took in real time, with the begin and the end of its world;
	// zero in runs of before it was kept, and in those that did not come to their end.
	Wall time.Duration `json:"wall,omitzero"`
	// Expected is what the catalogue promised when the run was made.
	Expected scenarios.Expectation `json:"expected,omitempty"`
	// AtOnce is how many worlds at most the command had playing at the same time; zero is this one. InPlaceOf is the
	// folder, beside this one, of a run that was inconclusive with others beside it, and in whose
	// place this one was played alone.
	AtOnce    int    `json:"atOnce,omitempty"`
	InPlaceOf string `json:"inPlaceOf,omitempty"`
	// Discarded is the folder, beside this one, of the run that counts in place of this one, see Discard.
	Discarded string `json:"discarded,omitempty"`
	// Unrecorded says that the scenario has no record in any catalogue.
	Unrecorded bool `json:"unrecorded,omitempty"`
	// Unplayed is what went wrong outside the history: virtual time stood still, a
	// part of the world did not end. Empty means nothing.
	Unplayed string `json:"unplayed,omitempty"`
	// OwnLog is nil where the target's log is not known, or not there.
	OwnLog *OwnLog `json:"ownLog,omitempty"`
	// Repeats is nil where the target repeats no error, and in runs that were set up.
	Repeats *Repeats `json:"repeats,omitempty"`
	// Judgement is empty in a run that did not come to its end, and so is Seal.
	verdict.Judgement
	Seal *Seal `json:"seal,omitempty"`

	// doubts are what Load found wrong with the file.
	doubts []string
}

// Expects is what the catalogue's promise for the release that a build is named after is worth for the build: nothing
// of one that is not of that release. What is expected of it is then what is right, as of a branch.
func Expects(of builds.Manifest, promised scenarios.Expectation) scenarios.Expectation {
	// mutant: any program stands for the release that it is named after
	if !of.OfRelease() {
		return ""
	}
	return promised
}

// Took is how long the run took in real time: with its world, where that was kept.
func (r *Run) Took() time.Duration { return cmp.Or(r.Wall, r.Clock.Wall) }

// Save writes run.json into the folder, which must exist, whole or not at all.
func (r Run) Save(dir string) error {
	r.Format = Format
	text, err := r.encode()
	if err != nil {
		return fmt.Errorf("writing %s: %w", File, err)
	}
	return WriteFile(dir, File, text)
}

// WriteFile writes the file called name into the folder, which must exist, whole
// or not at all.
func WriteFile(dir, name string, text []byte) error {
	file, err := os.CreateTemp(dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// maxSize bounds run.json, of which real ones have a few KiB: it may be a stranger's.
const maxSize = 4 << 20

// Load reads the folder's run.json. The error says in one line whether dir is no
// folder of a run, or what is wrong with it. Whether something was changed since is
// not asked: see Checked.
func Load(dir string) (Run, error) {
	text, err := strict.ReadFile(filepath.Join(dir, File), maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Run{}, fmt.Errorf("%s is no folder of a run: it has no %s", dir, File)
	case errors.As(err, new(*strict.LargeError)):
		return Run{}, fmt.Errorf("%s was not written by nodestorm: %w", filepath.Join(dir, File), strict.WithoutPath(err))
	case err != nil:
		return Run{}, fmt.Errorf("reading a run: %w", err)
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		what := "is damaged"
		if !strings.HasSuffix(strings.TrimSpace(string(text)), "}") {
			what = fmt.Sprintf("is cut off after %d bytes", len(text))
		}
		return Run{}, fmt.Errorf("%s %s: %w", filepath.Join(dir, File), what, err)
	}
	switch {
	case r.Format == 0 || r.ID == "":
		return Run{}, fmt.Errorf("%s was not written by nodestorm: format or id is missing", filepath.Join(dir, File))
	case r.Format > Format || r.Format < 0:
		return Run{}, fmt.Errorf("%s has format %d, this nodestorm reads formats up to %d: use the nodestorm that made the run (commit %q)",
			filepath.Join(dir, File), r.Format, Format, r.Commit)
	}
	r.doubts = r.integrityProblems(text)
	r.Expected = Expects(r.Target, r.Expected) // runs of before have what was promised of the name
	return r, nil
}
