package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/cli/output"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue/queuetest"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/sim/time/lag"
)

func TestMain(m *testing.M) {
	if os.Getenv(queuetest.EnvMadeUp) != "" && os.Getenv(EnvWorker) != "" {
		queuetest.MadeUp()
		return
	}
	os.Exit(m.Run())
}

// words takes what is said, a line each.
type words struct{ to *bytes.Buffer }

func (w words) Say(format string, args ...any)    { fmt.Fprintf(w.to, format+"\n", args...) }
func (w words) Remark(format string, args ...any) { w.Say(format, args...) }
func (w words) Detail(string, ...any)             {}
func (w words) NewLine() supply.Line              { return output.NewLine(w.to) }

// madeUp is a queue whose workers are made up, with a task for each line of the script.
func madeUp(t *testing.T, script ...string) (q *Queue, tasks []Task, said *bytes.Buffer, dir string) {
	t.Helper()
	catalogue, records, targets, dir := queuetest.Jobs(t, script...)
	said = &bytes.Buffer{}
	q = &Queue{Settings: replay.Settings{Out: filepath.Join(dir, "runs")}, Output: words{said}, Supply: &supply.Supplier{Output: words{said}}, Catalogue: catalogue, Features: catalogue.Features()}
	for i := range script {
		tasks = append(tasks, Task{Job: q.Job(records[i], targets[i]), Index: i})
	}
	return q, tasks, said, dir
}

// A run that others have made late, and one whose process ends, are played again alone, and
// nothing of that is anybody else's. One that ends each time is inconclusive, with why.
func TestPlayedAgainAlone(t *testing.T) {
	s, tasks, said, dir := madeUp(t, "late", "dies", "", "dead", "", "late")
	s.AtOnce = 3
	var kept [][]table.Row
	rows, err := s.PlayParallel(t.Context(), tasks, func(rows []table.Row) error { kept = append(kept, slices.Clone(rows)); return nil })
	if err != nil || len(rows) != len(tasks) {
		t.Fatalf("%d rows, %v: %s", len(rows), err, said)
	}
	for i, row := range rows {
		want := "healthy"
		if i == 3 {
			want = "inconclusive"
		}
		target := tasks[i].Target.Ref.String()
		folder := filepath.Join(dir, "runs", row.ID, target)
		if row.Target != target || row.Verdict != want || i != 3 && row.Run != folder {
			t.Errorf("row %d: %+v", i, row)
		}
		counts, err := run.Load(folder)
		if err != nil || counts.Discarded != "" {
			t.Errorf("in the folder of %s is %+v, %v", target, counts, err)
		}
		if i == 2 || i == 4 {
			continue
		}
		discarded, err := run.Load(folder + run.DiscardedSuffix)
		if err != nil || discarded.Discarded != target {
			t.Errorf("the run that does not count on %s: %+v, %v", target, discarded, err)
		}
	}
	if why := rows[3].Reason; !strings.Contains(why, "the process that played it has ended: exit status 2: panic: a step that panics") || rows[3].Run != "" {
		t.Errorf("the dead one: %+v", rows[3])
	}
	if n := strings.Count(said.String(), "does not count beside others, and is played again alone: "); n != 4 {
		t.Errorf("%d are said to be played again: %s", n, said)
	}
	if !strings.Contains(said.String(), "from now on one plays at a time") {
		t.Errorf("that there are fewer is not said: %s", said)
	}
	if last := kept[len(kept)-1]; len(last) != len(rows) {
		t.Errorf("%d rows kept", len(last))
	}
	if playing, _ := filepath.Glob(filepath.Join(dir, "plays-*")); len(playing) > 0 {
		t.Errorf("%v still play", playing)
	}
}

// A full disk ends all, and what was done is reported.
func TestParallelFullDisk(t *testing.T) {
	s, tasks, _, dir := madeUp(t, "", "full", "waits", "", "")
	s.AtOnce = 2
	rows, err := s.PlayParallel(t.Context(), tasks, func([]table.Row) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no space left on device; make room") || exit.CodeOf(err) != exit.Inconclusive {
		t.Errorf("%v", err)
	}
	for _, row := range rows {
		if row.Verdict != "healthy" {
			t.Errorf("%+v", row)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "done-3")); err == nil {
		t.Error("something was played after that")
	}
}

// Ctrl-C ends all players, and what one of them could not end is reported.
func TestParallelInterrupted(t *testing.T) {
	s, tasks, _, dir := madeUp(t, "waits", "waits", "")
	s.AtOnce = 2
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if !queuetest.WaitUntil(time.Minute, func() bool {
			playing, _ := filepath.Glob(filepath.Join(dir, "plays-*"))
			return len(playing) == 2
		}) {
			t.Error("two have not begun to play in a minute")
		}
		cancel(context.Canceled)
	}()
	rows, err := s.PlayParallel(ctx, tasks, func([]table.Row) error { return nil })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "etcd is still there") || len(rows) != 0 {
		t.Errorf("%v, rows %v", err, rows)
	}
	for n := range 2 {
		if _, err := os.Stat(filepath.Join(dir, "interrupted-"+strconv.Itoa(n))); err != nil {
			t.Errorf("player %d was not interrupted", n)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "done-2")); err == nil {
		t.Error("another one began")
	}
}

