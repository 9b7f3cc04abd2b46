package slips

import "strings"

// Release is the release of those known that another one is a slip of the pen away from: the v is missing or too much, a
// digit stands there twice, or two are swapped. It is empty if it is one of them or like none: nodestorm knows few
// of the releases that there are, so v1.7.1 is no slip of v1.7.0.
func Release(version string, known []string) string {
	for _, release := range known {
		if version == release {
			return ""
		}
	}
	for _, release := range known {
		bare, of := strings.TrimPrefix(version, "v"), strings.TrimPrefix(release, "v")
		// mutant: a release may be called almost like one
		if bare == of || doubled(bare, of) || swapped(bare, of) {
			return release
		}
	}
	return ""
}
