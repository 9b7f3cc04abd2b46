package scenarios

import (
	"fmt"
	"slices"

	"nodestorm/sim/strict"
)

// Written is a file of the catalogue: a record, and what is another in its twins.
type Written struct {
	Record
	// Twins are variants of the scenario that show the same failure: with real kubelets, or with another setting. Each is a
	// record of its own with the ranges, trigger, work and symptom of this one.
	Twins []twin `json:"twins"`
}

// twin is the same failure, shown by another scenario: with real kubelets in place of
// simulated ones, or with another setting. It is a record of its own that has the ranges,
// trigger, work and symptom of the one it is written in. Of the fields with a pointer it
// has that one's as well if they are not there.
type twin struct {
	// ID is the name of the twin and the tag of its scenario, as a record's. The suffix -real marks a twin that differs only in
	// using real kubelets. Required.
	ID string `json:"id"`
	// Title says in a few words what the software does wrong. Required.
	Title string `json:"title"`
	// System is the twin's own, if it is not the record's.
	System *string `json:"system"`
	// Feature is the path of the twin's feature, if it is not the record's.
	Feature *string `json:"feature"`
	// Summary is the twin's own, if it is not the record's.
	Summary *string `json:"summary"`
	// Mechanism is the twin's own, if it is not the record's.
	Mechanism *string `json:"mechanism"`
	// Notes are the twin's own, if they are not the record's.
	Notes *string `json:"notes"`
}

// maxTwins bounds what one file can make of itself.
const maxTwins = 100

func (t twin) applyTo(r Record) Record {
	r.ID, r.Title = t.ID, t.Title
	for _, field := range []struct{ from, to *string }{
		{t.System, &r.System}, {t.Feature, &r.Feature}, {t.Summary, &r.Summary}, {t.Mechanism, &r.Mechanism}, {t.Notes, &r.Notes},
	} {
		if field.from != nil {
			*field.to = *field.from
		}
	}
	return r
}

// records are the file's record and its twins, complete, and all that is wrong with them.
func (w *Written) records(releases Releases, own bool) (list []Record, wrong []error) {
	if len(w.Twins) > maxTwins {
		return nil, []error{fmt.Errorf("twins: there are %d, more than %d", len(w.Twins), maxTwins)}
	}
	list = []Record{w.Record}
	for _, t := range w.Twins {
		list = append(list, t.applyTo(w.Record))
	}
	known := map[string]bool{} // what is wrong with the record is not reported of its twins, too
	for i := range list {
		if w.Affected != None { // else no run shows the failure
			for j, other := range list {
				if j != i {
					list[i].twins = append(list[i].twins, other.ID)
				}
			}
		}
		for _, err := range list[i].complete(releases, own) {
			switch {
			case i == 0:
				known[err.Error()] = true
				wrong = append(wrong, err)
			// mutant: a mistake of a record is reported for each of its twins
			case !known[err.Error()]:
				wrong = append(wrong, fmt.Errorf("%s%w", Place(i), err))
			}
		}
	}
	return list, wrong
}

// Records are the records of a file of a user's own.
func (w *Written) Records() (list []Record, wrong []error) {
	releases, err := ReadReleases(builtinReleases)
	if err != nil {
		return nil, []error{err}
	}
	return w.records(releases, true)
}

// Place is what the fields of a file's records begin with.
func Place(i int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprintf("twins[%d].", i-1)
}

// NameTwins has the twins be kin, as soon as those that records name are looked up.
func (r *Record) NameTwins() {
	// mutant: twins are no kin
	r.Kin, r.twins = slices.Concat(r.twins, r.Kin), nil
}

// parse reads a record and its twins, and checks them: the error is the first thing that is wrong.
func parse(text []byte, releases Releases) ([]Record, error) {
	var w Written
	if err := strict.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	list, wrong := w.records(releases, false)
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return list, nil
}
