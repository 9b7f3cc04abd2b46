package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/queue/queuetest"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
)

var when = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d| UTC)?`)

// left is all that a command leaves: what it prints, the matrix, the JUnit XML, the index
// page, the exit status.
func left(t *testing.T, atATime int, script ...string) (all string) {
	t.Helper()
	catalogue, records, targets, dir := queuetest.Jobs(t, script...)
	var said, stdout bytes.Buffer
	e, out := &console.Console{Stdout: &stdout, Stderr: &said}, filepath.Join(dir, "runs")
	q := &queue.Queue{
		Settings: replay.Settings{Out: out}, Output: e, Supply: e.Supplier(), Catalogue: catalogue, Features: catalogue.Features(), AtOnce: atATime,
	}
	var jobs []queue.Job
	for i, r := range records {
		jobs = append(jobs, q.Job(r, targets[i]))
	}
	rows, err := q.PlayParallel(t.Context(), queue.Tasks(jobs), func([]table.Row) error { return nil })
	if err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	status := exit.CodeOf(e.Finish(t.Context(), catalogue, rows, out, false, false))
	if err := e.Reporter(catalogue).JUnit(t.Context(), rows, out); err != nil {
		t.Fatal(err)
	}
	all = fmt.Sprintf("status %d\n%s\n%s\n", status, &stdout, seenIn(t, out))
	for _, name := range []string{run.JUnitFile, "index.html"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return when.ReplaceAllString(strings.ReplaceAll(all, dir, "DIR"), "THEN")
}

// Whichever ends first: the verdicts, the matrix, the JUnit XML, the index page and the exit
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
