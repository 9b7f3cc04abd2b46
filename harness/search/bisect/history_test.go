package bisect

import (
	"testing"

	"nodestorm/harness/run/verdict"
)

func TestSummarize(t *testing.T) {
	for row, want := range map[string]string{
		"":      "no release that was played is affected",
		"hh":    "no release that was played is affected",
		"hrrh":  "affected from 1 to 2; healthy before: 0; healthy from: 3",
		"hrhrh": "affected from 1 to 3; healthy before: 0; healthy from: 4; healthy in between: 2",
		"?rf-r": "affected from 1 to 4; not known: 0, 2, 3",
		"hhrh":  "affected is 2 alone; healthy before: 1; healthy from: 3",
		"rhhh":  "affected is 0 alone; healthy from: 1",
		"h?r":   "affected is 2 alone; healthy before: 0; not known: 1",
	} {
		var releases []Release
		for i, c := range row {
			releases = append(releases, Release{
				Version: string(rune('0' + i)),
				Verdict: map[rune]verdict.Verdict{'h': verdict.Healthy, 'r': verdict.Reproduced, 'f': verdict.Failed, '-': verdict.Inconclusive}[c],
			})
		}
		if got := Summarize(releases).String(); got != want {
			t.Errorf("%q: %q, want %q", row, got, want)
		}
	}
}
