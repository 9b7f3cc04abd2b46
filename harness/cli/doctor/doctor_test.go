package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
)

func readinessOf(t *testing.T) (store *buildstore.Store, all []Readiness, byName map[string]Readiness) {
	t.Helper()
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if store, err = buildstore.Open(""); err != nil {
		t.Fatal(err)
	}
	all, err = Ready(store, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	byName = map[string]Readiness{}
	for _, g := range all {
		byName[g.Of] = g
	}
	return store, all, byName
}

// What is ready is reported by what it makes possible: a build for one cloud is none for
// another.
func TestReadiness(t *testing.T) {
	t.Setenv(buildstore.EnvCache, t.TempDir())
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	store, all, empty := readinessOf(t)
	records := 0
	for _, g := range all {
		records += g.Records
		if strings.Join(g.Ways, "; ") == "" || g.Ready > 0 {
			t.Errorf("of an empty store: %+v", g)
		}
	}
	if records != len(catalogue.Records()) || !all[0].Needed {
		t.Errorf("%d of %d records, first %q", records, len(catalogue.Records()), all[0].Of)
	}
	if ways := strings.Join(empty["Cluster Autoscaler for hetzner"].Ways, "\n"); !strings.Contains(ways, "--ref cluster-autoscaler-1.32.5 ") || !strings.Contains(ways, "--tags hetzner") || strings.Contains(ways, "DIR") {
		t.Errorf("the way to those for hetzner: %s", ways)
	}
	for _, apart := range []string{"kubernetes@v1.35.4", "karpenter@v1.14.0", "descheduler@v0.36.0"} {
		if g := empty[apart]; g.Replays == 0 || g.Needed || !slices.Contains(g.Ways, "nodestorm target build "+apart) {
			t.Errorf("what needs %s: %+v", apart, g)
		}
	}
	program, err := exec.LookPath("go") // not this one, which may have the race detector
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []builds.Ref{{Name: "kubernetes", Version: "v1.36.3"}, {Name: "cluster-autoscaler", Version: "1.32.5", Provider: "hetzner"}} {
		if _, err := store.Add(t.Context(), buildstore.FromSource(ref, ""), program); err != nil {
			t.Fatal(err)
		}
	}
	_, _, some := readinessOf(t)
	hetzner, other := some["Cluster Autoscaler for hetzner"], some["Cluster Autoscaler for clusterapi"]
	if hetzner.Ready == 0 || hetzner.Ready == hetzner.Replays || strings.Contains(strings.Join(hetzner.Missing, " "), "1.32.5") {
		t.Errorf("with one build for hetzner: %+v", hetzner)
	}
	if other.Ready != 0 || !strings.Contains(strings.Join(other.Missing, "\n"), "cluster-autoscaler@1.32.5 for clusterapi") {
		t.Errorf("with no build for clusterapi: %+v", other)
	}
}

// What is not needed does not make the exit status.
func TestWell(t *testing.T) {
	without := Diagnosis{Machine: []Finding{{OK: true}}, Replays: []Readiness{{Replays: 2, Ready: 2, Needed: true}, {Replays: 3}}, Optional: []Finding{{}}}
	if !without.Well() {
		t.Error("optional builds count")
	}
	lacking := without
	lacking.Machine = []Finding{{OK: true}, {}}
	if lacking.Well() {
		t.Error("a machine that lacks something is well")
	}
	partly := without
	partly.Replays = []Readiness{{Replays: 2, Ready: 1, Needed: true}}
	if partly.Well() {
		t.Error("replays that need no Cluster Autoscaler do not count")
	}
}

// The clock is tried, and said not to work where it does not.
func TestTryClock(t *testing.T) {
	if testing.Short() {
		t.Skip("building a program with the clock takes half a minute, once: not with -short")
	}
	took, err := tryClock(t.Context())
	if err != nil || took <= 0 {
		t.Fatalf("%s, %v", took, err)
	}
	t.Logf("an hour in %s", took)
	broken := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho this go builds nothing >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(broken)+":/usr/bin:/bin")
	if _, err := tryClock(t.Context()); err == nil || !strings.Contains(err.Error(), "this go builds nothing") {
		t.Errorf("with a go that builds nothing: %v", err)
	}
}

// A long command is printed on lines that a shell takes for one, with each flag beside its value.
func TestShellLines(t *testing.T) {
	command := "nodestorm target build cluster-autoscaler --source https://github.com/kubernetes/autoscaler"
	for range 9 {
		command += " --ref cluster-autoscaler-1.32.5"
	}
	lines := shellLines(command + " --race")
	if strings.ReplaceAll(lines, " \\\n        ", " ") != command+" --race" {
		t.Errorf("it is another command: %s", lines)
	}
	for line := range strings.SplitSeq(lines, "\n") {
		if len(line) > columns || strings.HasSuffix(line, "--ref \\") || strings.HasSuffix(line, "--source \\") {
			t.Errorf("a line is %q", line)
		}
	}
}
