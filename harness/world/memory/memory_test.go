package memory

import (
	"strings"
	"testing"
)

func TestEnough(t *testing.T) {
	const free = 24 << 30
	for nodes, fits := range map[int]bool{0: true, 1_000: true, 5_000: true, 36_000: true, 36_200: false, 100_000: false} {
		if err := checkFree(nodes, free); (err == nil) != fits {
			t.Errorf("%d nodes on 24 GiB: %v", nodes, err)
		}
	}
	err := checkFree(100_000, free)
	for _, said := range []string{"100000 nodes need about 64.7 GiB", "24.0 GiB are free", "enough for 36103"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v, want %q in it", err, said)
		}
	}
	if err := checkFree(1, World/2); err == nil || !strings.Contains(err.Error(), "enough for 0:") {
		t.Errorf("half of a world: %v", err)
	}
}

// What this machine has can be read.
func TestFree(t *testing.T) {
	if free, err := Free(); err != nil || free < 1<<20 {
		t.Errorf("%d bytes free, %v", free, err)
	}
}