// A player whose answer is not needed any more is interrupted, and no other; in its place the next is played.
func TestWorkersGoOn(t *testing.T) {
	s, tasks, _, dir := madeUp(t, "waits", "", "")
	w := &workers{queue: s, board: s.newBoard(0), of: 2}
	ask := func(job int) workRequest {
		return workRequest{Job: job, ID: fmt.Sprintf("job-%d", job), Target: tasks[job].Target.Ref.String(), AtOnce: 2}
	}
	play := func(ctx context.Context, worker, job int) error {
		row, err := w.request(ctx, worker, "", ask(job))
		if err == nil && row.ID != ask(job).ID {
			err = fmt.Errorf("the answer is of %s", row.ID)
		}
		return err
	}
	if err := play(t.Context(), 1, 1); err != nil {
		t.Fatal(err)
	}
	beside := w.all[1]
	for range 2 { // by the one that is started for it, and by its next
		ctx, cancel := context.WithCancelCause(t.Context())
		unneeded := errors.New("its answer is not needed")
		go func() {
			queuetest.WaitUntil(time.Minute, func() bool { _, err := os.Stat(filepath.Join(dir, "plays-0")); return err == nil })
			cancel(unneeded)
		}()
		if err := play(ctx, 0, 0); !errors.Is(err, unneeded) {
			t.Errorf("it ends with %v", err)
		}
		if w.all[0] != nil {
			t.Error("who was interrupted is asked again")
		}
		if err := os.Remove(filepath.Join(dir, "interrupted-0")); err != nil {
			t.Error(err)
		}
		_ = os.Remove(filepath.Join(dir, "plays-0"))
		if err := errors.Join(play(t.Context(), 0, 1), play(t.Context(), 1, 2)); err != nil {
			t.Error(err)
		}
	}
	if w.all[1] != beside {
		t.Error("another one was interrupted as well")
	}
	_ = w.close() // what is made up says that etcd is still there
}

// A player that has come to another sequence plays nothing, and ends with its standard input.
func TestWorkerRefuses(t *testing.T) {
	s, tasks, _, _ := madeUp(t, "")
	var out bytes.Buffer
	w := &Worker{out: json.NewEncoder(&out)}
	for _, asked := range []string{`{"job":1}`, `{"job":-1}`, `{"job":0,"id":"another"}`, `{"job":0,"id":"karpenter-7515-not-ready-noexecute","target":"karpenter@v1.7.0"}`, `nonsense`, ``} {
		out.Reset()
		if err := w.Serve(t.Context(), strings.NewReader(asked), s, s.LookupIn([]Job{tasks[0].Job})); err != nil {
			t.Errorf("%s: %v", asked, err)
		}
		if refused := strings.Contains(out.String(), "this process has another sequence"); refused != strings.HasPrefix(asked, "{") {
			t.Errorf("%s: says %s", asked, out.String())
		}
	}
}

// everything has a line for each step.
type everything struct{ words }

func (w everything) NewLine() supply.Line { return output.NewPlainLine(w.to) }

// What several worlds do is printed without a flood: elsewhere than on a terminal a line when
// one comes to another step.
func TestBoard(t *testing.T) {
	var text bytes.Buffer
	q := &Queue{Output: words{&text}, all: 2}
	q.newBoard(5).step(0, "one", "a step", lag.Figures{})
	q.printRow(table.Row{ID: "one", Target: "karpenter@v1", Verdict: "healthy", Outcome: "expected", Run: "x", WallSeconds: 12.3})
	q.printRow(table.Row{ID: "two\x1b", Target: "karpenter@v1", Verdict: "healthy", Outcome: "regression", Run: "x", WallSeconds: 1})
	want := "[1/2] ✓ one karpenter@v1 healthy 12s\n[2/2] ✗ two\\x1b karpenter@v1 healthy, regression 1s\n"
	if text.String() != want {
		t.Errorf("without -v: %q\nwant %q", text.String(), want)
	}
	if _, err := q.PlayRounds(t.Context(), nil, nil, Rounds{Repeat: 1}, nil, nil); err != nil || q.all != 2 {
		t.Errorf("after another call, of nothing: %d replays in all (%v), want the 2 of before", q.all, err)
	}
	text.Reset()
	b := (&Queue{Output: everything{words{&text}}}).newBoard(5)
	b.parallel = true
	for range 100 {
		b.step(0, "[1/5] one karpenter@v1", "a step", lag.Figures{Virtual: time.Minute, Mean: 30})
		b.step(1, "[2/5] two karpenter@v1", "another", lag.Figures{Virtual: time.Hour, Mean: 10})
	}
	b.step(0, "[1/5] one karpenter@v1", "the next", lag.Figures{Virtual: 2 * time.Minute, Mean: 30})
	b.ended(0)
	b.step(0, "[3/5] three karpenter@v1", "", lag.Figures{})
	want = "[1/5] one karpenter@v1  1m0s  30x  a step\n[2/5] two karpenter@v1  1h0m0s  10x  another\n[1/5] one karpenter@v1  2m0s  30x  the next\n[3/5] three karpenter@v1  \n"
	if text.String() != want {
		t.Errorf("%q\nwant %q", text.String(), want)
	}
}
