package sentences

import (
	"testing"
	"time"

	"nodestorm/sim/history/checker"
)

// The world waits for what a symptom may still take, also if that does not say how long.
func TestPatience(t *testing.T) {
	said, unsaidPart := checker.Element{Within: checker.Duration(4 * time.Minute)}, checker.Element{}
	quiet := checker.Element{For: checker.Duration(time.Minute)}
	for name, test := range map[string]struct {
		parts []checker.Element
		want  time.Duration
	}{
		"none":                    {nil, 0},
		"all say it":              {[]checker.Element{said, said, quiet}, 9 * time.Minute},
		"the first is there":      {[]checker.Element{unsaidPart, said}, 4 * time.Minute},
		"the only one":            {[]checker.Element{unsaidPart}, 10 * time.Minute},
		"one does not":            {[]checker.Element{unsaidPart, said, unsaidPart}, 14 * time.Minute},
		"two do not, it is bound": {[]checker.Element{unsaidPart, unsaidPart, unsaidPart}, 10 * time.Minute},
	} {
		if got := patience(checker.Statement{Sequence: test.parts}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
