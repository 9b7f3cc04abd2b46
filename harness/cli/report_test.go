package cli_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"nodestorm/features"
	"nodestorm/harness/cli"
	"nodestorm/harness/run"
	"nodestorm/reports/bundle"
)

// aRun is the folder of a run that shows the failure, of which the history is that of
// a real run, less most of the housekeeping and numbered anew, and the log holds a
// credential.
func aRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "karpenter@v1.6.4")
	text, err := os.ReadFile("../../reports/page/testdata/affected.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		run.HistoryFile: numbered(string(text)),
		run.File:        `{"format":2,"id":"` + scenario + `","seed":1,"started":"2026-11-21T13:56:06Z","target":{"name":"karpenter","version":"v1.6.4","source":{"kind":"module","module":"sigs.k8s.io/karpenter","version":"v1.6.4","package":"./kwok"},"sha256":"5e4d","size":0,"builtAt":"2026-11-21T12:19:49Z"},"clock":{"mode":"auto","virtual":68416127992,"wall":2184801203,"meanFactor":31.3,"maxFactor":101,"lag":{"timers":22449,"p50":50331648,"p99":151097682,"max":151097682},"shares":null},"expected":"reproduced","verdict":"reproduced","reason":"failed: Then no more than 1 NodeClaim is created within 5m","evidence":[` + evidence + `],"seal":{"record":"` + recordDigest(t) + `"}}`,
		filepath.Join(run.LogFolder, "karpenter.log"): `{"level":"INFO","message":"using","token":"a-very-secret-token"}` + "\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, content, 0o600)
	}
	reseal(t, dir)
	return dir
}

// evidence are the events of aRun that show the failure.
const evidence = "37,44,51,53,64,67"

var seqs = regexp.MustCompile(`(?m)^\{"seq":\d+,`)

// numbered gives the lines of a history numbers without gaps.
func numbered(history string) string {
	n := 0
	return seqs.ReplaceAllStringFunc(history, func(string) string { n++; return fmt.Sprintf(`{"seq":%d,`, n) })
}

// reseal makes what was changed in a run's folder what the run left.
func reseal(t *testing.T, dir string) {
	t.Helper()
	if err := run.Reseal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

func recordDigest(t *testing.T) string {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup(scenario)
	if err != nil {
		t.Fatal(err)
	}
	return run.RecordDigest(record)
}

func TestReport(t *testing.T) {
	dir := aRun(t)
	code, stdout, stderr := nodestorm(t, "report", dir)
	page := filepath.Join(dir, run.ReportFile)
	if code != cli.AsExpected || stdout != page+"\n" || stderr != "" {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "A Node that is not ready yet launches a second one") {
		t.Errorf("the page is %d bytes, %v", len(text), err)
	}
	for format, want := range map[string]string{
		"junit": `<testcase name="` + scenario + ` on karpenter@v1.6.4"`, "ctrf": `"reportFormat": "CTRF"`, "messages": `{"testRunFinished":`, "trace": `"traceEvents":[`,
		"md": "1 as expected, 0 not", "json": `"steps": [`, "cucumber": `"mime_type": "text/markdown"`,
	} {
		if code, stdout, stderr := nodestorm(t, "report", dir, "--format", format); code != cli.AsExpected || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: status %d, %q, %q", format, code, stdout[:min(len(stdout), 200)], stderr)
		}
	}
	if code, stdout, _ := nodestorm(t, "report", "--issue", dir); code != cli.AsExpected || !strings.Contains(stdout, "**To repeat**") {
		t.Errorf("issue: status %d, %q", code, stdout)
	}
	if code, stdout, _ := nodestorm(t, "report", "--side-by-side", dir, aRun(t)); code != cli.AsExpected || !strings.HasSuffix(stdout, "-beside-karpenter@v1.6.4.html\n") {
		t.Errorf("side by side: status %d, %q", code, stdout)
	}
}

// What can be read of a damaged run is shown, and the rest is named.
func TestReportOfDamagedRuns(t *testing.T) {
	damage := map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"cut-off history": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, run.HistoryFile), 9000); err != nil {
				t.Fatal(err)
			}
		}, "cut off after"},
		"no history":    {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, run.HistoryFile)) }, "history.ndjson is missing"},
		"later format":  {func(t *testing.T, dir string) { write(t, filepath.Join(dir, run.File), `{"format":9,"id":"x"}`, 0o600) }, "has format 9"},
		"cut-off run":   {func(t *testing.T, dir string) { write(t, filepath.Join(dir, run.File), `{"format":1,"id":"kar`, 0o600) }, "is cut off after 21 bytes"},
		"lost run":      {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, run.File)) }, "is no folder of a run"},
		"foreign lines": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, run.HistoryFile), "a\nb\n{}\n", 0o600) }, "not an event"},
	}
	for name, test := range damage {
		t.Run(name, func(t *testing.T) {
			dir := aRun(t)
			test.change(t, dir)
			if code, _, stderr := nodestorm(t, "report", dir); code != cli.AsExpected {
				t.Fatalf("status %d, %q", code, stderr)
			}
			code, stdout, _ := nodestorm(t, "report", dir, "--format", "json")
			var runs []struct{ Problems []string }
			if err := json.Unmarshal([]byte(stdout), &runs); code != cli.AsExpected || err != nil || len(runs) != 1 || !strings.Contains(strings.Join(runs[0].Problems, "; "), test.want) {
				t.Errorf("status %d, problems %v, %v; want %q", code, runs, err, test.want)
			}
		})
	}
}

