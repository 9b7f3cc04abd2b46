package replay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/seal"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/time/clock"
)

// Of all records only these are replayed on programs that do nothing, unless
// NODESTORM_INERT is "all": each was healthy or reproduced on one of them before
// records had triggers, or stands for its system.
var cheapOnInert = []string{
	"clusterapi-10001-failure-message", "clusterapi-8494-rollout", "hetzner-1476-min-size-ignored", "karpenter-7515-not-ready-noexecute",
}

// Each replay is bounded, in real time. Of the cheap ones, 40 virtual minutes with Cluster
// API took 48 s on a busy machine of two processors.
const cheapWithin, anyWithin = 110 * time.Second, 10 * time.Minute

// A program that answers every health check and does nothing is not healthy, and shows
// no failure; nor is or does one that also logs its rounds.
func TestInert(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all, within := os.Getenv("NODESTORM_INERT") == "all", cheapWithin
	if all {
		within = anyWithin
	}
	silent, logging := inert(t, "inert", ""), inert(t, "inert-logs", "-X main.logs=yes")
	for _, record := range catalogue.Records() {
		if record.Autoscaler == "kubespray" || !all && !slices.Contains(cheapOnInert, record.ID) {
			continue // an installer is an order of steps, and no program
		}
		programs := []builds.Target{logging}
		if all {
			programs = append(programs, silent)
		}
		for _, program := range programs {
			t.Run(record.ID+" on "+program.Version, func(t *testing.T) {
				r := replay.Request{
					Record: record, Features: os.DirFS("../../features"), Target: inPlaceOf(t, record, program),
					Settings: replay.Settings{World: world.Config{Seed: 1, Clock: clock.Auto}, Kubernetes: kubernetes, Out: t.TempDir()},
				}
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				result, err := replay.Run(ctx, r)
				if missing := new(buildstore.NotFoundError); errors.As(err, &missing) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s in %s: %s", result.Verdict, result.Wall.Round(time.Second), result.Reason)
				if result.Verdict != verdict.Failed && result.Verdict != verdict.Inconclusive {
					t.Errorf("a program that does nothing is %s: %s", result.Verdict, result.Reason)
				}
				again, err := run.Recheck(t.Context(), result.Dir, kept.Records(catalogue))
				if err != nil {
					t.Fatal(err)
				}
				for _, of := range again.Cross(t.Context(), catalogue) {
					t.Errorf("a program that does nothing shows %s: %s, records %v", of.ID, of.Finding.Statement, of.Finding.Evidence)
				}
			})
		}
	}
}

// inert builds the program into a store of its own, with the clock.
func inert(t *testing.T, version, ldflags string) builds.Target {
	t.Helper()
	store, err := buildstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("testdata/inert")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	built, err := store.Build(ctx, buildstore.Recipe{Ref: builds.Ref{Name: "cluster-autoscaler", Version: version}, Dir: source, LDFlags: ldflags}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// inPlaceOf is the program in place of the record's autoscaler. For Karpenter it takes
// the custom resources and the chart of a release along.
func inPlaceOf(t *testing.T, record scenarios.Record, program builds.Target) builds.Target {
	t.Helper()
	if record.Autoscaler != "karpenter" {
		return program
	}
	ref, err := builds.ParseRef(record.Targets[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"assets": buildstest.Get(t, ref).Asset(""), "bin/karpenter": program.Binary()} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	program.Name, program.Dir = "karpenter", dir
	if program.Assets, err = seal.AssetsDigest(program.Manifest, dir); err != nil {
		t.Fatal(err)
	}
	return program
}
