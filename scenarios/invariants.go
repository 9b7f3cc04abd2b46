package scenarios

import (
	"fmt"
	"slices"

	"nodestorm/sim/checker"
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
	node, wrong := f.decode(name, text, &file)
	if node == nil {
		return
	}
	f.misplaced(name, node, append(wrong, checkInvariants(file.Invariants)...))
	f.invariants, f.texts[name] = file.Invariants, text
}

// hold gives the folder's invariants to its scenarios.
func (f *Folder) hold() {
	for i := range f.Scenarios {
		r := &f.Scenarios[i].Record
		r.Invariants = slices.Concat(r.Invariants, f.invariants)
	}
}
