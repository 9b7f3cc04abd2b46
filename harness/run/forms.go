package run

import (
	"fmt"
	"regexp"
	"slices"

	"nodestorm/harness/builds"
)

// The forms of what commands are made of that people copy out of reports. Names of files have none.
var (
	idForm      = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	clockForm   = regexp.MustCompile(`^(auto|real|[0-9][0-9.e+-]*x)?$`)
	versionForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._+-]*)?$`)
)

// Misshapen names, in a sentence each, what of the run no nodestorm writes.
func (r Run) Misshapen() (wrong []string) {
	say := func(what, value string) {
		wrong = append(wrong, fmt.Sprintf("%s has a %s that no nodestorm writes: %.60q", File, what, value))
	}
	if !idForm.MatchString(r.ID) {
		say("scenario", r.ID)
	}
	if !clockForm.MatchString(r.Clock.Mode) {
		say("clock", r.Clock.Mode)
	}
	of := []builds.Ref{r.Target.Ref, r.Kubernetes.Ref}
	if p := r.Provenance; p != nil {
		if p.Machines != "" && p.Machines != Containers {
			say("kind of machines", p.Machines)
		}
		if p.Cluster != "" && p.Cluster != Kind {
			say("kind of clusters", p.Cluster)
		}
		if c := p.ControlPlane; c != nil && !versionForm.MatchString(c.Version) {
			say("version of Kubernetes", c.Version)
		}
		for _, m := range slices.Concat(p.With, p.Parts) {
			of = append(of, m.Ref)
		}
		of = append(of, p.Stale...)
	}
	for _, ref := range of {
		if ref != (builds.Ref{}) && ref.Check() != nil { // a run that got no build has none
			say("build", fmt.Sprintf("%s of %q", ref, ref.Provider))
		}
	}
	return wrong
}
