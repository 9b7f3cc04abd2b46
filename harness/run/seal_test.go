package run_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// change rewrites a file of a run's folder.
func change(t *testing.T, dir, name string, to func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, to(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replaced(old, with string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(with), 1) }
}

// linesBy rewrites a text line by line.
func linesBy(to func([]string) []string) func([]byte) []byte {
	return func(text []byte) []byte { return []byte(strings.Join(to(strings.SplitAfter(string(text), "\n")), "")) }
}

func without(is func(n int, line string) bool) func([]byte) []byte {
	return linesBy(func(lines []string) (kept []string) {
		for n, line := range lines {
			if !is(n, line) {
				kept = append(kept, line)
			}
		}
		return kept
	})
}

// Whatever is changed in a stored run makes it inconclusive, and what is wrong is said.
// digests are computed anew where that is said: what is found then is found without them.
func TestRecheckOfChangedRuns(t *testing.T) {
	other, _ := store(t, "passed", launched[:5]...)
	history, err := os.ReadFile(filepath.Join(other, run.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	const differs = "history.ndjson was changed since the run, or is another run's"
	tests := []struct {
		name, file string
		change     func([]byte) []byte
		resealed   bool
		want       string
	}{
		{"the deciding step deleted", run.HistoryFile, without(func(_ int, line string) bool { return strings.Contains(line, `"source":"step"`) }), false, "history.ndjson: seq 7 to 7 are missing"},
		{"the deciding step deleted, digests anew", run.HistoryFile, without(func(_ int, line string) bool { return strings.Contains(line, `"source":"step"`) }), true, "seq 7 to 7 are missing"},
		{"a third deleted", run.HistoryFile, without(func(n int, _ string) bool { return n%3 == 1 }), false, "seq 2 to 2 are missing"},
		{"the last lines deleted", run.HistoryFile, without(func(n int, _ string) bool { return n >= 6 }), false, "had 8 events when the run ended, and its last is 6"},
		{"adjacent lines swapped", run.HistoryFile, linesBy(func(lines []string) []string { lines[2], lines[3] = lines[3], lines[2]; return lines }), true, "seq 3 is out of its place, behind 4"},
		{"a line twice", run.HistoryFile, linesBy(func(lines []string) []string { return slices.Insert(lines, 3, lines[2]) }), true, "line 4: seq 3 is already on line 3"},
		{"another run's history", run.HistoryFile, func([]byte) []byte { return history }, false, differs},
		{"cut off in a line", run.HistoryFile, func(text []byte) []byte { return text[:len(text)-20] }, false, "cut off after"},
		{"no event", run.HistoryFile, replaced(`"verb":"patch"`, "\x00\x00"), false, "not an event"},
		{"empty", run.HistoryFile, func([]byte) []byte { return nil }, false, "its last is 0"},
		{"unknown verb", run.HistoryFile, replaced(`"verb":"patch"`, `"verb":"patcj"`), true, `seq 3 has an unknown verb "patcj" of source api`},
		{"unknown source", run.HistoryFile, replaced(`"source":"harness"`, `"source":"garness"`), true, `unknown source "garness"`},
		{"unknown kind", run.HistoryFile, replaced(`"kind":"Outcome"`, `"kind":"Outcomf"`), true, `unknown kind of step "Outcomf"`},
		{"another release", run.File, replaced("v1.6.4", "v1.7.0"), false, "run.json was changed since the run"},
		{"another binary", run.File, replaced("5e4d", "5e4e"), false, "run.json was changed since the run"},
		{"another seed", run.File, replaced(`"seed": 7`, `"seed": 8`), false, "run.json was changed since the run"},
		{"no clock", run.File, func(text []byte) []byte {
			return regexp.MustCompile(`(?s)"clock": \{.*?\n  \},`).ReplaceAll(text, nil)
		}, true, "run.json does not have the clock"},
		{"no digests", run.File, func(text []byte) []byte {
			return regexp.MustCompile(`(?s),\n  "seal": \{.*?\n  \}`).ReplaceAll(text, nil)
		}, false, "run.json has no digests"},
		{"of an older format", run.File, replaced(`"format": 2`, `"format": 1`), false, "run.json has format 1, in which runs had no digests"},
	}
	catalogue := load(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, _ := store(t, "failed", launched...)
			change(t, dir, test.file, test.change)
			if test.resealed {
				if err := run.Reseal(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
			}
			inconclusive(t, dir, catalogue, test.want)
		})
	}
}

// A run can be read again whatever came of a step.
func TestEveryStatusIsKnown(t *testing.T) {
	catalogue := load(t)
	for _, status := range vocabulary.Verbs(history.Step) {
		dir, _ := store(t, status, launched...)
		if again, err := run.Recheck(t.Context(), dir, kept.Records(catalogue)); err != nil || len(again.Doubts) > 0 {
			t.Errorf("%s: %v, doubts %q", status, err, again.Doubts)
		}
	}
}

// inconclusive checks that every way to read the run concludes nothing, and that one
// of its doubts is as wanted.
func inconclusive(t *testing.T, dir string, catalogue *scenarios.Catalogue, want string) {
	t.Helper()
	again, err := run.Recheck(t.Context(), dir, kept.Records(catalogue))
	if err != nil || again.Now.Verdict != verdict.Inconclusive || strings.Contains(again.Now.Reason, "\n") {
		t.Fatalf("judged %+v, %v; want inconclusive", again.Now, err)
	}
	if !slices.ContainsFunc(again.Doubts, func(doubt string) bool { return strings.Contains(doubt, want) }) {
		t.Errorf("doubts %q, want %q", again.Doubts, want)
	}
	described, err := summary.Run(t.Context(), dir, catalogue, 0)
	if err != nil || described.Run.Verdict != string(verdict.Inconclusive) || !strings.Contains(strings.Join(described.Run.Problems, "\n"), want) {
		t.Errorf("described %+v, %v; want inconclusive", described.Run, err)
	}
	if counted, err := run.Checked(t.Context(), dir); err != nil || counted.Verdict != verdict.Inconclusive {
		t.Errorf("counted %+v, %v; want inconclusive", counted.Judgement, err)
	}
}

// No byte of run.json or of the history can be another: either nothing can be read,
// or nothing is concluded.
func TestFlippedBytes(t *testing.T) {
	dir, _ := store(t, "failed", launched...)
	for _, name := range []string{run.File, run.HistoryFile} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := range text {
			flipped := bytes.Clone(text)
			flipped[at] ^= []byte{0x01, 0x20}[at%2] // another digit or letter, another case
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if r, err := run.Checked(t.Context(), dir); err == nil && r.Verdict != verdict.Inconclusive && r.Verdict != "" {
				t.Errorf("%s, byte %d, %q for %q: %s", name, at, flipped[at], text[at], r.Verdict)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := run.Checked(t.Context(), dir); err != nil || r.Verdict != verdict.Reproduced || !run.Sound(t.Context(), dir) {
		t.Errorf("as it was: %+v, %v", r, err)
	}
}

// A record that has changed since is said; by which of them a run is judged is what
// recheck is for.
func TestRecordChangedSince(t *testing.T) {
	dir, _ := store(t, "failed", launched...)
	change(t, dir, run.File, func(text []byte) []byte {
		return regexp.MustCompile(`"record": "[0-9a-f]{64}"`).ReplaceAll(text, fmt.Appendf(nil, `"record": "%064d"`, 1))
	})
	if err := run.Reseal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	again, err := run.Recheck(t.Context(), dir, kept.Records(load(t)))
	if err != nil || again.Now.Verdict != verdict.Reproduced || !strings.Contains(strings.Join(again.Differences(), "; "), "has changed since the run") {
		t.Errorf("%+v, %v, %q", again.Now, err, again.Differences())
	}
}
