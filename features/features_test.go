package features_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/time/clock"
)

var (
	tags  = flag.String("godog.tags", "", "godog tag expression that chooses scenarios, for example @issue-7515")
	out   = flag.String("nodestorm.out", "", "folder for the runs; empty: a temporary one")
	seed  = flag.Uint64("nodestorm.seed", 1, "what all randomness of the simulated nodes derives from")
	speed clock.Mode
)

func TestMain(m *testing.M) {
	flag.Var(&speed, "nodestorm.clock", "auto, real, or a factor such as 60x")
	flag.Parse()
	os.Exit(m.Run())
}

// The catalogue and the features name each other.
func TestCatalogueAgreesWithFeatures(t *testing.T) {
	catalogue, files := load(t), os.DirFS(".")
	if err := catalogue.CheckFeatures(files); err != nil {
		t.Error(err)
	}
	for _, record := range catalogue.Records() {
		if err := (replay.Request{Record: record, Features: files}).CheckSteps(); err != nil {
			t.Errorf("%s: %v", record.ID, err)
		}
	}
}

func load(t *testing.T) *scenarios.Catalogue {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

func TestFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("replays need the control plane and the targets of the catalogue; run without -short")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	kubernetes, err := store.Get(builds.Kubernetes)
	if err != nil {
		t.Skipf("no control plane: %v", err)
	}
	runs := *out
	if runs == "" {
		runs = t.TempDir()
	}
	ran, err := stored(os.Getenv("NODESTORM_RUNS"))
	if err != nil {
		t.Fatalf("NODESTORM_RUNS: %v", err)
	}
	var failed []string // once more at the end: what a long log keeps in view
	defer func() {
		for _, what := range failed {
			t.Log(what)
		}
	}()
	catalogue := load(t)
	for _, record := range chosen(t, catalogue, os.DirFS(".")) {
		for _, of := range record.Targets {
			t.Run(record.ID+"/"+of.Name, func(t *testing.T) {
				ref, err := builds.ParseRef(of.Name)
				if err != nil {
					t.Fatal(err)
				}
				ref.Provider = record.Provider()
				build, err := replay.Find(store, ref)
				if err == nil { // another Kubernetes is built for those only who ask for it
					err = replay.Request{Record: record, Target: build, Features: os.DirFS(".")}.CheckKubernetes()
				}
				if err == nil {
					err = lacking(store, catalogue, record, of)
				}
				if err != nil {
					t.Skip(err)
				}
				result, err := played(t.Context(), ran, record, build)
				if errors.Is(err, errNotPlayed) {
					result, err = replay.Undistorted(ctx, replay.Request{
						Record: record, Target: build, Features: os.DirFS("."),
						Settings: replay.Settings{World: world.Config{Clock: speed, Seed: *seed}, Kubernetes: kubernetes, Out: runs},
					}, func(thrown replay.Result) { t.Logf("does not count, and runs again: %s", thrown.Clock.Distorted()) })
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s (%s), %s virtual at %.0fx, lag %s", result.Verdict, result.Reason, result.Clock.Virtual, result.Clock.Mean, result.Clock.Lag)
				if got := verdict.Compare(of.Expected, result.Verdict); got != verdict.AsExpected {
					what := fmt.Sprintf("%s: want %s, got %s: %s", got, of.Expected, result.Verdict, result.Reason)
					failed = append(failed, t.Name()+": "+what)
					t.Errorf("%s\n%s", what, logTails(result.Dir))
				}
			})
		}
	}
}

// lacking names what a replay needs that is built for those only who ask for it, and is not in the store.
func lacking(store *buildstore.Store, catalogue *scenarios.Catalogue, record scenarios.Record, of scenarios.Target) error {
	record.Targets = []scenarios.Target{of}
	needs, err := replay.NeededBy(catalogue, []scenarios.Record{record})
	for _, ref := range needs {
		if err == nil && replay.Apart(ref) {
			_, err = replay.Find(store, ref)
		}
	}
	return err
}

// errNotPlayed says that no stored run is of a scenario and a build.
var errNotPlayed = errors.New("not played")

// stored are the runs below the folder, the oldest first; none for "".
func stored(folder string) (runs []replay.Result, err error) {
	if folder == "" {
		return nil, nil
	}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != run.File {
			return err
		}
		dir := filepath.Dir(path)
		r, err := run.Load(dir)
		runs = append(runs, replay.Result{Run: r, Dir: dir})
		return err
	})
	slices.SortFunc(runs, func(a, b replay.Result) int { return a.Started.Compare(b.Started) })
	return runs, err
}

// played is the last stored run of the record on the build, judged again; those before
// it were thrown away as distorted.
func played(ctx context.Context, runs []replay.Result, record scenarios.Record, build builds.Target) (replay.Result, error) {
	catalogue, err := features.Catalogue()
	if err != nil {
		return replay.Result{}, err
	}
	for _, r := range slices.Backward(runs) {
		if r.ID != record.ID || r.Target.Ref != build.Ref || r.Target.Digests() != build.Digests() {
			continue
		}
		again, err := run.Recheck(ctx, r.Dir, kept.Records(catalogue))
		if err != nil {
			return r, err
		}
		r.Judgement = again.Now
		for said := range again.Events.Arrived() {
			err = cmp.Or(err, vocabulary.Check(said))
		}
		return r, err
	}
	return replay.Result{}, errNotPlayed
}

// chosen are the records of the scenarios with the tags.
func chosen(t *testing.T, catalogue *scenarios.Catalogue, features fs.FS) []scenarios.Record {
	t.Helper()
	if *tags == "" {
		return catalogue.Records()
	}
	records, err := replay.Tagged(catalogue, features, *tags)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// logTails is the end of every log of a run that went wrong: its folder may be
// gone by the time a test looks.
func logTails(dir string) string {
	var text strings.Builder
	logs, _ := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
	for _, path := range logs {
		b, _ := os.ReadFile(path)
		fmt.Fprintf(&text, "--- %s\n%s\n", filepath.Base(path), b[max(0, len(b)-1500):])
	}
	return text.String()
}
