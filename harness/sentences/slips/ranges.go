package slips

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"nodestorm/scenarios"
)

var (
	odd        = regexp.MustCompile(`=[<>]|(?:^|[^0-9])0[0-9]|\.\.|[xX*]\.[0-9]|[0-9]+(?:\.[0-9]+){3,}`)
	inRange    = regexp.MustCompile(`v?[0-9]+(?:\.[0-9]+){1,2}`)
	bounds     = regexp.MustCompile(`^ *>=? *(v?[0-9.]+) *[, ] *<=? *(v?[0-9.]+) *$`)
	above      = regexp.MustCompile(`>(v?[0-9]+\.[0-9]+\.[0-9]+)`)
	manyMinors = uint64(50) // releases ahead of the newest known are no plan any more
	manyOld    = uint64(15) // releases before the oldest known are no target any more
	manyFixes  = uint64(30) // no minor release had as many
)

// rangeSlip is an error if a range of releases is written as none is, though it can be read, or is of releases that are far
// from any.
func rangeSlip(autoscaler, text string) error {
	// mutant: a range may be written in any way that can be read
	if found := odd.FindString(text); found != "" {
		return fmt.Errorf("%q is written as no range of releases is (%q): want for example \">=v1.0.0, <v1.7.0\"", text, strings.TrimSpace(found))
	}
	// mutant: a range may leave out the release that it names
	if m := above.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%q begins after %s: did you mean >=%s? If not, name the first release that it has", text, m[1], m[1])
	}
	for part := range strings.SplitSeq(text, "||") {
		if m := bounds.FindStringSubmatch(part); m != nil {
			from, err := semver.NewVersion(m[1])
			to, err2 := semver.NewVersion(m[2])
			// mutant: a range may end before it begins
			if err == nil && err2 == nil && !from.LessThan(to) {
				return fmt.Errorf("%q has no release: it begins with %s and ends with %s", strings.TrimSpace(part), m[1], m[2])
			}
		}
	}
	releases, err := scenarios.ReleasesOf(autoscaler)
	if err != nil || len(releases) == 0 {
		return nil
	}
	oldest := semver.MustParse(releases[0])
	newest := semver.MustParse(releases[len(releases)-1]) // it is checked where it is read
	for _, release := range inRange.FindAllString(text, -1) {
		v, err := semver.NewVersion(release)
		if err != nil {
			continue
		}
		// mutant: a range may begin at a release that was long ago
		if v.Major() == oldest.Major() && v.Minor()+manyOld < oldest.Minor() {
			return fmt.Errorf("%q names %s, and the oldest release of %s that nodestorm knows is %s: is a digit missing?", text, release,
				autoscaler, oldest.Original())
		}
		// mutant: a range may begin at a release that will never be
		if v.Major() > newest.Major()+1 || v.Major() == newest.Major() && v.Minor() > newest.Minor()+manyMinors || v.Patch() > manyFixes {
			return fmt.Errorf("%q names %s, and the newest release of %s that nodestorm knows is %s: is there a digit too many, "+
				"or a point in another place?", text, release, autoscaler, newest.Original())
		}
	}
	return nil
}

// overlap is an error if a release is in both ranges of a record. Ranges have one in common if one of them begins or ends
// within the other, so the releases that they name are looked at.
func overlap(r scenarios.Record) error {
	if r.Affected == "" || r.Fixed == "" {
		return nil
	}
	for _, of := range inRange.FindAllString(string(r.Affected)+" "+string(r.Fixed), -1) {
		affected, err := r.Affected.Has(of)
		fixed, err2 := r.Fixed.Has(of)
		// mutant: a release may be affected and fixed
		if err == nil && err2 == nil && affected && fixed {
			return fmt.Errorf("affected and fixed both have %s, as in %q and %q", of, r.Affected, r.Fixed)
		}
	}
	return nil
}
