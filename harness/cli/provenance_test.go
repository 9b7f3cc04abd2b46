package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli"
	"nodestorm/harness/run"
	"nodestorm/harness/run/verdict"
)

// A target whose source has changed since it was built is said to be stale before
// anything runs, with the command that builds it again.
func TestStaleTarget(t *testing.T) {
	program, err := exec.LookPath("go") // not this one, which may have the race detector
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t) // which has another go in PATH
	source := karpenterSource(t)
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(source, "karpenter")
	write(t, file, string(text), 0o700)
	if code, _, stderr := nodestorm(t, "target", "add", "karpenter@mine", file, "--source", source); code != cli.AsExpected {
		t.Fatalf("status %d, %q", code, stderr)
	}
	said := func() string {
		_, _, stderr := nodestorm(t, "run", scenario, "--target", "karpenter@mine", "--clock", "real", "--out", b.out)
		if !strings.Contains(stderr, "building kubernetes@") { // which this bench cannot
			t.Fatalf("it said %q", stderr)
		}
		return stderr
	}
	if stderr := said(); strings.Contains(stderr, "stale") {
		t.Errorf("as it was added: %q", stderr)
	}
	write(t, file, "other", 0o700)
	want := "; build it again with: nodestorm target add karpenter@mine " + file + " --source " + source + "\n"
	if stderr := said(); !strings.HasPrefix(stderr, "nodestorm: karpenter@mine is stale: its source has changed since it was built on ") || !strings.Contains(stderr, want) {
		t.Errorf("changed since: %q", stderr)
	}
}

// A run on another release of Kubernetes is noted beside the one on nodestorm's own.
func TestTrackRecordOfKubernetes(t *testing.T) {
	root := t.TempDir()
	t.Setenv(buildstore.EnvRoot, root)
	const marks = "<!-- track record: written by nodestorm matrix --track-record -->\n<!-- end of the track record -->\n"
	const commit = "796b28ee0123456789abcdef0123456789abcdef"
	write(t, filepath.Join(root, "go.mod"), "module nodestorm\n", 0o600)
	for _, name := range []string{"README.md", "scenarios/README.md", "reports/verified.json"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name), marks, 0o600)
	}
	write(t, filepath.Join(root, "reports", "verified.json"), "[]", 0o600)
	for _, plane := range []*run.ControlPlane{nil, {Version: "v1.36.3"}} {
		dir := aRun(t)
		r, err := run.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Commit = commit
		r.Provenance = &run.Provenance{Nodestorm: run.Code{Commit: commit}, Features: run.Code{Commit: commit}, ControlPlane: plane}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		reseal(t, dir)
		if code, _, stderr := nodestorm(t, "matrix", dir, "--track-record"); code != cli.AsExpected {
			t.Fatalf("status %d, %q", code, stderr)
		}
	}
	verified, err := os.ReadFile(filepath.Join(root, "reports", "verified.json"))
	if err != nil || !strings.Contains(string(verified), `"target": "karpenter@v1.6.4"`) || !strings.Contains(string(verified), `"target": "karpenter@v1.6.4 on Kubernetes v1.36.3"`) {
		t.Errorf("noted %s, %v", verified, err)
	}
	if table, err := os.ReadFile(filepath.Join(root, "scenarios", "README.md")); err != nil || !strings.Contains(string(table), "`karpenter@v1.6.4` (Kubernetes v1.36.3)") {
		t.Errorf("the track record lacks the other Kubernetes: %s, %v", table, err)
	}
}

