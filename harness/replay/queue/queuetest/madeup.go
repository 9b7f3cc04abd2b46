// Package queuetest has workers of package queue whose replays are made up.
package queuetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
	"nodestorm/sim/time/lag"
)

// EnvMadeUp makes the test binary a worker whose replays are made up, in this folder, as
// script.json there has it. See MadeUp.
const EnvMadeUp = "NODESTORM_TEST_MADE_UP"

// request is what a worker is asked, see package queue.
type request struct {
	Job    int
	ID     string
	Target string
	Alone  bool
}

// message is what a worker answers, see package queue.
type message struct {
	Step    string        `json:"step,omitempty"`
	Begun   string        `json:"begun,omitempty"`
	Virtual time.Duration `json:"virtual,omitempty"`
	Mean    float64       `json:"mean,omitempty"`
	Row     *table.Row    `json:"row,omitempty"`
	Failed  string        `json:"failed,omitempty"`
	Code    int           `json:"code,omitempty"`
	Stuck   string        `json:"stuck,omitempty"`
}

// MadeUp plays what it is asked to, without a world:
//
//	""       the run ends at once, as expected
//	"fails"  it ends in a way that is not expected
//	"late"   with others it is inconclusive
//	"ill"    it is inconclusive alone, too
//	"after"  it ends when the job behind it in the sequence has
//	"dies"   with others the process ends by a panic
//	"dead"   it does so alone, too
//	"full"   the disk is full
//	"waits"  it ends only by a signal
func MadeUp() {
	dir := os.Getenv(EnvMadeUp)
	var script []string
	text, err := os.ReadFile(filepath.Join(dir, "script.json"))
	if err := errors.Join(err, json.Unmarshal(text, &script)); err != nil {
		panic(err)
	}
	var nth, of int
	if _, err := fmt.Sscanf(os.Getenv("NODESTORM_PLAYER"), "%d/%d", &nth, &of); err != nil {
		panic(err)
	}
	w := worker{dir: dir, script: script, out: json.NewEncoder(os.Stdout), interrupted: make(chan os.Signal, 1)}
	signal.Notify(w.interrupted, syscall.SIGINT)
	for in := json.NewDecoder(os.Stdin); ; {
		var o request
		if in.Decode(&o) != nil {
			return
		}
		w.play(o)
	}
}

type worker struct {
	dir         string
	script      []string
	out         *json.Encoder
	interrupted chan os.Signal
}

func (w worker) answer(m message) { _ = w.out.Encode(m) }

func (w worker) createFile(name string) { _ = os.WriteFile(filepath.Join(w.dir, name), nil, 0o600) }

// play plays one job. The file plays-N is there for as long as it does.
func (w worker) play(o request) {
	plays := filepath.Join(w.dir, fmt.Sprintf("plays-%d", o.Job))
	if others, _ := filepath.Glob(filepath.Join(w.dir, "plays-*")); o.Alone && len(others) > 0 {
		w.answer(message{Failed: fmt.Sprintf("job %d was to play alone, and %v do", o.Job, others)})
		return
	}
	w.createFile(filepath.Base(plays))
	dir := filepath.Join(w.dir, "runs", o.ID, o.Target)
	for w.begin(o, dir) != nil { // as in package replay
		dir += ".2"
	}
	w.answer(message{Begun: dir})
	w.answer(message{Step: "a step", Virtual: time.Minute, Mean: 30})
	v := verdict.Healthy
	switch what := w.script[o.Job]; {
	case what == "fails":
		v = verdict.Failed
	case what == "late" && !o.Alone, what == "ill":
		v = verdict.Inconclusive
	case what == "dies" && !o.Alone, what == "dead":
		_ = os.Remove(plays)
		panic("a step that panics")
	case what == "full":
		_ = os.Remove(plays)
		w.answer(message{Failed: "writing run.json: no space left on device; make room", Code: exit.Inconclusive})
		return
	case what == "waits":
		<-w.interrupted
		w.createFile(fmt.Sprintf("interrupted-%d", o.Job))
		w.answer(message{Failed: "interrupted by SIGINT", Code: exit.Inconclusive, Stuck: "etcd is still there"})
		return
	case what == "after":
		next := filepath.Join(w.dir, fmt.Sprintf("done-%d", o.Job+1))
		if !WaitUntil(time.Minute, func() bool { _, err := os.Stat(next); return err == nil }) {
			panic(fmt.Sprintf("job %d has not ended in a minute", o.Job+1))
		}
	}
	w.finishJob(o, dir, plays, v)
}

