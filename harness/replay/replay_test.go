package replay_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/time/clock"
	"nodestorm/sim/time/lag"
)

const scenario = "karpenter-7515-not-ready-noexecute"

var affected = builds.Ref{Name: "karpenter", Version: "v1.6.4"}

func lookup(t *testing.T, id string) scenarios.Record {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// request is for the scenario on the affected release. What its world starts has
// the folder that it returns in its environment as TMPDIR.
func request(t *testing.T) (replay.Request, string) {
	t.Helper()
	r := replay.Request{
		Record: lookup(t, scenario), Features: os.DirFS("../../features"), Target: buildstest.Get(t, affected),
		Settings: replay.Settings{World: world.Config{Seed: 1}, Kubernetes: buildstest.Get(t, builds.Kubernetes)},
	}
	r.Out = filepath.Join(t.TempDir(), "runs, all: mine") // godog splits its own paths at commas
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	return r, tmp
}

func gone(t *testing.T, tmp string) {
	t.Helper()
	for _, p := range processtest.ProcessesUnder(tmp) {
		t.Errorf("left running: %d %s", p.PID, p.Command)
	}
	if files, err := os.ReadDir(tmp); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// watcher calls each of its functions once in a world, when its step begins there.
type watcher struct {
	world *world.World
	at    map[string]func(*world.World)
	done  map[string]bool
}

func (w *watcher) ready(started *world.World) { w.world, w.done = started, map[string]bool{} }

func (w *watcher) step(step string, _ func() lag.Figures) {
	for text, do := range w.at {
		if w.world != nil && strings.HasPrefix(step, text) && !w.done[text] {
			w.done[text] = true
			do(w.world)
		}
	}
}

// undistorted replays, and again where the machine was too busy to show anything.
func undistorted(t *testing.T, r replay.Request) replay.Result {
	t.Helper()
	result, err := replay.Undistorted(t.Context(), r, func(thrown replay.Result) { t.Logf("runs again: %s", thrown.Clock.Distorted()) })
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const (
	when = `a Deployment "web" of 1 pod`
	then = "5m from now, exactly 1 NodeClaim"
)

func TestRun(t *testing.T) {
	r, tmp := request(t)
	processtest.Poison(t)
	var keys []string
	looked, intruded := false, func() {}
	w := watcher{at: map[string]func(*world.World){when: func(w *world.World) {
		target, ok := w.Component("karpenter")
		if !ok {
			t.Error("there is no component karpenter")
			return
		}
		looked = true
		checkIdentity(t, target.PID())
		secret := checkWayOut(t, w, target.PID())
		checkLoopback(t, tmp, 5)
		processtest.CheckStrangers(t, tmp, 5, openMetrics())
		processtest.CheckUnpoisoned(t, tmp, 6)
		keys = append(privateKeys(t, tmp), secret)
		intruded = intrude(t, w, tmp)
	}}}
	r.Watch, r.Ready = w.step, w.ready
	result := undistorted(t, r)
	gone(t, tmp)
	if result.Verdict != verdict.Reproduced || !looked {
		t.Fatalf("%s: %s (looked inside: %t)", result.Verdict, result.Reason, looked)
	}
	intruded()
	t.Run("files", func(t *testing.T) {
		checkFiles(t, result.Dir, result.Verdict)
		if n := len(keys); n < 5 {
			t.Errorf("%d private keys in the world, want those of its users and servers", n)
		}
		for _, leak := range leaks(t, result.Dir, keys) {
			t.Error(leak)
		}
	})
	t.Run("recheck", func(t *testing.T) { checkRecheck(t, result) })
}

// checkJUnit looks for one case with the steps, without what Jenkins' schema refuses. It
// passed if the failure showed as the catalogue promises it, or nothing was concluded.
func checkJUnit(t *testing.T, dir string, of verdict.Verdict) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, run.JUnitFile))
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Cases []struct {
			Name    string     `xml:"name,attr"`
			Class   string     `xml:"classname,attr"`
			Time    string     `xml:"time,attr"`
			Others  []xml.Attr `xml:",any,attr"`
			Failure *struct{}  `xml:"failure"`
			Output  string     `xml:"system-out"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatalf("%s: %v", run.JUnitFile, err)
	}
	if len(suites.Cases) != 1 {
		t.Fatalf("%s has %d test cases, want one", run.JUnitFile, len(suites.Cases))
	}
	c := suites.Cases[0]
	if c.Failure != nil != (of == verdict.Failed) || len(c.Others) > 0 || !strings.Contains(c.Output, "failed: Then ") {
		t.Errorf("%s has %+v, want one of a run that is %s, with the steps", run.JUnitFile, c, of)
	}
}

func checkFiles(t *testing.T, dir string, of verdict.Verdict) {
	t.Helper()
	checkJUnit(t, dir, of)
	text, err := os.ReadFile(filepath.Join(dir, run.CucumberFile))
	if err != nil {
		t.Fatal(err)
	}
	var features []struct {
		Elements []struct {
			Steps []struct{ Result struct{ Status string } }
		}
	}
	if err := json.Unmarshal(text, &features); err != nil || len(features) != 1 || len(features[0].Elements) != 1 || len(features[0].Elements[0].Steps) != 7 {
		t.Errorf("%s has %+v, %v; want one scenario with seven steps", run.CucumberFile, features, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(dir, run.LogFolder, "*.log")); len(logs) < 5 {
		t.Errorf("logs %v, want one of each component", logs)
	}
}

// checkRecheck judges a reproduced run again, as it is and spoilt.
func checkRecheck(t *testing.T, result replay.Result) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	same, err := run.Recheck(t.Context(), result.Dir, kept.Records(catalogue))
	if err != nil || same.Now.Verdict != result.Verdict || same.Now.Reason != result.Reason {
		t.Errorf("judged again: %+v, %v; live it was %+v", same.Now, err, result.Judgement)
	}
	spoilt := func(name string, want verdict.Verdict, reason string, catalogue *scenarios.Catalogue, spoil func(dir string)) {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(result.Dir)); err != nil {
			t.Fatal(err)
		}
		spoil(dir)
		again, err := run.Recheck(t.Context(), dir, kept.Records(catalogue))
		if err != nil || again.Now.Verdict != want || !strings.Contains(again.Now.Reason, reason) {
			t.Errorf("%s: %+v, %v; want %s with %q", name, again.Now, err, want, reason)
		}
	}
	spoilt("a detector that sees nothing", verdict.Failed, "not as documented, the symptom is not in the history", blind(t), func(string) {})
	spoilt("half a history", verdict.Inconclusive, "", catalogue, func(dir string) {
		path := filepath.Join(dir, run.HistoryFile)
		info, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, info.Size()/2)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	spoilt("a distorted clock", verdict.Inconclusive, "the clock was distorted", catalogue, func(dir string) {
		r := result.Run
		r.Clock.Lag.P99 = lag.Budget + time.Millisecond
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// A Then can fail before the last part of the symptom is there: the world goes on for it.
func TestRunAwaitsSymptom(t *testing.T) {
	r, _ := request(t)
	text, err := fs.ReadFile(r.Features, r.Record.Feature)
	if err != nil {
		t.Fatal(err)
	}
	early := strings.NewReplacer(then+" has been created since the start", `a pod of the Deployment "web" is Running within 20s`).Replace(string(text))
	r.Features = fstest.MapFS{r.Record.Feature: {Data: []byte(early)}}
	r.Record.Symptom.Sequence = slices.Clone(r.Record.Symptom.Sequence)
	r.Record.Symptom.Sequence[len(r.Record.Symptom.Sequence)-1].Within = checker.Duration(5 * time.Minute)
	if result := undistorted(t, r); result.Verdict != verdict.Reproduced {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
}

// blind is a catalogue whose symptoms never occur.
func blind(t *testing.T) *scenarios.Catalogue {
	t.Helper()
	files := fstest.MapFS{}
	source := os.DirFS("../../scenarios")
	names, err := fs.Glob(source, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(source, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(text), "actor: karpenter", "actor: {matches: no-one}"))}
	}
	catalogue, err := scenarios.LoadFrom(files)
	if err != nil {
		t.Fatal(err)
	}
	return catalogue
}

// A part that dies is named, and nothing is concluded; if it is the target, the run
// has failed. The files are complete.
func TestRunDeath(t *testing.T) {
	for part, test := range map[string]struct {
		step   string
		want   verdict.Verdict
		reason string
	}{
		"kube-scheduler": {when, verdict.Inconclusive, "a component died: kube-scheduler ended (signal: killed)"},
		"karpenter":      {then, verdict.Failed, "the target died: karpenter ended (signal: killed)"},
	} {
		t.Run(part, func(t *testing.T) {
			r, tmp := request(t)
			w := watcher{at: map[string]func(*world.World){test.step: func(w *world.World) {
				if p, ok := w.Component(part); !ok || syscall.Kill(p.PID(), syscall.SIGKILL) != nil {
					t.Errorf("could not kill %s", part)
				}
			}}}
			r.Watch, r.Ready = w.step, w.ready
			result, err := replay.Run(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if result.Verdict != test.want || !strings.Contains(result.Reason, test.reason) || strings.Contains(result.Reason, "\n") {
				t.Errorf("%s: %q; want %s in one line with %q", result.Verdict, result.Reason, test.want, test.reason)
			}
			checkFiles(t, result.Dir, result.Verdict)
			gone(t, tmp)
		})
	}
}

// An interrupted run has no verdict, then or later.
func TestRunInterrupted(t *testing.T) {
	r, tmp := request(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("the user has seen enough")
	w := watcher{at: map[string]func(*world.World){then: func(*world.World) { cancel(enough) }}}
	r.Watch, r.Ready = w.step, w.ready
	if _, err := replay.Run(ctx, r); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
	gone(t, tmp)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Recheck(t.Context(), filepath.Join(r.Out, scenario, affected.String()), kept.Records(catalogue))
	if err != nil || again.Run.Verdict != "" || again.Now.Verdict != verdict.Inconclusive || !strings.Contains(again.Now.Reason, "the run did not come to its end") {
		t.Errorf("stored as %q, judged again: %+v, %v", again.Run.Verdict, again.Now, err)
	}
}

// At a thousand times real time no machine fires its timers within the budget.
func TestUndistorted(t *testing.T) {
	r, tmp := request(t)
	r.World.Clock = clock.Fixed(1000)
	var thrown []replay.Result
	result, err := replay.Undistorted(t.Context(), r, func(again replay.Result) { thrown = append(thrown, again) })
	if err != nil {
		t.Fatal(err)
	}
	gone(t, tmp)
	for _, r := range thrown {
		if stored, err := run.Load(r.Dir); err != nil || stored.Discarded != filepath.Base(result.Dir) {
			t.Errorf("%s does not name %s as the run that counts: %+v, %v", r.Dir, result.Dir, stored, err)
		}
	}
	if want := filepath.Join(r.Out, scenario, affected.String()); result.Dir != want {
		t.Errorf("the run that counts is in %s, want %s", result.Dir, want)
	}
	if len(thrown) != 2 || result.Verdict != verdict.Inconclusive || thrown[0].Dir == thrown[1].Dir {
		t.Errorf("%d runs thrown away, and then %s in %s; want two, and inconclusive", len(thrown), result.Verdict, result.Dir)
	}
	r.World.Clock = clock.Auto
	result, err = replay.Undistorted(t.Context(), r, func(again replay.Result) {
		if again.Clock.Distorted() == "" {
			t.Errorf("thrown away: %s: %s", again.Verdict, again.Reason)
		}
	})
	if err != nil || result.Verdict != verdict.Reproduced {
		t.Errorf("%s: %s, %v", result.Verdict, result.Reason, err)
	}
}
