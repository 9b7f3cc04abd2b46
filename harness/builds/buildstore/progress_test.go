package buildstore

import (
	"testing"
	"time"

	"nodestorm/harness/builds"
)

// Progress of a build says which phase it is, how much of the expected time has passed, and
// what comes next.
func TestProgress(t *testing.T) {
	karpenter := builds.Ref{Name: "karpenter", Version: "v1.7.0"}
	for want, u := range map[string]Update{
		"karpenter@v1.7.0: downloading (phase 1 of 3), 2s of about 4m0s (0 %), then compiling":                       {Stage: Downloading, Elapsed: 2 * time.Second, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: compiling (phase 2 of 3), 1m17s of about 4m0s (32 %), 18 packages compiled, then linking": {Stage: Compiling, Done: 18, Total: 899, Elapsed: 77 * time.Second, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: linking (phase 3 of 3), 5m0s, longer than the 4m0s expected":                              {Stage: Linking, Done: 899, Total: 899, Elapsed: 5 * time.Minute, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: compiling (phase 2 of 3), 3s, then linking":                                               {Stage: Compiling, Elapsed: 3 * time.Second},
		"karpenter@v1.7.0: unpacking layer 1 of 3, 3s":                                                               {Stage: Unpacking, Total: 3, Elapsed: 3 * time.Second, Expected: time.Minute},
		"karpenter@v1.7.0: pulling 3 of 9 MiB, 3s":                                                                   {Stage: Pulling, Done: 3, Total: 9, Elapsed: 3 * time.Second},
	} {
		u.Ref = karpenter
		if got := u.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
