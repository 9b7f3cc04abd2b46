package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"

	"nodestorm/features"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue/queuetest"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/matrix"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// Four shards of the built-in catalogue together are all of it, each replay once, and none
// of them is much longer than the others.
func TestShardsOfCatalogue(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var whole, split []string
	for _, r := range catalogue.Records() {
		needs, err := replay.NeededBy(catalogue, []scenarios.Record{r})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(needs, replay.Apart) {
			continue // none of them is in the store, see console.WithoutApart
		}
		for _, of := range r.Targets {
			whole = append(whole, r.ID+" on "+of.Name)
		}
	}
	var loads []float64
	longest := 0.0
	for n := 1; n <= 4; n++ {
		code, stdout, stderr := command(t, "list", "--shard", fmt.Sprintf("%d/4", n), "--json")
		var jobs []shard.Job
		if err := json.Unmarshal([]byte(stdout), &jobs); code != AsExpected || err != nil {
			t.Fatalf("status %d, %v: %s", code, err, stderr)
		}
		load := 0.0
		for _, j := range jobs {
			split = append(split, j.String())
			load += j.Seconds
			longest = max(longest, j.Seconds)
		}
		loads = append(loads, load)
	}
	slices.Sort(whole)
	slices.Sort(split)
	if !slices.Equal(whole, split) {
		t.Errorf("the shards have %d replays, the catalogue %d, and they are not the same", len(split), len(whole))
	}
	if least, most := slices.Min(loads), slices.Max(loads); most-least > longest {
		t.Errorf("the shards take %.0f s, and the longest replay %.0f s", loads, longest)
	}
}

// night is a machine with runs that ended in a given way: all, or those of a shard.
func night(t *testing.T, part string, change func(*console.Shard, []table.Row)) (out string, status int, stdout string) {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var text, stderr bytes.Buffer
	e, out := &console.Console{Stdout: &text, Stderr: &stderr}, t.TempDir()
	h := &console.Shard{Split: shard.Split{Text: part}}
	settings := replay.Settings{Out: out, Flags: []string{"--all=true", "--shard=" + part}}
	records := slices.DeleteFunc(catalogue.Records(), func(r scenarios.Record) bool { return !strings.HasPrefix(r.ID, "karpenter-7515-") })
	if records, err = h.Choose(t.Context(), e, settings, records); err != nil {
		t.Fatal(err)
	}
	var without, rows []table.Row
	for _, r := range records {
		for _, of := range r.Targets {
			if r.ID == "karpenter-7515-not-ready-flap" {
				without = append(without, table.Row{ID: r.ID, Target: of.Name, Expected: string(of.Expected), Verdict: table.Skipped, Outcome: table.Skipped, Reason: "it is not in the store"})
				continue
			}
			row := table.Row{ID: r.ID, Target: of.Name, Expected: string(of.Expected), Verdict: string(of.Expected), WallSeconds: 1.5, Run: filepath.Join(out, r.ID, of.Name)}
			if r.ID == "karpenter-7515-not-ready-noexecute" && of.Expected == "healthy" {
				row.Verdict = "reproduced"
			}
			row.Outcome = string(verdict.Compare(of.Expected, verdict.Verdict(row.Verdict)))
			rows = append(rows, row)
		}
	}
	if change != nil {
		change(h, rows)
	}
	for _, row := range rows {
		keepRun(t, row, "01")
	}
	rows = append(without, rows...)
	if err := h.SaveProgress(rows, true); err != nil {
		t.Fatal(err)
	}
	return out, exit.CodeOf(e.Finish(t.Context(), catalogue, rows, out, false, false)), text.String()
}

// keepRun writes a run as short as one can be.
func keepRun(t *testing.T, row table.Row, sha string) {
	t.Helper()
	if err := queuetest.StoreRun(row, sha); err != nil {
		t.Fatal(err)
	}
}

