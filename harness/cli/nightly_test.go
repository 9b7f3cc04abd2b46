package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/bucket"
	"nodestorm/harness/night/nights"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/matrix"
	"nodestorm/reports/nightly"
)

// Nights are kept one after the other, each is compared with those before it, and the exit status
// says whether there is something new. One that cannot be read, or kept, is named, and the report is there.
func TestNightlyReport(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	dir := t.TempDir()
	place, out := filepath.Join(dir, "nights"), filepath.Join(dir, "out")
	day := time.Date(2026, 11, 20, 2, 17, 0, 0, time.UTC)
	report := func(day time.Time, outcomes map[string]string, args ...string) (code int, stdout, stderr string) {
		t.Helper()
		m := matrix.Matrix{Made: day}
		for name, outcome := range outcomes {
			verdict := map[string]string{"expected": "reproduced", "inconclusive": "inconclusive"}[outcome]
			if verdict == "" {
				verdict = "healthy"
			}
			m.Cells = append(m.Cells, matrix.Cell{Scenario: name, Target: "karpenter@v1.6.4", Expected: "reproduced", Verdict: verdict, Outcome: outcome, Started: day, WallSeconds: 5})
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		night := t.TempDir()
		if err := os.WriteFile(filepath.Join(night, "matrix.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return command(t, append([]string{"nightly", "report", night, "--nights", place, "--out", out, "--keep"}, args...)...)
	}
	for n, test := range []struct {
		outcomes map[string]string
		status   int
		want     string
	}{
		{map[string]string{"a": "expected", "b": "expected"}, AsExpected, "2 new"},
		{map[string]string{"a": "expected", "b": "expected"}, AsExpected, "all as before"},
		{map[string]string{"a": "fixed earlier than recorded", "b": "expected"}, NotAsExpected, "1 newly failing"},
		{map[string]string{"a": "fixed earlier than recorded", "b": "expected"}, AsExpected, "1 still failing"},
		{map[string]string{"a": "expected", "b": "inconclusive"}, Inconclusive, "1 inconclusive, 1 newly healthy, 1 flaky"},
		{map[string]string{"a": "expected"}, Inconclusive, "1 no longer run"},
	} {
		code, stdout, stderr := report(day.AddDate(0, 0, n), test.outcomes)
		if code != test.status || !strings.Contains(stdout, test.want) {
			t.Errorf("night %d: status %d, %s%s; want %d, %q", n, code, stdout, stderr, test.status, test.want)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(place, "*.json")); len(kept) != 6 || filepath.Base(kept[0]) != "2026-11-20T021700Z.json" {
		t.Errorf("kept are %v", kept)
	}
	if err := os.WriteFile(filepath.Join(place, "2026-11-25T000000Z.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := report(day.AddDate(0, 0, 9), map[string]string{"a": "expected"})
	if code != Inconclusive || !strings.Contains(stderr, "left out: 2026-11-25T000000Z.json: no matrix") {
		t.Errorf("a damaged night: status %d, %s", code, stderr)
	}
	// What cannot be kept is no reason to have no report.
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := report(day, map[string]string{"a": "expected"}); code != Usage || !strings.Contains(stderr, "--nights: ") {
		t.Errorf("a place that is a file: status %d, %s", code, stderr)
	}
	for args, want := range map[string]string{
		"nightly|report":                            "NIGHT is missing",
		"nightly|report|x":                          "--nights: no folder given",
		"nightly|report|x|--nights|y|--last|0":      "--last 0: want 1 or more",
		"nightly|report|/none|--nights|" + dir:      "/none is not there",
		"nightly|report|" + dir + "|--nights|/none": "",
	} {
		code, _, stderr := command(t, append(strings.Split(args, "|"), "--out", out)...)
		if code != Usage && want != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: status %d, %s; want %q", args, code, stderr, want)
		}
	}
}

// A store that is full, refuses or cannot be reached costs no report: it has this night, and
// says what is missing.
func TestNightlyWithoutBucket(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusInsufficientStorage)
			_, _ = io.WriteString(w, "<Error><Code>XMinioStorageFull</Code><Message>no room</Message></Error>")
			return
		}
		_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
	}))
	t.Cleanup(full.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Setenv(bucket.EnvRegion, "here")
	for _, test := range []struct {
		store, verdict, outcome string
		status                  int
		says, report            string
	}{
		{full.URL, "reproduced", "expected", Inconclusive, "this night is not kept, and the report is there", "there is no night before it"},
		{full.URL, "healthy", "fixed earlier than recorded", NotAsExpected, "it is full: make room", "1 newly failing"},
		{gone.URL, "reproduced", "expected", Inconclusive, "--nights: the nights before are missing: s3://nodestorm-ci/nights: listing: ", "could not be read"},
		{gone.URL, "healthy", "fixed earlier than recorded", NotAsExpected, "the nights before are missing", "could not be read"},
	} {
		t.Setenv(bucket.EnvEndpoint, test.store)
		night, out := t.TempDir(), t.TempDir()
		m := matrix.Matrix{Made: time.Unix(1e9, 0), Cells: []matrix.Cell{{Scenario: "a", Target: "karpenter@v1.6.4", Expected: "reproduced", Verdict: test.verdict, Outcome: test.outcome, Started: time.Unix(1e9, 0)}}}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(night, "matrix.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := command(t, "nightly", "report", night, "--nights", "s3://nodestorm-ci/nights", "--out", out, "--keep")
		if code != test.status || !strings.Contains(stderr, test.says) || !strings.Contains(stdout, test.report) {
			t.Errorf("%+v: status %d, %s%s", test, code, stdout, stderr)
		}
		if page, err := os.ReadFile(filepath.Join(out, "nightly.html")); err != nil || !strings.Contains(string(page), "karpenter@v1.6.4") {
			t.Errorf("%+v: no page: %v", test, err)
		}
	}
}

// Runs count as often as they were made, and a night of shards and of what merge made of them
// counts each once.
func TestNightOfShards(t *testing.T) {
	shards, place, out := t.TempDir(), t.TempDir(), t.TempDir()
	for _, part := range []string{"1/2", "2/2"} {
		dir, _, _ := night(t, part, nil)
		if err := os.Rename(dir, filepath.Join(shards, part[:1])); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(buildstore.EnvCache, t.TempDir())
	if code, _, stderr := command(t, "nightly", "merge", shards, "--out", filepath.Join(shards, "merged")); code != NotAsExpected {
		t.Fatalf("status %d: %s", code, stderr)
	}
	code, stdout, stderr := command(t, "nightly", "report", shards, "--nights", place, "--out", out, "--json")
	var report nightly.Report
	if err := json.Unmarshal([]byte(stdout), &report); code != NotAsExpected || err != nil {
		t.Fatalf("status %d, %v: %s", code, err, stderr)
	}
	if got := report.Nights[0]; got.Good != 7 || got.Bad != 1 || got.Skipped != 2 || report.Rows[0].Decided != 1 {
		t.Errorf("%+v, %+v", got, report.Rows[0])
	}
}

// Results that only a matrix has count beside runs, and none twice.
func TestNightOfRunsAndAMatrix(t *testing.T) {
	here, _, _ := night(t, "1/1", nil)
	m, err := stored.ReadMatrix(t.Context(), filepath.Join(here, "matrix.json"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := m.Cells[0]
	elsewhere.Scenario, elsewhere.Digest = "z-lost", "another"
	m.Cells = append(m.Cells, elsewhere)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	if err := os.WriteFile(filepath.Join(there, "matrix.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &console.Console{Stdout: io.Discard, Stderr: io.Discard}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := nights.Gather(t.Context(), []string{here, there}, e.Reporter(catalogue), console.Scratch, t.TempDir())
	if err != nil || len(got.Cells) != len(m.Cells) || !slices.ContainsFunc(got.Cells, func(c matrix.Cell) bool { return c.Scenario == "z-lost" }) {
		t.Errorf("%d cells, want %d, %v", len(got.Cells), len(m.Cells), err)
	}
}
