package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports"
	"nodestorm/scenarios"
)

// EnvMadeUp makes the test binary a player whose replays are made up, in this folder, as
// script.json there has it. See MadeUp.
const EnvMadeUp = "NODESTORM_TEST_MADE_UP"

// MadeUp plays what it is asked to, without a world:
//
//	""       the run ends at once, as expected
//	"fails"  it ends in a way that nobody expects
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
	if _, err := fmt.Sscanf(os.Getenv(envPlayer), "%d/%d", &nth, &of); err != nil {
		panic(err)
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	there := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	note := func(name string) { _ = os.WriteFile(filepath.Join(dir, name), nil, 0o600) }
	for {
		var o order
		if in.Decode(&o) != nil {
			return
		}
		plays := filepath.Join(dir, fmt.Sprintf("plays-%d", o.Job))
		if others, _ := filepath.Glob(filepath.Join(dir, "plays-*")); o.Alone && len(others) > 0 {
			_ = out.Encode(word{Failed: fmt.Sprintf("job %d was to play alone, and %v do", o.Job, others)})
			continue
		}
		note(filepath.Base(plays))
		_ = out.Encode(word{Step: "a step", Virtual: time.Minute, Mean: 30})
		v := verdict.Healthy
		switch what := script[o.Job]; {
		case what == "fails":
			v = verdict.Failed
		case what == "late" && !o.Alone, what == "ill":
			v = verdict.Inconclusive
		case what == "dies" && !o.Alone, what == "dead":
			_ = os.Remove(plays)
			panic("a step that nobody has thought of")
		case what == "full":
			_ = os.Remove(plays)
			_ = out.Encode(word{Failed: "writing run.json: no space left on device; make room", Code: Inconclusive})
			continue
		case what == "waits":
			<-interrupted
			note(fmt.Sprintf("interrupted-%d", o.Job))
			_ = out.Encode(word{Failed: "interrupted by SIGINT", Code: Inconclusive, Stuck: "etcd is still there"})
			continue
		case what == "after":
			if !within(time.Minute, func() bool { return there(fmt.Sprintf("done-%d", o.Job+1)) }) {
				panic(fmt.Sprintf("job %d has not ended in a minute", o.Job+1))
			}
		}
		row := reports.Row{ID: o.ID, Target: o.Target, Expected: "healthy", Verdict: string(v), WallSeconds: 1.5, Run: filepath.Join(dir, "runs", o.ID, o.Target)}
		if o.InPlaceOf != "" {
			row.Run += ".2"
		}
		row.Outcome = string(verdict.Compare(scenarios.Healthy, v))
		row.Reason = fmt.Sprintf("job %d", o.Job)
		if err := storeRun(row, "01"); err != nil {
			panic(err)
		}
		note(fmt.Sprintf("done-%d", o.Job))
		_ = os.Remove(plays)
		_ = out.Encode(word{Row: &row})
	}
}

