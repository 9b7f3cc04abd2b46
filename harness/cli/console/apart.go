package console

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// WithoutApart leaves those records of a catalogue out that need builds which are made apart, see replay.Apart, unless the store
// has them already.
func (e *Console) WithoutApart(c *scenarios.Catalogue, records []scenarios.Record) []scenarios.Record {
	return e.without(c, records, replay.Apart)
}

// WithoutOthersApart leaves those out that need such builds beside those of a program, which are played whatever it takes.
func (e *Console) WithoutOthersApart(c *scenarios.Catalogue, records []scenarios.Record, program string) []scenarios.Record {
	// mutant: what stands beside a target is never built apart
	return e.without(c, records, func(ref builds.Ref) bool { return ref.Name != program && replay.Apart(ref) })
}

// without leaves those records out that need builds of a kind which the store lacks, and says how to get these.
func (e *Console) without(c *scenarios.Catalogue, records []scenarios.Record, kind func(builds.Ref) bool) []scenarios.Record {
	left, lacking := 0, map[string]bool{}
	records = slices.DeleteFunc(slices.Clone(records), func(r scenarios.Record) bool {
		needs, err := replay.NeededBy(c, []scenarios.Record{r})
		if err != nil {
			return false // what follows reports it
		}
		// mutant: --all builds what is built apart
		needs = slices.DeleteFunc(needs, func(ref builds.Ref) bool { return !kind(ref) || !e.lacks(ref) })
		if len(needs) == 0 {
			return false
		}
		for _, ref := range needs {
			lacking[ref.String()] = true
		}
		left++
		return true
	})
	if left > 0 {
		e.Remark("left out: %s, for which the store lacks what takes long to build: nodestorm target build %s", wording.Counted(left, "record"),
			strings.Join(slices.Sorted(maps.Keys(lacking)), " "))
	}
	return records
}

// lacks reports whether the store does not have a build.
func (e *Console) lacks(ref builds.Ref) bool {
	_, err := e.Supplier().Find(ref)
	return errors.As(err, new(*buildstore.NotFoundError))
}
