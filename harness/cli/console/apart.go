package console

import (
	"errors"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// WithoutApart leaves those records out whose program is built apart, see program.Facts, unless the store has the builds already.
func (e *Console) WithoutApart(records []scenarios.Record) []scenarios.Record {
	left := map[string]int{}
	records = slices.DeleteFunc(slices.Clone(records), func(r scenarios.Record) bool {
		// mutant: --all builds what is built apart
		lacks := program.Named(r.Autoscaler).Apart && slices.ContainsFunc(r.Targets, e.lacks)
		if lacks {
			left[r.Autoscaler]++
		}
		return lacks
	})
	for name, n := range left {
		e.Remark("left out: %s of %s, whose releases take long to build: nodestorm target build %s@VERSION", wording.Counted(n, "record"), name,
			name)
	}
	return records
}

// lacks reports whether the store does not have a target.
func (e *Console) lacks(t scenarios.Target) bool {
	ref, err := builds.ParseRef(t.Name)
	if err != nil {
		return false // what follows reports it
	}
	_, err = e.Supplier().Find(ref)
	return errors.As(err, new(*buildstore.NotFoundError))
}
