package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/cli"
	"nodestorm/harness/run"
)

// A site has a page for each failure, and shows runs as they are given away.
func TestSite(t *testing.T) {
	dir, out := aRun(t), filepath.Join(t.TempDir(), "site")
	file := filepath.Join(dir, run.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(string(text), `"seal":`, `"provenance":{"nodestorm":{"commit":"796b28e"},"features":{"commit":"796b28e"}},"seal":`, 1), 0o600)
	reseal(t, dir)
	nights := t.TempDir()
	if code, _, stderr := nodestorm(t, "nightly", "report", dir, "--nights", nights, "--keep", "--out", t.TempDir()); code == cli.Usage {
		t.Fatal(stderr)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := nodestorm(t, "site", dir, "--nights", nights, "--out", out)
	if code != cli.AsExpected || !strings.HasPrefix(stdout, filepath.Join(out, "index.html")+fmt.Sprintf(": %d failures, 1 with runs", len(catalogue.Records()))) || strings.Contains(stderr, "left out") {
		t.Fatalf("status %d, %q, %q", code, stdout, stderr)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(read("index.html"), "failures/"+scenario+".html") || !strings.Contains(read("nights.html"), "karpenter@v1.6.4") {
		t.Error("the index or the page of nights lacks the failure")
	}
	if nights := read("nights.html"); !strings.Contains(nights, `href="./failures/`+scenario+`.html"`) || !strings.Contains(nights, `href="./index.html"`) {
		t.Error("the page of nights leads nowhere")
	}
	for _, part := range []string{"A Node that is not ready yet launches a second one", "v1.14.1", "Scenario:", "nodestorm verify " + scenario} {
		if !strings.Contains(read("failures/"+scenario+".html"), part) {
			t.Errorf("the page of the failure does not say %q", part)
		}
	}
	page := read("runs/" + scenario + ".html")
	if !strings.Contains(read("failures/"+scenario+".html"), "reproduced on karpenter@v1.6.4") || !strings.Contains(page, "karpenter@v1.6.4") {
		t.Error("the page of the failure does not show its run")
	}
	for id, part := range parts(t, page) {
		if strings.Contains(part, "a-very-secret-token") {
			t.Errorf("%s of the run's page has a credential", id)
		}
	}
	if code, _, stderr := nodestorm(t, "site", "--out", out); code != cli.Usage || !strings.Contains(stderr, "is not empty; name a new folder") {
		t.Errorf("into a site: status %d, %q", code, stderr)
	}
	if code, _, stderr := nodestorm(t, "site"); code != cli.Usage || !strings.Contains(stderr, "--out is missing") {
		t.Errorf("without --out: status %d, %q", code, stderr)
	}
	if code, _, stderr := nodestorm(t, "site", "--out", t.TempDir(), "--nights", t.TempDir()); code != cli.Usage || !strings.Contains(stderr, "no night is kept there") {
		t.Errorf("without nights: status %d, %q", code, stderr)
	}
}
