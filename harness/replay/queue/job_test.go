package queue

import (
	"bytes"
	"slices"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
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
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	silent := words{&bytes.Buffer{}}
	q := &Queue{Supply: &supply.Supplier{Store: store, Output: silent}, Output: silent, Catalogue: catalogue, Features: catalogue.Features(), Settings: replay.Settings{World: world.Config{Clock: clock.Auto}}}
	records := slices.DeleteFunc(catalogue.Records(), func(r scenarios.Record) bool { return r.System != "karpenter" })
	for _, r := range records { // this test builds nothing
		for _, of := range r.Targets {
			ref, err := builds.ParseRef(of.Name)
			if err != nil {
				t.Fatal(err)
			}
			ref.Provider = q.ProviderOf(r)
			if _, err := replay.Find(store, ref); err != nil {
				t.Skipf("%s: %v; make setup builds it", r.ID, err)
			}
		}
	}
	jobs, without, err := q.Jobs(t.Context(), records)
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
		got = append(got, j.Record.ID+" "+j.Target.Ref.String())
	}
	if len(without) > 0 || !slices.Equal(got, want) {
		t.Errorf("not: %v\n%q, want\n%q", without, got, want)
	}
}

// A job can have another seed than its queue, here and in another process, which leaves the run where it is asked to.
func TestJobOfItsOwn(t *testing.T) {
	var q Queue
	q.World.Seed, q.Out = 1, "all"
	j := Job{Record: scenarios.Record{ID: "a"}, Out: "there", Adjust: func(r *replay.Request) { r.World.Seed = 7 }}
	for _, of := range []struct {
		Job
		seed uint64
		out  string
	}{{j, 7, "there"}, {Job{}, 1, "all"}} {
		if r := q.request(of.Job); r.World.Seed != of.seed || r.Out != of.out {
			t.Errorf("the seed is %d and the folder %q, want %d and %q", r.World.Seed, r.Out, of.seed, of.out)
		}
	}
	asked := Task{Job: j}.request()
	asked.Out = "elsewhere"
	got, err := q.LookupIn([]Job{j})(t.Context(), asked)
	if err != nil || got.Out != "elsewhere" || got.Adjust == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