// seenIn is the matrix in a folder without what may differ: when it was made, and where the runs are.
func seenIn(t *testing.T, dir string) (seen string) {
	t.Helper()
	m, err := stored.ReadMatrix(t.Context(), filepath.Join(dir, "matrix.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range m.Cells {
		if _, err := os.Stat(filepath.Join(dir, c.Run)); err != nil {
			t.Errorf("the link to %s on %s leads nowhere: %v", c.Scenario, c.Target, err)
		}
		m.Cells[i].Run, m.Cells[i].Digest = "", ""
	}
	text, err := json.MarshalIndent(struct {
		Scenarios []matrix.Scenario
		Cells     []matrix.Cell
		Skipped   []matrix.Skip
	}{m.Scenarios, m.Cells, m.Skipped}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What four machines leave is, joined, what one would have left.
func TestMergeIsTheWhole(t *testing.T) {
	one, status, rows := night(t, "1/1", nil)
	if status != NotAsExpected || !strings.Contains(rows, "skipped") {
		t.Fatalf("one machine: status %d, %s", status, rows)
	}
	args := []string{"nightly", "merge", "--out", filepath.Join(t.TempDir(), "merged")}
	for n := 1; n <= 4; n++ {
		dir, _, _ := night(t, fmt.Sprintf("%d/4", n), nil)
		args = append(args, dir)
	}
	first, err := shard.Load(args[4])
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(first.Rows[slices.IndexFunc(first.Rows, func(r table.Row) bool { return r.Run != "" })].Run, run.ReportFile)
	if err := os.WriteFile(foreign, []byte("<script>anything</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, args...)
	if code != status || stderr != "" {
		t.Errorf("status %d, want %d: %s", code, status, stderr)
	}
	if text, err := os.ReadFile(foreign); err != nil || strings.Contains(string(text), "<script>anything") {
		t.Errorf("the page of a run is what the shard has left there: %v", err)
	}
	sameTable := func(text string) string { // without the places of runs and of the page
		var lines []string
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "  run: ") && !strings.HasPrefix(line, "What happened") {
				lines = append(lines, line)
			}
		}
		return strings.TrimSpace(strings.Join(lines, ""))
	}
	if got, want := sameTable(stdout), sameTable(rows); got != want {
		t.Errorf("merged:\n%s\nwant:\n%s", got, want)
	}
	if got, want := seenIn(t, args[3]), seenIn(t, one); got != want {
		t.Errorf("merged:\n%s\nwant:\n%s", got, want)
	}
	suites, err := junit.IngestFile(filepath.Join(args[3], run.JUnitFile))
	if err != nil || len(suites) != strings.Count(seenIn(t, one), `"wallSeconds"`) {
		t.Errorf("%d suites, %v", len(suites), err)
	}

	// The same shards with one of them gone, in the middle of its work, twice, or changed.
	code, stdout, stderr = command(t, append(slices.Clone(args[:4]), args[4:7]...)...)
	if code != NotAsExpected && code != Inconclusive || !strings.Contains(stderr, "shard 4/4 is missing, with ") || !strings.Contains(stdout, "MISSING") {
		t.Errorf("one gone: status %d, %s%s", code, stdout, stderr)
	}
	again, _, _ := night(t, "2/4", nil)
	wants := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := command(t, args...)
		if code != Usage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("status %d, %q, %q; want %q", code, stdout, stderr, want)
		}
	}
	wants("shard 2/4 is there twice, in ", append(slices.Clone(args), again)...)
	flags, _, _ := night(t, "2/4", func(h *console.Shard, _ []table.Row) { h.Kept.Flags = []string{"--seed=2"} })
	wants("flags of shard 1/4", append(slices.Concat(args[:5], args[6:]), flags)...)
	forged, _, _ := night(t, "2/4", nil)
	text, err := os.ReadFile(filepath.Join(forged, shard.File))
	if err == nil {
		err = os.WriteFile(filepath.Join(forged, shard.File), regexp.MustCompile(`"run": "[^"]+"`).ReplaceAll(text, []byte(`"run": ""`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	wants("and names no run that shows it", append(slices.Concat(args[:5], args[6:]), forged)...)
	wants("no shard.json in it or below", "nightly", "merge", t.TempDir())
	wants("/none is not there", "nightly", "merge", "/none")
	wants("no RUNS are named", "nightly", "merge")

	kept, err := shard.Load(args[4])
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(kept.Rows, func(r table.Row) bool { return r.Run != "" && r.Outcome == "expected" })
	healed := kept.Rows[at]
	keepRun(t, healed, "0badc0de")
	wants("was another build in shard 1/4", args...)
	change(t, filepath.Join(healed.Run, run.File), `"sha256": "0badc0de"`, `"sha256": "01"`)
	if code, _, _ := command(t, args...); code != NotAsExpected {
		t.Errorf("a run that was changed, and one that is not as expected: status %d", code)
	}
	if row := seenIn(t, args[3]); !strings.Contains(row, "was changed since the run") {
		t.Error("a changed run counts")
	}
	if err := os.RemoveAll(healed.Run); err != nil {
		t.Fatal(err)
	}
	wants("is no folder of a run", args...)
}

// A run is one, however often shards name it, by whatever path, and wherever it was copied to.
func TestMergeCountsRunsOnce(t *testing.T) {
	whole, _, _ := night(t, "1/1", nil)
	kept, err := shard.Load(whole)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(kept.Rows, func(r table.Row) bool { return r.Run != "" })
	dir := kept.Rows[at].Run
	link, copied := filepath.Join(whole, "link"), filepath.Join(whole, "copied")
	if err := errors.Join(os.Symlink(dir, link), os.CopyFS(copied, os.DirFS(dir))); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{dir, dir + "/../" + filepath.Base(dir), link, copied} {
		again := kept
		again.Rows = slices.Clone(kept.Rows)
		for range 2 {
			row := kept.Rows[at]
			row.Run = named
			again.Rows = append(again.Rows, row)
		}
		if err := again.Save(whole); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command(t, "nightly", "merge", whole, "--out", filepath.Join(t.TempDir(), "merged"))
		if code != Usage || stdout != "" || !strings.Contains(stderr, "is named twice, and counts once") {
			t.Errorf("%s: status %d, %q, %q", named, code, stdout, stderr)
		}
	}
}

// A status that is asked for is today's: what was otherwise last time is neither new nor gone.
func TestMatrixOfAStatusSince(t *testing.T) {
	before, _, _ := night(t, "1/1", func(_ *console.Shard, rows []table.Row) {
		for i, row := range rows {
			if was := row.ID == "karpenter-7515-startup-taint-declared"; row.Target == "karpenter@v1.7.0" && (was || row.ID == "karpenter-7515-not-ready-noexecute") {
				if rows[i].Verdict = "healthy"; was {
					rows[i].Verdict = "reproduced"
				}
				rows[i].Outcome = string(verdict.Compare(scenarios.Expectation(row.Expected), verdict.Verdict(rows[i].Verdict)))
			}
		}
	})
	now, _, _ := night(t, "1/1", nil)
	_, stdout, stderr := command(t, "matrix", now, "--status", "regression", "--since", filepath.Join(before, "matrix.json"))
	for _, id := range []string{"karpenter-7515-not-ready-noexecute", "karpenter-7515-startup-taint-declared"} {
		if !strings.Contains(stdout, id) {
			t.Errorf("%s has changed, and is not reported: %s%s", id, stdout, stderr)
		}
	}
	if strings.Contains(stdout, "is new") || strings.Contains(stdout, "is gone") || strings.Count(stdout, "karpenter-7515-startup-taint-declared") != 1 {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// All that is wrong with shards is reported before anything is built.
func TestShardArguments(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	other := t.TempDir()
	if err := (shard.Kept{Part: shard.Part{Number: 1, Of: 4}}).Save(other); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"verify|--all|--shard|5/4":                      `--shard "5/4": want i/N`,
		"verify|--all|--shard|2/4|--out|" + other:       "has what shard 1/4 left; name another folder for shard 2/4",
		"verify|--all|--durations|/none":                "--durations says how --shard i/N splits, and there is none",
		"verify|--all|--shard|1/4|--durations|/none":    "--durations: /none is not there",
		"list|--shard|1/4|--durations|cli_test.go.json": "--durations: cli_test.go.json is not there",
		"list|--shard|x":                                `--shard "x": want i/N`,
	} {
		words := strings.Split(args, "|")
		if words[0] == "verify" && !slices.Contains(words, "--out") {
			words = append(words, "--out", t.TempDir())
		}
		if code, stdout, stderr := command(t, words...); code != Usage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %q, %q; want %q", args, code, stdout, stderr, want)
		}
	}
	// More shards than replays: one has nothing to do, and that is all.
	out := t.TempDir()
	code, _, stderr := command(t, "verify", "karpenter-7515-not-ready-flap", "--shard", "9/9", "--out", out)
	if kept, err := shard.Load(out); code != AsExpected || err != nil || !kept.Ended || !strings.Contains(stderr, "shard 9/9 has 0 of ") {
		t.Errorf("status %d, %s, %+v, %v", code, stderr, kept, err)
	}
}

func change(t *testing.T, path, old, replacement string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A pod of an Indexed Job is the shard after its index, which begins at 0.
func TestShardOfJob(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	_, second, _ := command(t, "list", "--shard", "2/4")
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	code, stdout, stderr := command(t, "list", "--shard", "job/4")
	if code != AsExpected || stdout != second || second == "" {
		t.Errorf("status %d, %q, want %q: %s", code, stdout, second, stderr)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "4")
	if code, _, stderr := command(t, "list", "--shard", "job/4"); code != Usage || !strings.Contains(stderr, `"5/4": want i/N`) {
		t.Errorf("an index beyond the last: status %d, %s", code, stderr)
	}
}
