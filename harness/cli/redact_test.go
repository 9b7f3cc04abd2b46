package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/cli"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/redact"
)

// Whatever is made of a run to be given away has neither credentials nor the home
// folder, wherever in the run they were: in its history, settings, reason or logs.
func TestNothingLeavesWithCredentials(t *testing.T) {
	const home, ours, header = "/home/zoe-private", "ours-0123456789", "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0"
	t.Setenv("HOME", home)
	t.Setenv("SOME_API_TOKEN", ours)
	const planted = "found " + home + "/x, " + ours + ", Authorization: Bearer " + header
	dir := aRun(t)
	for _, change := range []struct{ file, old, with string }{
		{run.File, `"reason": "failed: `, `"reason": "failed: ` + planted + `: `},
		{run.File, `"seed": 1,`, `"seed": 1, "settings": ["--x=` + planted + `", "--client-secret", "` + ours + `"], "flags": ["--manifest=` + home + `/m.yaml"],`},
		{run.HistoryFile, `"message":"`, `"message":"` + planted + `; `},
		{run.HistoryFile, `"error":"`, `"error":"` + planted + `; `},
		{filepath.Join(run.LogFolder, "karpenter.log"), `"message":"`, `"message":"` + planted + `; `},
	} {
		path := filepath.Join(dir, change.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), change.old) {
			t.Fatalf("%s has no %q to plant at", change.file, change.old)
		}
		write(t, path, strings.ReplaceAll(string(text), change.old, change.with), 0o600)
	}
	reseal(t, dir)

	leaves := map[string]string{}
	for _, format := range []string{"html", "junit", "ctrf", "cucumber", "messages", "trace", "md", "json"} {
		_, leaves[format], _ = nodestorm(t, "report", dir, "--format", format, "--out-file", "-")
	}
	_, leaves["issue"], _ = nodestorm(t, "report", dir, "--issue")
	_, leaves["text"], _ = nodestorm(t, "report", dir, "-o", "text")
	_, leaves["recheck as JSON"], _ = nodestorm(t, "recheck", dir, "--json")
	for _, format := range []string{"html", "md", "json"} {
		_, leaves["matrix as "+format], _ = nodestorm(t, "matrix", dir, "--format", format)
	}
	side := filepath.Join(t.TempDir(), "side.html")
	nodestorm(t, "report", "--side-by-side", dir, dir, "--out-file", side)
	text, err := os.ReadFile(side)
	if err != nil {
		t.Fatal(err)
	}
	leaves["side by side"] = string(text)
	archive := filepath.Join(t.TempDir(), "given.tar.gz")
	nodestorm(t, "bundle", dir, "--out-file", archive)
	for name, text := range unpacked(t, archive) {
		leaves["bundle, "+filepath.Base(name)] = text
	}
	for name, text := range leaves {
		if len(text) < 100 && !strings.HasPrefix(name, "bundle") {
			t.Errorf("%s: %q", name, text)
		}
		for part, plain := range parts(t, text) {
			text += part + plain
		}
		for _, private := range []string{home, "zoe-private", ours, header} {
			if at := strings.Index(text, private); at >= 0 {
				t.Errorf("%s has %q: …%q…", name, private, text[max(0, at-80):min(len(text), at+80)])
			}
		}
	}
}

// A bundle of a run has that run and no other, and what cannot be given away so is not: the name of the run is said.
func TestBundleIsTheRun(t *testing.T) {
	dir := aRun(t)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		machine redact.Machine
		refused string
	}{
		{machine: redact.Machine{}},
		{machine: redact.Machine{User: "default"}}, {machine: redact.Machine{User: "karpenter"}}, {machine: redact.Machine{User: "source"}},
		{machine: redact.Machine{User: "nodeclaims"}}, {machine: redact.Machine{User: "zoe"}}, {machine: redact.Machine{Host: "noexecute"}},
		{redact.Machine{Home: "nodeclaims"}, `without the home folder "nodeclaims"`},
		{redact.Machine{User: "zoe", Environment: []string{"A_TOKEN=nodeclaims"}}, "without the value of the variable A_TOKEN; bundle it where"},
	} {
		r := &stored.Reporter{Catalogue: catalogue, Say: t.Logf, Machine: &test.machine}
		to := filepath.Join(t.TempDir(), "given.tar.gz")
		_, err := r.Pack(t.Context(), []stored.Run{{Dir: dir, Name: "the run"}}, to, console.Scratch)
		_, missing := os.Stat(to)
		switch {
		case test.refused != "":
			if err == nil || !strings.Contains(err.Error(), test.refused) || missing == nil {
				t.Errorf("%+v: %v, want that it is refused %q", test.machine, err, test.refused)
			}
			continue
		case err != nil:
			t.Errorf("%+v: %v", test.machine, err)
			continue
		}
		code, text, said := nodestorm(t, "recheck", to)
		if code != cli.AsExpected || !strings.Contains(text, scenario) || !strings.Contains(text, "karpenter@v1.6.4") {
			t.Errorf("%+v: status %d, %s, %s", test.machine, code, text, said)
		}
	}
}

// A matrix that lies elsewhere has no link through the home folder.
func TestNoLinkThroughHome(t *testing.T) {
	dir := aRun(t)
	nodestorm(t, "report", dir)
	home := strings.TrimPrefix(dir, os.TempDir()) // as a part of the path to it
	for _, of := range []struct {
		home string
		link bool
	}{{"/home/zoe-private", true}, {home, false}} {
		t.Setenv("HOME", of.home)
		if code, text, stderr := nodestorm(t, "matrix", dir, "--format", "json"); code != 0 || strings.Contains(text, home) != of.link {
			t.Errorf("with home %s: status %d, %s, %s", of.home, code, text, stderr)
		}
	}
}
