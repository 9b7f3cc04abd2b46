package scenarios

import (
	"fmt"
	"strings"

	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
)

// InvariantsFile has the invariants of all scenarios of a folder.
const InvariantsFile = "invariants.yaml"

// CheckInvariants finds what is wrong with a list.
func CheckInvariants(list []checker.Statement) (wrong []error) {
	for i := range list {
		if err := list[i].CheckInvariant(); err != nil {
			wrong = append(wrong, fmt.Errorf("invariants[%d]: %w", i, err))
		}
	}
	return wrong
}

// Known is an invariant of every run that another failure breaks than the record's.
type Known struct {
	// Invariant is the name of the invariant. Required.
	Invariant string `json:"invariant"`
	// Releases are those on which it is broken. Required.
	Releases Range `json:"releases"`
	// Because names the other failure: an ID of the catalogue or an issue, and what it is. Required.
	Because string `json:"because"`
}

// KnownOn are the invariants of every run that are known to be broken on a release, and
// why.
func (r *Record) KnownOn(version string) map[string]string {
	known := map[string]string{}
	for _, k := range r.Known {
		if has, err := k.Releases.Has(version); err == nil && has {
			known[k.Invariant] = k.Because
		}
	}
	return known
}

// checkBreaks finds what is wrong with Breaks and Known. What a folder holds for all its
// scenarios may be broken as well, and is not known yet.
func (r *Record) checkBreaks() (wrong []error) {
	for i, name := range r.Breaks {
		if !invariants.Known(name) && !strings.Contains(name, " ") {
			wrong = append(wrong,
				fmt.Errorf("breaks[%d]: unknown invariant %q (allowed: %s, and statements of invariants)", i, name,
					strings.Join(invariants.Names(), ", ")))
		}
	}
	for i, k := range r.Known {
		switch _, err := k.Releases.Has("v0.0.0"); {
		case !invariants.Known(k.Invariant):
			wrong = append(wrong,
				fmt.Errorf("known[%d]: unknown invariant %q (allowed: %s)", i, k.Invariant, strings.Join(invariants.Names(), ", ")))
		case err != nil:
			wrong = append(wrong, fmt.Errorf("known[%d].releases: %w", i, err))
		case strings.TrimSpace(k.Because) == "":
			wrong = append(wrong, fmt.Errorf("known[%d].because is missing: name the failure that breaks %s", i, k.Invariant))
		}
	}
	return wrong
}