func TestReportUsage(t *testing.T) {
	dir := aRun(t)
	for args, want := range map[string]string{
		"report":                                      "RUN is missing",
		"report|/none":                                "/none is not there",
		"report|" + dir + "|--format|pdf":             `-o "pdf": want one of html, text, junit, cucumber`,
		"report|" + dir + "|--side-by-side":           "compares two runs in html, and 1 are named",
		"report|" + dir + "|--price|-1":               "--price -1: want euros an hour",
		"report|" + dir + "/" + run.File:              "no bundle of runs",
		"bundle":                                      "RUN is missing",
		"matrix|" + dir + "|--format|pdf":             `-o "pdf": want one of html, md, json, yaml; a file`,
		"matrix|" + dir + "|--since|" + dir:           "--since " + dir,
		"matrix|" + dir + "|--status|foo":             `--status "foo": want one of healthy, reproduced, failed, inconclusive, expected, regression, fixed earlier than recorded, not as expected`,
		"matrix|" + dir + "|--target|nosuch":          `--target "nosuch": no run's target has this text; there are karpenter@v1.6.4`,
		"matrix|" + dir + "|--system|foo":             `--system "foo": want one of hetzner, clusterapi, karpenter`,
		"matrix|" + dir + "|--provider|foo":           `--provider "foo": want one of aws, clusterapi, `,
		"matrix|--track-record|--target|a":            "--track-record notes all runs: leave out what filters them",
		"recheck|" + dir + "/" + run.File:             "no bundle of runs",
		"report|" + dir + "|" + dir + "|--out-file|x": "--out-file names one file, and there are 2 runs",
	} {
		if code, stdout, stderr := nodestorm(t, strings.Split(args, "|")...); code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q; want %q", args, code, stdout, stderr, want)
		}
	}
}

