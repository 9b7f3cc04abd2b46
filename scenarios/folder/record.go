package folder

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"nodestorm/scenarios"
	"nodestorm/scenarios/given"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// decode reads a file of YAML strictly. What is wrong with its fields is returned; of one
// that is no YAML the node is nil, and the problem noted.
func (f *Folder) decode(name string, text []byte, into any) (node *yaml.Node, wrong []error) {
	err := strict.Unmarshal(text, into)
	node = &yaml.Node{}
	if wrong := yaml.Unmarshal(text, node); wrong != nil {
		err = cmp.Or(err, wrong)
		f.problem(name, scenarios.LineIn(err.Error()), "", "%v", err)
		return nil, nil
	}
	if all := (strict.Problems)(nil); errors.As(err, &all) {
		for _, problem := range all {
			wrong = append(wrong, errors.New(problem))
		}
	} else if err != nil {
		field, line := scenarios.LocateValue(node, err.Error())
		switch {
		// mutant: a value that cannot be read is anywhere
		case line > 0:
			f.problem(name, line, field, "%s: %v", field, err)
		case scenarios.LineIn(err.Error()) > 0:
			f.problem(name, scenarios.LineIn(err.Error()), "", "%v", err)
		default:
			f.misplaced(name, node, []error{err})
		}
		return nil, nil
	}
	return node, wrong
}

// misplaced notes what is wrong with fields of a file, where they are.
func (f *Folder) misplaced(name string, node *yaml.Node, wrong []error) {
	for _, err := range wrong {
		field, line := scenarios.Locate(node, err.Error())
		f.problem(name, line, field, "%v", err)
	}
}

func (f *Folder) readRecord(name string, text []byte) {
	var file scenarios.Written
	node, wrong := f.decode(name, text, &file)
	if node == nil {
		return
	}
	list, more := file.Records()
	f.misplaced(name, node, append(wrong, more...))
	for i, r := range list {
		f.records = append(f.records, placed{r, name, node, scenarios.Place(i)})
	}
	f.texts[name] = text
}

// readInvariants reads the file for all scenarios of the folder.
func (f *Folder) readInvariants(name string, text []byte) {
	var file struct {
		Invariants []checker.Statement `json:"invariants"`
	}
	node, wrong := f.decode(name, text, &file)
	if node == nil {
		return
	}
	f.misplaced(name, node, append(wrong, scenarios.CheckInvariants(file.Invariants)...))
	f.invariants, f.held, f.texts[name] = file.Invariants, node, text
}

// assignInvariants gives the folder's invariants to its scenarios, which are about what any of them makes.
func (f *Folder) assignInvariants() {
	made := &given.Names{}
	for i, s := range f.Scenarios {
		f.addMade(made, s, f.made[i].files[0])
	}
	for i := range f.invariants {
		if err := made.Check(&f.invariants[i]); err != nil {
			f.misplaced(scenarios.InvariantsFile, f.held, []error{fmt.Errorf("invariants[%d]: %w", i, err)})
		}
	}
	for i := range f.Scenarios {
		r := &f.Scenarios[i].Record
		r.Invariants = slices.Concat(r.Invariants, f.invariants)
	}
}