// begin makes the folder of a run.
func (w worker) begin(o request, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		panic(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return run.Run{ID: o.ID}.Save(dir)
}

// finishJob stores the run of a job and sends its row.
func (w worker) finishJob(o request, dir, plays string, v verdict.Verdict) {
	row := table.Row{ID: o.ID, Target: o.Target, Expected: "healthy", Verdict: string(v), WallSeconds: 1.5, Run: dir}
	row.Outcome = string(verdict.Compare(scenarios.Healthy, v))
	row.Reason = fmt.Sprintf("job %d", o.Job)
	if err := StoreRun(row, "01"); err != nil {
		panic(err)
	}
	w.createFile(fmt.Sprintf("done-%d", o.Job))
	_ = os.Remove(plays)
	w.answer(message{Row: &row})
}

// WaitUntil looks for something until it is there, and reports whether it was in time.
func WaitUntil(limit time.Duration, there func() bool) bool {
	for end := time.Now().Add(limit); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// StoreRun writes a run as short as one can be.
func StoreRun(row table.Row, sha string) error {
	ref, err := builds.ParseRef(row.Target)
	if err != nil {
		return err
	}
	source := builds.Source{Kind: builds.FromModule, Module: builds.Modules[ref.Name], Version: ref.Version, Package: "./kwok"}
	kubernetes := builds.Manifest{Ref: builds.Kubernetes, Source: builds.Source{Kind: builds.FromModule, Module: "nodestorm/sim/kubernetes"},
		SHA256: "03"}
	r := run.Run{ID: row.ID, Target: builds.Manifest{Ref: ref, Source: source, SHA256: sha}, Kubernetes: kubernetes,
		Expected: scenarios.Expectation(row.Expected), Clock: lag.Figures{Mode: "auto"}, Seal: &run.Seal{Record: row.Run}} // no two are alike
	r.Verdict = verdict.Verdict(row.Verdict)
	const history = `{"seq":1,"source":"harness","verb":"ended"}` + "\n"
	return errors.Join(
		os.MkdirAll(row.Run, 0o700), r.Save(row.Run),
		os.WriteFile(filepath.Join(row.Run, run.HistoryFile), []byte(history), 0o600), run.Reseal(context.Background(), row.Run),
	)
}

// Jobs are as many as the script has lines, of one record on made-up targets, see MadeUp. They are played
// in the folder that it returns, in which runs are below "runs".
func Jobs(
	t *testing.T, script ...string,
) (catalogue *scenarios.Catalogue, records []scenarios.Record, targets []builds.Target, dir string) {
	t.Helper()
	dir = t.TempDir()
	text, _ := json.Marshal(script)
	if err := os.WriteFile(filepath.Join(dir, "script.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvMadeUp, dir)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-7515-not-ready-noexecute")
	if err != nil {
		t.Fatal(err)
	}
	for i := range script {
		ref, err := builds.ParseRef(fmt.Sprintf("karpenter@v1.%d.0", 10+i))
		if err != nil {
			t.Fatal(err)
		}
		r := record
		r.Targets = []scenarios.Target{{Name: ref.String(), Expected: scenarios.Healthy}}
		records, targets = append(records, r), append(targets, builds.Target{Manifest: builds.Manifest{Ref: ref}})
	}
	return catalogue, records, targets, dir
}
