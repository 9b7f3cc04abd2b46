package bisect

import (
	"slices"
	"strings"

	"nodestorm/harness/run/verdict"
)

// Release is what one release has shown.
type Release struct {
	Version string          `json:"version"`
	Verdict verdict.Verdict `json:"verdict,omitempty"` // empty: not known
	// Expected is what the catalogue says of it.
	Expected string `json:"expected,omitempty"`
	Reason   string `json:"reason,omitempty"` // why the verdict is not known, or what it is
	Run      string `json:"run,omitempty"`
}

// Summary is a row of releases in short.
type Summary struct {
	// First and Last are the first and the last release that show the failure, empty if
	// none does.
	First string `json:"firstAffected,omitempty"`
	Last  string `json:"lastAffected,omitempty"`
	// Before and After are the healthy ones around these, if they were played.
	Before string `json:"lastHealthyBefore,omitempty"`
	After  string `json:"firstHealthyAfter,omitempty"`
	// Holes are healthy between affected ones, Unknown those that nothing is known of.
	Holes   []string `json:"holes,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
}

// Summarize describes releases, oldest first. What failed in another way than documented
// is neither affected nor healthy.
func Summarize(releases []Release) (s Summary) {
	last := -1
	for i, r := range releases {
		switch r.Verdict {
		case verdict.Reproduced:
			if s.First == "" {
				s.First = r.Version
			}
			last, s.Last = i, r.Version
		case verdict.Healthy:
		default:
			s.Unknown = append(s.Unknown, r.Version)
		}
	}
	for i, r := range releases {
		if r.Verdict != verdict.Healthy || s.First == "" {
			continue
		}
		switch first := slices.IndexFunc(releases, func(r Release) bool { return r.Version == s.First }); {
		case i < first:
			s.Before = r.Version
		case i < last:
			s.Holes = append(s.Holes, r.Version)
		case s.After == "":
			s.After = r.Version
		}
	}
	return s
}

func (s Summary) String() string {
	if s.First == "" {
		return "no release that was played is affected"
	}
	parts := []string{"affected from " + s.First + " to " + s.Last}
	if s.First == s.Last {
		parts[0] = "affected is " + s.First + " alone"
	}
	for _, of := range []struct{ says, version string }{
		{"healthy before: ", s.Before}, {"healthy from: ", s.After}, {"healthy in between: ", strings.Join(s.Holes, ", ")},
		{"not known: ", strings.Join(s.Unknown, ", ")},
	} {
		if of.version != "" {
			parts = append(parts, of.says+of.version)
		}
	}
	return strings.Join(parts, "; ")
}