// A program that has the name of a release does not stand for it: not in a table, a report, nor a matrix, and what the
// catalogue has of the release is not expected of it.
func TestProgramOfAReleasesName(t *testing.T) {
	dir := aRun(t)
	change(t, filepath.Join(dir, run.File), `"kind": "module",`, `"kind": "binary", "file": "/x/mine",`)
	reseal(t, dir)
	const own = "is called so and is no build of that release: a program as given, mine (sha256 5e4d)"
	code, text, _ := nodestorm(t, "recheck", dir)
	if code != cli.NotAsExpected || !strings.Contains(text, "karpenter@v1.6.4*  -         reproduced") || !strings.Contains(text, "* karpenter@v1.6.4 "+own) || !strings.Contains(text, ": NOT AS EXPECTED") {
		t.Errorf("recheck: status %d, %s", code, text)
	}
	if _, text, _ := nodestorm(t, "report", dir, "--format", "md"); !strings.Contains(text, "no build of that release: a program as given") {
		t.Errorf("report: %s", text)
	}
	_, text, _ = nodestorm(t, "matrix", dir, "--format", "json")
	var m struct {
		Targets []string
		Cells   []struct {
			Expected, Outcome string
			Departures        []string
		}
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil || len(m.Targets) != 1 || m.Targets[0] != "karpenter@v1.6.4, own program 5e4d" ||
		m.Cells[0].Expected != "" || m.Cells[0].Outcome != "not as expected" || !strings.Contains(m.Cells[0].Departures[0], own) {
		t.Errorf("matrix: %+v, %v", m, err)
	}
	record, err := run.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if expected := run.Expects(record.Target, "reproduced"); verdict.Compare(expected, verdict.Healthy) != verdict.AsExpected {
		t.Errorf("a healthy run of it is %s", verdict.Compare(expected, verdict.Healthy))
	}
}

// Only what was run as its names say is noted as verified.
func TestTrackRecordOfDepartures(t *testing.T) {
	root := t.TempDir()
	t.Setenv(buildstore.EnvRoot, root)
	for _, folder := range []string{"reports", "scenarios"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const marks = "<!-- track record: written by nodestorm matrix --track-record -->\n<!-- end of the track record -->\n"
	const commit = "796b28ee0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		change func(*run.Run)
		want   string // why it is not noted; empty: it is
	}{
		"as its names say": {func(*run.Run) {}, ""},
		"of before":        {func(r *run.Run) { r.Provenance = nil }, "the run is of before nodestorm noted all that was run"},
		"dirty target": {func(r *run.Run) {
			r.Target.Source = builds.Source{Kind: builds.FromFolder, Commit: commit, Dirty: true}
		}, "karpenter@v1.6.4 was built from 796b28ee0123 with uncommitted changes"},
		"a program as given": {func(r *run.Run) { r.Target.Source = builds.Source{Kind: builds.FromBinary, File: "/x/mine"} },
			"karpenter@v1.6.4 is called so and is no build of that release: a program as given, mine (sha256 5e4d)"},
		"dirty nodestorm": {func(r *run.Run) { r.Provenance.Nodestorm.Dirty, r.Provenance.Features.Dirty = true, true }, "nodestorm itself is of 796b28ee0123 with uncommitted changes"},
		"dirty features":  {func(r *run.Run) { r.Provenance.Features.Dirty = true }, "the features are of 796b28ee0123 with uncommitted changes"},
		"--manifest":      {func(r *run.Run) { r.Provenance.Manifest = &run.Input{Name: "d.yaml"} }, "ran as d.yaml"},
		"--component":     {func(r *run.Run) { r.Provenance.With = []builds.Manifest{{Ref: builds.CCM}} }, "in the place of nodestorm's own"},
		"--order":         {func(r *run.Run) { r.Provenance.Order = []run.Input{{Name: "o.yaml"}} }, "the installer's order was that of o.yaml"},
		"--kubernetes FOLDER": {func(r *run.Run) { r.Provenance.ControlPlane = &run.ControlPlane{Name: "k8s", Version: "v1.33.2"} },
			"the control plane was that of the folder k8s, v1.33.2"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, filepath.Join(root, "go.mod"), "module nodestorm\n", 0o600)
			write(t, filepath.Join(root, "README.md"), marks, 0o600)
			write(t, filepath.Join(root, "scenarios", "README.md"), marks, 0o600)
			verified := filepath.Join(root, "reports", "verified.json")
			_ = os.Remove(verified)
			dir := aRun(t)
			r, err := run.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			r.Commit = commit
			r.Provenance = &run.Provenance{Nodestorm: run.Code{Commit: commit}, Features: run.Code{Commit: commit}}
			c.change(&r)
			if err := r.Save(dir); err != nil {
				t.Fatal(err)
			}
			reseal(t, dir)
			code, _, stderr := nodestorm(t, "matrix", dir, "--track-record")
			text, err := os.ReadFile(verified)
			if err != nil {
				t.Fatal(err)
			}
			var cells []json.RawMessage
			if err := json.Unmarshal(text, &cells); err != nil {
				t.Fatal(err)
			}
			if c.want == "" && (code != cli.AsExpected || len(cells) != 1) {
				t.Errorf("status %d, %q, and noted %s", code, stderr, text)
			}
			if c.want != "" && (code != cli.Inconclusive || len(cells) != 0 || !strings.Contains(stderr, scenario+" on karpenter@v1.6.4") || !strings.Contains(stderr, " is not noted as verified: ") || !strings.Contains(stderr, c.want)) {
				t.Errorf("status %d, %q, and noted %s; want %q", code, stderr, text, c.want)
			}
		})
	}
}