// within looks for something until it is there, and tells whether it was in time.
func within(limit time.Duration, there func() bool) bool {
	for end := time.Now().Add(limit); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// madeUp is a command whose players are made up, with a task for each line of the script.
func madeUp(t *testing.T, script ...string) (s *session, tasks []task, said, stdout *bytes.Buffer, dir string) {
	t.Helper()
	dir = t.TempDir()
	text, _ := json.Marshal(script)
	if err := os.WriteFile(filepath.Join(dir, "script.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvMadeUp, dir)
	catalogue, err := scenarios.Load()
	if err != nil {
		t.Fatal(err)
	}
	said, stdout = &bytes.Buffer{}, &bytes.Buffer{}
	s = &session{env: &env{stdout: stdout, stderr: said}, catalogue: catalogue, features: catalogue.Features(), Settings: replay.Settings{Out: filepath.Join(dir, "runs")}, status: newStatus(io.Discard)}
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
		tasks = append(tasks, task{job{record: r, target: builds.Target{Manifest: builds.Manifest{Ref: ref}}}, i, ""})
	}
	return s, tasks, said, stdout, dir
}

var when = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d| UTC)?`)

// left is all that a command leaves: what it prints, the matrix, the JUnit XML, the index
// page, the exit status.
func left(t *testing.T, atATime int, script ...string) (all string) {
	t.Helper()
	s, tasks, said, stdout, dir := madeUp(t, script...)
	s.abreast.now = atATime
	rows, err := s.beside(t.Context(), tasks, func([]reports.Row) error { return nil })
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	status := statusOf(s.finish(rows, false))
	if err := s.reporter(s.catalogue).JUnit(rows, s.Out); err != nil {
		t.Fatal(err)
	}
	all = fmt.Sprintf("status %d\n%s\n%s\n", status, stdout, seenIn(t, s.Out))
	for _, name := range []string{run.JUnitFile, "index.html"} {
		text, err := os.ReadFile(filepath.Join(s.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return when.ReplaceAllString(strings.ReplaceAll(all, dir, "DIR"), "THEN")
}

// Whoever ends first: the verdicts, the matrix, the JUnit XML, the index page and the exit
// status are those of one world at a time.
func TestParallelIsTheSequence(t *testing.T) {
	script := []string{"after", "", "fails", "ill", "", ""}
	one := left(t, 1, strings.Split(strings.ReplaceAll(strings.Join(script, ","), "after", ""), ",")...)
	for _, atATime := range []int{2, 4, 20} {
		if got := left(t, atATime, script...); got != one {
			a, b := strings.Split(got, "\n"), strings.Split(one, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%d at a time, line %d: %s\nwant: %s", atATime, i+1, a[i], b[i])
					break
				}
			}
			if len(a) != len(b) {
				t.Errorf("%d at a time: %d lines, want %d", atATime, len(a), len(b))
			}
		}
	}
	if !strings.Contains(one, "status 1") {
		t.Errorf("the sequence: %.300s", one)
	}
}

// A run that others have made late, and one whose process ends, are played again alone, and
// nothing of that is anybody else's. One that ends each time is inconclusive, with why.
func TestPlayedAgainAlone(t *testing.T) {
	s, tasks, said, _, dir := madeUp(t, "late", "dies", "", "dead", "", "late")
	s.abreast.now = 3
	var kept [][]reports.Row
	rows, err := s.beside(t.Context(), tasks, func(rows []reports.Row) error { kept = append(kept, slices.Clone(rows)); return nil })
	if err != nil || len(rows) != len(tasks) {
		t.Fatalf("%d rows, %v: %s", len(rows), err, said)
	}
	for i, row := range rows {
		want, suffix := "healthy", ""
		switch i {
		case 0, 5:
			suffix = ".2"
		case 3:
			want = "inconclusive"
		}
		if row.Target != tasks[i].target.Ref.String() || row.Verdict != want || i != 3 && !strings.HasSuffix(row.Run, ".0"+suffix) {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	if why := rows[3].Reason; !strings.Contains(why, "the process that played it has ended: exit status 2: panic: a step that nobody has thought of") || rows[3].Run != "" {
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

// A full disk ends all, and what was done is told.
func TestParallelFullDisk(t *testing.T) {
	s, tasks, _, _, dir := madeUp(t, "", "full", "waits", "", "")
	s.abreast.now = 2
	rows, err := s.beside(t.Context(), tasks, func([]reports.Row) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no space left on device; make room") || statusOf(err) != Inconclusive {
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

// Ctrl-C ends all players, and what one of them could not end is told.
func TestParallelInterrupted(t *testing.T) {
	s, tasks, _, _, dir := madeUp(t, "waits", "waits", "")
	s.abreast.now = 2
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if !within(time.Minute, func() bool {
			playing, _ := filepath.Glob(filepath.Join(dir, "plays-*"))
			return len(playing) == 2
		}) {
			t.Error("two have not begun to play in a minute")
		}
		cancel(interruption{syscall.SIGINT})
	}()
	rows, err := s.beside(ctx, tasks, func([]reports.Row) error { return nil })
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

// Whose answer is not needed any more is interrupted, and nobody beside it; in its place the next is played.
func TestCrewGoesOn(t *testing.T) {
	s, tasks, _, _, dir := madeUp(t, "waits", "", "")
	c := &crew{session: s, board: newBoard(s.status, 0), of: 2}
	order := func(job int) order {
		return order{Job: job, ID: fmt.Sprintf("job-%d", job), Target: tasks[job].target.Ref.String(), AtOnce: 2}
	}
	play := func(ctx context.Context, hand, job int) error {
		row, err := c.play(ctx, hand, tasks[job], order(job))
		if err == nil && row.ID != order(job).ID {
			err = fmt.Errorf("the answer is of %s", row.ID)
		}
		return err
	}
	if err := play(t.Context(), 1, 1); err != nil {
		t.Fatal(err)
	}
	beside := c.hands[1]
	for range 2 { // by the one that is started for it, and by its next
		ctx, cancel := context.WithCancelCause(t.Context())
		unneeded := errors.New("its answer is not needed")
		go func() {
			within(time.Minute, func() bool { _, err := os.Stat(filepath.Join(dir, "plays-0")); return err == nil })
			cancel(unneeded)
		}()
		if err := play(ctx, 0, 0); !errors.Is(err, unneeded) {
			t.Errorf("it ends with %v", err)
		}
		if c.hands[0] != nil {
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
	if c.hands[1] != beside {
		t.Error("another one was interrupted as well")
	}
	_ = c.close() // what is made up says that etcd is still there
}

// A player that has come to another sequence plays nothing, and ends with its standard input.
func TestPlayerRefuses(t *testing.T) {
	s, tasks, _, _, _ := madeUp(t, "")
	var out bytes.Buffer
	p := &player{out: json.NewEncoder(&out)}
	for _, asked := range []string{`{"job":1}`, `{"job":-1}`, `{"job":0,"id":"another"}`, `{"job":0,"id":"karpenter-7515-not-ready-noexecute","target":"karpenter@v1.7.0"}`, `nonsense`, ``} {
		out.Reset()
		if err := p.serve(t.Context(), strings.NewReader(asked), among(t.Context(), s, []job{tasks[0].job})); err != nil {
			t.Errorf("%s: %v", asked, err)
		}
		if refused := strings.Contains(out.String(), "this process has another sequence"); refused != strings.HasPrefix(asked, "{") {
			t.Errorf("%s: says %s", asked, out.String())
		}
	}
}

// What several worlds do is told without a flood: elsewhere than on a terminal a line when
// one comes to another step.
func TestBoard(t *testing.T) {
	var text bytes.Buffer
	b := newBoard(newStatus(&text), 5)
	for range 100 {
		b.sees(0, "[1/5] one karpenter@v1", word{Step: "a step", Virtual: time.Minute, Mean: 30})
		b.sees(1, "[2/5] two karpenter@v1", word{Step: "another", Virtual: time.Hour, Mean: 10})
	}
	b.sees(0, "[1/5] one karpenter@v1", word{Step: "the next", Virtual: 2 * time.Minute, Mean: 30})
	b.ended(0)
	b.sees(0, "[3/5] three karpenter@v1", word{})
	want := "[1/5] one karpenter@v1  1m0s  30x  a step\n[2/5] two karpenter@v1  1h0m0s  10x  another\n[1/5] one karpenter@v1  2m0s  30x  the next\n[3/5] three karpenter@v1  \n"
	if text.String() != want {
		t.Errorf("%q\nwant %q", text.String(), want)
	}
}

// What cannot be is said before anything starts.
func TestParallelWrong(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	const id = "karpenter-7515-not-ready-noexecute"
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--parallel", "0"}, `--parallel: "0": want how many worlds play at a time, from 1 to 64, or auto`},
		{[]string{"--parallel", "-1"}, `--parallel: "-1": want how many`},
		{[]string{"--parallel", "two"}, `--parallel: "two": want how many`},
		{[]string{"--parallel", "1000"}, "--parallel 1000: want at most 64, as each world needs ports of its own; --shard i/N splits among machines"},
		{[]string{"--parallel", "2", "--clocks"}, "--parallel 2: a comparison plays one side after the other"},
		{[]string{"--parallel", "2", "--cluster", "kind"}, "--parallel 2: clusters of kind share one Docker"},
		{[]string{"--parallel", "2", "--cluster", "kind,sim"}, "--parallel 2: a comparison plays one side after the other"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		code, _, stderr := command(t, append([]string{"verify", id, "--out", out}, test.args...)...)
		if code != Usage || !strings.Contains(stderr, test.says) {
			t.Errorf("%v: status %d, %s", test.args, code, stderr)
		}
		if found, _ := os.ReadDir(out); len(found) > 0 {
			t.Errorf("%v: %v was begun", test.args, found)
		}
	}
	code, _, stderr := command(t, "run", id, "--target", "karpenter@v1.7.0", "--parallel", "2", "--watch", "--out", t.TempDir())
	if code != Usage || !strings.Contains(stderr, "--parallel 2: --watch is for one run; leave it out") {
		t.Errorf("status %d, %s", code, stderr)
	}
}
