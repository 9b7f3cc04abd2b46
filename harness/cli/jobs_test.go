package cli

import (
	"io"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/time/clock"
)

// Each record comes with the builds that it names, in their order, whatever else is looked up
// for it: many records name the same builds, one after the other.
func TestJobsAreThoseOfTheRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the builds of Karpenter, which make setup makes: not with -short")
	}
	catalogue, err := scenarios.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := &env{stdout: io.Discard, stderr: io.Discard}
	if e.store, err = buildstore.Open(""); err != nil {
		t.Fatal(err)
	}
	s := &session{env: e, catalogue: catalogue, features: catalogue.Features(), Settings: replay.Settings{World: world.Config{Clock: clock.Auto}}}
	records := slices.DeleteFunc(catalogue.Records(), func(r scenarios.Record) bool { return r.System != "karpenter" })
	for _, r := range records { // this test builds nothing
		for _, of := range r.Targets {
			ref, err := builds.ParseRef(of.Name)
			if err != nil {
				t.Fatal(err)
			}
			ref.Provider = s.providerOf(r)
			if _, err := replay.Find(e.store, ref); err != nil {
				t.Skipf("%s: %v; make setup builds it", r.ID, err)
			}
		}
	}
	c := &cobra.Command{}
	c.SetContext(t.Context())
	jobs, without, err := s.jobs(c, records)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range records {
		for _, of := range r.Targets {
			want = append(want, r.ID+" "+of.Name)
		}
	}
	for _, j := range jobs {
		got = append(got, j.record.ID+" "+j.target.Ref.String())
	}
	if len(without) > 0 || !slices.Equal(got, want) {
		t.Errorf("not: %v\n%q, want\n%q", without, got, want)
	}
}
