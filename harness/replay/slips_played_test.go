package replay_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/time/clock"
)

// playedSeeds is of how many draws the typos are played that lint misses in records of Karpenter: one or two of each.
const playedSeeds = 16

// TestSlipsPlayed plays the affected release of records with a typo that lint does not find, if NODESTORM_SLIPS is "all", or the
// seed of the first draw. None of them is healthy: a trigger that does not occur and a target that does no work are inconclusive,
// and a Then that fails in another way than the symptom says is failed.
func TestSlipsPlayed(t *testing.T) {
	first, err := strconv.ParseUint(strings.Replace(os.Getenv("NODESTORM_SLIPS"), "all", "0", 1), 10, 32)
	if err != nil {
		t.Skip("it plays some dozens of records; NODESTORM_SLIPS=all, as make slips, or the seed of the first draw")
	}
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	byKind := slipsOf(t, catalogue)
	played, judged := map[string]bool{}, 0
	for seed := range uint64(playedSeeds) {
		_, missed := drawSlips(t, byKind, first+seed)
		for _, s := range missed {
			record := catalogue.Records()[s.record]
			target, affected := affectedBuild(record)
			name := fmt.Sprintf("%s %s instead of %s", record.ID, s.wrong, s.right)
			if !affected || played[name] {
				continue
			}
			played[name] = true
			t.Run(name, func(t *testing.T) {
				t.Logf("%s of %s: %q", s.kind, s.file, s.line())
				r := replay.Request{Target: target, Settings: replay.Settings{
					World: world.Config{Seed: 1, Clock: clock.Auto}, Kubernetes: kubernetes, Out: t.TempDir(),
				}}
				if playSlip(t, s, record.ID, r) {
					judged++
				}
			})
		}
	}
	t.Logf("%d of %d have a verdict; the others are refused before they are played", judged, len(played))
	if judged*2 < len(played) || judged == 0 {
		t.Error("too few have a verdict to say anything")
	}
}

// affectedBuild is the first build of a record of Karpenter in the store that shows the failure.
func affectedBuild(record scenarios.Record) (target builds.Target, is bool) {
	store, err := buildstore.Open("")
	if err != nil || record.Autoscaler != "karpenter" {
		return target, false
	}
	for _, of := range record.Targets {
		ref, err := builds.ParseRef(of.Name)
		if err != nil || of.Expected != scenarios.Reproduced {
			continue
		}
		if target, err = store.Get(ref); err == nil {
			return target, true
		}
	}
	return target, false
}

// playSlip plays a record with a typo, and reports whether it has a verdict, which must not be healthy.
func playSlip(t *testing.T, s slip, id string, r replay.Request) bool {
	own := scenarios.Empty()
	if err := own.Add(replay.ReadFolder(written(t, maps.Clone(s.folder))).Own); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(own.Records(), func(of scenarios.Record) bool { return of.ID == id })
	if at < 0 {
		t.Skipf("the typo is in the ID: there is no record %s any more", id)
	}
	r.Record, r.Features, r.Own = own.Records()[at], own.Features(), own.FilesOf(id)
	ctx, cancel := context.WithTimeout(t.Context(), anyWithin)
	defer cancel()
	began := time.Now()
	result, err := replay.Run(ctx, r)
	if missing := new(buildstore.NotFoundError); errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Logf("it is not played: %v", err)
		return false
	}
	t.Logf("%s in %s: %s", result.Verdict, time.Since(began).Round(time.Second), result.Reason)
	if result.Verdict == verdict.Healthy {
		t.Errorf("with %q instead of %q it is healthy", s.wrong, s.right)
	}
	return true
}