// A bundle is opened on any machine, and holds no credential, nor anything about this
// machine: in no file, and in no part of the page.
func TestBundle(t *testing.T) {
	dir := aRun(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "a-very-secret-token"
	for _, name := range []string{run.JUnitFile, run.CucumberFile, filepath.Join(run.LogFolder, "other.log")} {
		write(t, filepath.Join(dir, name), `"password": "`+secret+`"`+"\n"+home+"/file\n", 0o600)
	}
	history, err := os.OpenFile(filepath.Join(dir, run.HistoryFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(history, `{"seq":72,"virtual":60000000000,"real":1,"source":"log","verb":"log","actor":"karpenter","detail":{"message":"Authorization: Bearer %s, %s/file"}}`+"\n", secret, home)
	if err := errors.Join(err, history.Close()); err != nil {
		t.Fatal(err)
	}
	reseal(t, dir)
	archive := filepath.Join(t.TempDir(), "given.tar.gz")
	code, stdout, stderr := nodestorm(t, "bundle", dir, "--out-file", archive)
	if code != cli.AsExpected || !strings.Contains(stdout, "1 run, 5 credentials removed") || stderr != "" {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = nodestorm(t, "recheck", archive, "--json")
	if rows := rowsOf(t, stdout); code == cli.Usage || len(rows) != 1 || rows[0].Verdict != "reproduced" {
		t.Errorf("recheck: status %d, %q", code, stdout)
	}
	code, stdout, stderr = nodestorm(t, "report", archive)
	page := strings.TrimSuffix(archive, ".tar.gz") + "-001-karpenter@v1.6.4.html"
	if code != cli.AsExpected || stdout != page+"\n" {
		t.Errorf("report: status %d, %q, %q", code, stdout, stderr)
	}
	files := 0
	for name, text := range unpacked(t, archive) {
		files++
		for _, private := range []string{secret, home} {
			if len(private) > 4 && strings.Contains(text, private) {
				t.Errorf("%s holds %q", name, private)
			}
		}
	}
	if files != 7+4 {
		t.Errorf("%d files and parts of the page, want the seven of a run and four parts", files)
	}
}

// Packing a changed run does not make it a sound one.
func TestBundleOfAChangedRun(t *testing.T) {
	dir := aRun(t)
	path := filepath.Join(dir, run.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), `"version": "v1.6.4"`, `"version": "v1.7.0"`, 1), 0o600)
	archive := filepath.Join(t.TempDir(), "given.tar.gz")
	if code, _, stderr := nodestorm(t, "bundle", dir, "--out-file", archive); code != cli.AsExpected {
		t.Fatalf("status %d, %q", code, stderr)
	}
	code, stdout, stderr := nodestorm(t, "recheck", archive, "--json")
	if rows := rowsOf(t, stdout); code != cli.Inconclusive || len(rows) != 1 || rows[0].Verdict != "inconclusive" || !strings.Contains(stderr, "run.json was changed since the run") {
		t.Errorf("recheck: status %d, %q, %q", code, stdout, stderr)
	}
}

func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := bundle.Unpack(t.Context(), file, dir); err != nil {
		t.Fatal(err)
	}
}

// unpacked are the files of an archive, and the parts of its pages.
func unpacked(t *testing.T, archive string) map[string]string {
	t.Helper()
	dir, found := t.TempDir(), map[string]string{}
	unpack(t, archive, dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found[path] = string(text)
		for id, plain := range parts(t, string(text)) {
			found[path+" "+id] = plain
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var part = regexp.MustCompile(`<script type="application/octet-stream" id="([^"]+)">([^<]+)</script>`)

// parts are the compressed parts of a page, by name.
func parts(t *testing.T, page string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, match := range part.FindAllStringSubmatch(page, -1) {
		compressed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(match[2])))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(compressed)
		if err != nil {
			t.Fatal(err)
		}
		found[match[1]] = string(plain)
	}
	return found
}

// Recheck lists how today's judgement differs.
func TestRecheckListsDifferences(t *testing.T) {
	dir := aRun(t)
	path := filepath.Join(dir, run.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), `"verdict": "reproduced"`, `"verdict": "healthy"`, 1), 0o600)
	if code, stdout, stderr := nodestorm(t, "recheck", dir); code != cli.Inconclusive || !strings.Contains(stderr, "run.json was changed since the run") {
		t.Errorf("a changed verdict: status %d, %q, %q", code, stdout, stderr)
	}
	reseal(t, dir)
	if _, _, stderr := nodestorm(t, "recheck", dir); !strings.Contains(stderr, "was healthy and is reproduced by today's rules: failed") {
		t.Errorf("it says %q", stderr)
	}
	write(t, path, strings.Replace(string(text), "    37,", "    36,", 1), 0o600)
	reseal(t, dir)
	if _, _, stderr := nodestorm(t, "recheck", dir); !strings.Contains(stderr, "is still reproduced; events [36 ") {
		t.Errorf("it says %q", stderr)
	}
}

func TestMatrix(t *testing.T) {
	dir := aRun(t)
	if code, _, stderr := nodestorm(t, "report", dir); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	out := filepath.Join(filepath.Dir(dir), "matrix.json")
	if code, _, stderr := nodestorm(t, "matrix", dir, "-o", "json", "--out-file", out); code != cli.AsExpected || stderr != "" {
		t.Fatalf("status %d, %q", code, stderr)
	}
	code, stdout, stderr := nodestorm(t, "matrix", dir, "--format", "md", "--since", out)
	if code != cli.AsExpected || !strings.Contains(stdout, "✅ reproduced 2.2 s") || strings.Contains(stdout, "Since the last matrix") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, stderr := nodestorm(t, "matrix", dir, "--status", "healthy", "--format", "md"); code != cli.Inconclusive || !strings.HasPrefix(stdout, "No runs: nothing is shown.") || stderr != "nodestorm: none of the 1 run is what is asked for\n" {
		t.Errorf("nothing is healthy: status %d, %q, %q", code, stdout, stderr)
	}
	for filter, kept := range map[string]bool{"--status|reproduced": true, "--status|expected": true, "--target|v1.6": true, "--system|karpenter": true, "--provider|hetzner": false, "--status|regression": false} {
		want := map[bool]int{true: cli.AsExpected, false: cli.Inconclusive}[kept]
		if code, stdout, stderr := nodestorm(t, append([]string{"matrix", dir, "--format", "md"}, strings.Split(filter, "|")...)...); code != want || strings.Contains(stdout, "all as expected") != kept {
			t.Errorf("%s: status %d, %q, %q", filter, code, stdout, stderr)
		}
	}
	write(t, filepath.Join(dir, run.File), "{", 0o600)
	if code, stdout, stderr := nodestorm(t, "matrix", dir, "--format", "md"); code != cli.Inconclusive || stdout == "" || !strings.Contains(stderr, "left out: ") {
		t.Errorf("a damaged run: status %d, %q, %q", code, stdout, stderr)
	}
}

