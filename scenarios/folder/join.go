package folder

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"nodestorm/scenarios"
	"nodestorm/scenarios/given"
)

// ids are where each ID is, its file and line.
type ids map[string]string

// claimID notes an ID of something in the folder, and reports whether nothing else has it.
func (f *Folder) claimID(where ids, id, name string, line int, field string) bool {
	if id == "" {
		return false
	}
	if other, taken := where[id]; taken {
		f.problem(name, line, field, "%s is the ID of %s too; give one of them another", id, other)
		return false
	}
	where[id] = fmt.Sprintf("%s:%d", f.file(name), line)
	return true
}

// join gives the scenarios their records.
func (f *Folder) join() {
	where := ids{}
	alone := map[string]bool{} // IDs of records without a scenario
	for _, r := range f.records {
		field, line := r.locate("id: ")
		if f.claimID(where, r.ID, r.path, line, field) && r.Feature != "" {
			alone[r.ID] = !f.assignRecord(r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.byFile)) {
		for _, i := range f.byFile[name] {
			// What is reported of a record without a scenario is no other problem.
			if s := f.Scenarios[i]; s.Record.Bare() && !alone[s.Record.ID] {
				f.claimID(where, s.Record.ID, name, s.Line, "")
			}
		}
	}
	f.Problems.Sort()
}

// assignRecord gives a record to the scenario with its tag, and reports whether there is one.
func (f *Folder) assignRecord(r placed) bool {
	field, line := r.locate("feature: ")
	feature := path.Join(path.Dir(r.path), r.Feature)
	found := f.byFile[feature]
	if _, there := f.features[feature]; !there {
		if !slices.ContainsFunc(f.Problems, func(p scenarios.Problem) bool { return p.File == f.file(feature) }) {
			f.problem(r.path, line, field, "feature: %s is not there; name it as seen from the record, inside the catalogue", f.file(feature))
		}
		return false
	}
	tagged := 0
	for _, i := range found {
		s := &f.Scenarios[i]
		if !slices.Contains(s.Tags, "@"+r.ID) {
			continue
		}
		tagged++
		if !s.Record.Bare() {
			f.problem(feature, s.Line, "", "the scenario %q has the tags of two records, @%s and @%s", s.Name, s.Record.ID, r.ID)
			continue
		}
		if tagged > 1 {
			continue
		}
		s.Record = r.Record
		s.RecordFile = scenarios.File{Path: r.path, Shown: f.file(r.path), Text: f.texts[r.path]}
		s.Record.NameTwins()
		s.Record.Feature = path.Join(f.mount, feature)
		made := &given.Names{}
		f.addMade(made, *s, feature)
		if err := made.CheckRecord(&s.Record); err != nil {
			f.misplaced(r.path, r.node, []error{err}) // a twin's are those of its record
		}
		f.made[i].files = append(f.made[i].files, r.path)
	}
	if tagged != 1 {
		hint := ""
		if tagged > 1 && slices.ContainsFunc(found, func(i int) bool { return f.made[i].isRow }) {
			hint = "; of an outline, give each row Examples: of its own, with a tag"
		}
		f.problem(r.path, line, field, "feature: %d scenarios of %s have the tag @%s, want one%s", tagged, f.file(feature), r.ID, hint)
	}
	return tagged > 0
}

// addMade adds what a scenario of a feature makes.
func (f *Folder) addMade(m *given.Names, s scenarios.Scenario, feature string) {
	m.AddSteps(s.Pickle(), func(file string) []byte { return f.beside[path.Join(path.Dir(feature), file)] })
}

// filesOf are the files of a scenario, its feature first, and of those that share its feature
// or record: without them neither could be read.
func (f *Folder) filesOf(of parts) []string {
	all := slices.Clone(of.files)
	for i := 0; i < len(all); i++ {
		if _, shared := f.beside[all[i]]; shared {
			continue
		}
		for _, other := range f.made {
			// mutant: a run keeps nothing of its record's twins
			if slices.Contains(other.files, all[i]) {
				all = append(all, slices.DeleteFunc(slices.Clone(other.files), func(name string) bool { return slices.Contains(all, name) })...)
			}
		}
	}
	return all
}

// assignFiles gives the scenarios the files that they are made of, by their paths below the folder
// that has them all, and the folder what a catalogue asks of it.
func (f *Folder) assignFiles() {
	for i, of := range f.made {
		all := f.filesOf(of)
		above := path.Dir(all[0])
		for _, name := range all {
			for above != "." && !strings.HasPrefix(name, above+"/") {
				above = path.Dir(above)
			}
		}
		files := map[string][]byte{}
		for _, name := range all {
			for _, of := range []map[string][]byte{f.features, f.beside, f.texts} {
				if text, is := of[name]; is {
					files[strings.TrimPrefix(name, above+"/")] = text
				}
			}
		}
		if text, is := f.texts[scenarios.InvariantsFile]; is { // of all its scenarios
			files[scenarios.InvariantsFile] = text
		}
		f.Scenarios[i].Files = files
	}
	for _, name := range slices.Sorted(maps.Keys(f.features)) {
		f.Features = append(f.Features, scenarios.File{Path: path.Join(f.mount, name), Shown: f.file(name), Text: f.features[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(f.beside)) {
		f.Features = append(f.Features, scenarios.File{Path: path.Join(f.mount, name), Text: f.beside[name]})
	}
	for _, r := range f.records {
		if r.at != "" { // a twin's are those of its record
			continue
		}
		for i, id := range r.Kin {
			field, line := scenarios.Locate(r.node, fmt.Sprintf("kin[%d]: ", i))
			f.Kin = append(f.Kin, scenarios.Kin{ID: id, At: scenarios.Problem{File: f.file(r.path), Line: line, Field: field}})
		}
	}
}
