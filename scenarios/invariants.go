package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/checker"
	"nodestorm/sim/checker/strict"
)

// InvariantsFile has the invariants of all scenarios of a folder.
const InvariantsFile = "invariants.yaml"

func checkInvariants(list []checker.Statement) (wrong []error) {
	for i := range list {
		if err := list[i].CheckInvariant(); err != nil {
			wrong = append(wrong, fmt.Errorf("invariants[%d]: %w", i, err))
		}
	}
	return wrong
}

// readInvariants reads the file for all scenarios of the folder.
func (f *Folder) readInvariants(name string, text []byte) {
	var file struct {
		Invariants []checker.Statement `json:"invariants"`
	}
	var wrong []error
	err := strict.Unmarshal(text, &file)
	if all := (strict.Problems)(nil); errors.As(err, &all) {
		for _, problem := range all {
			wrong = append(wrong, errors.New(problem))
		}
	} else if err != nil {
		f.problem(name, lineIn(err.Error()), "", "%v", err)
		return
	}
	node := &yaml.Node{}
	if err := yaml.Unmarshal(text, node); err != nil {
		f.problem(name, lineIn(err.Error()), "", "%v", err)
		return
	}
	for _, err := range append(wrong, checkInvariants(file.Invariants)...) {
		field, line := locate(node, err.Error())
		f.problem(name, line, field, "%v", err)
	}
	f.invariants, f.texts[name] = file.Invariants, text
}

// hold gives the folder's invariants to its scenarios.
func (f *Folder) hold() {
	for i := range f.Scenarios {
		r := &f.Scenarios[i].Record
		r.Invariants = slices.Concat(r.Invariants, f.invariants)
	}
}