// On a terminal there is a table, in a file a page, and for programs one and the same.
func TestMatrixForms(t *testing.T) {
	dir := aRun(t)
	code, stdout, stderr := nodestorm(t, "matrix", dir)
	if code != cli.AsExpected || stderr != "" || !strings.HasPrefix(stdout, "SCENARIO ") || !strings.Contains(stdout, scenario+"  karpenter@v1.6.4  reproduced  reproduced  2.2s") || strings.Contains(stdout, "<") {
		t.Errorf("status %d, %q, %q", code, stdout, stderr)
	}
	file := filepath.Join(t.TempDir(), "matrix.html")
	if code, _, stderr := nodestorm(t, "matrix", dir, "--out-file", file); code != cli.AsExpected {
		t.Error(stderr)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(strings.ToLower(string(text)), "<!doctype html") {
		t.Errorf("the file begins with %.40q, %v", text, err)
	}
	made := regexp.MustCompile(`"made": "[^"]*"`)
	for _, command := range []string{"matrix", "report"} {
		_, long, _ := nodestorm(t, command, dir, "--json")
		_, short, _ := nodestorm(t, command, dir, "-o", "json")
		_, old, _ := nodestorm(t, command, dir, "--format", "json")
		long, short, old = made.ReplaceAllString(long, ""), made.ReplaceAllString(short, ""), made.ReplaceAllString(old, "")
		if long == "" || long != short || long != old {
			t.Errorf("%s: --json, -o json and --format json differ: %.100q, %.100q, %.100q", command, long, short, old)
		}
		var a, b any
		_, text, _ := nodestorm(t, command, dir, "-o", "yaml")
		converted, err := yaml.YAMLToJSON([]byte(text))
		if err != nil || json.Unmarshal(converted, &a) != nil || json.Unmarshal([]byte(long), &b) != nil && command == "report" {
			t.Errorf("%s: no YAML: %v, %.100q", command, err, text)
		}
		if command == "report" && !reflect.DeepEqual(a, b) {
			t.Errorf("%s: YAML says otherwise than JSON", command)
		}
	}
}

// WALL is one figure: that of the whole run, where it was kept.
func TestWallIsOne(t *testing.T) {
	dir := aRun(t)
	change(t, filepath.Join(dir, run.File), `"format": 2,`, `"format": 2, "wall": 5250000000,`)
	reseal(t, dir)
	for _, command := range []string{"recheck", "matrix"} {
		if _, stdout, _ := nodestorm(t, command, "--json", dir); !strings.Contains(stdout, `"wallSeconds": 5.25`) {
			t.Errorf("%s: %q", command, stdout)
		}
	}
}

// An archive is taken by every command that takes a folder of runs, in the same way.
func TestArchivesAreRuns(t *testing.T) {
	newBench(t)
	dir := aRun(t)
	archive := filepath.Join(t.TempDir(), "runs.tar.gz")
	if code, _, stderr := nodestorm(t, "bundle", dir, "--out-file", archive); code != cli.AsExpected {
		t.Fatal(stderr)
	}
	for _, of := range []string{
		"recheck|RUN", "recheck|--cross|RUN", "recheck|--invariants|RUN", "report|-o|md|RUN", "report|-o|junit|RUN", "matrix|RUN",
		"nightly|report|RUN|--nights|OUT|--out|OUT", "bundle|RUN|--out|OUT/again.tar.gz", "list|--shard|1/2|--durations|RUN",
	} {
		said := map[string]string{}
		codes := map[string]int{}
		for _, name := range []string{dir, archive} {
			args := strings.Split(strings.NewReplacer("RUN", name, "OUT", t.TempDir()).Replace(of), "|")
			code, stdout, stderr := nodestorm(t, args...)
			codes[name], said[name] = code, stderr
			if stdout == "" {
				t.Errorf("%v says nothing: %q", args, stderr)
			}
		}
		if codes[dir] != codes[archive] || codes[dir] == cli.Usage {
			t.Errorf("%s: status %d of a folder (%q), %d of an archive (%q)", of, codes[dir], said[dir], codes[archive], said[archive])
		}
	}
}

// What a stored run says is shown on a terminal, and does nothing there.
func TestRecheckOfHostileRun(t *testing.T) {
	dir := aRun(t)
	write(t, filepath.Join(dir, run.HistoryFile), `{"seq":1,"source":"harness","verb":"died","actor":"\u001b[2J","detail":{"error":"gone"}}`+"\n", 0o600)
	reseal(t, dir)
	_, stdout, stderr := nodestorm(t, "recheck", "--timeline", dir)
	if strings.Contains(stdout+stderr, "\x1b") || !strings.Contains(stderr, `a component died: \x1b[2J: gone`) {
		t.Errorf("%q, %q", stdout, stderr)
	}
}
