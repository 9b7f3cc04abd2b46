package queue

import (
	"strings"
	"testing"
)

func TestRoom(t *testing.T) {
	const free = 24 << 30
	for nodes, enough := range map[int]bool{0: true, 1_000: true, 5_000: true, 36_000: true, 36_200: false, 100_000: false} {
		if err := Room(nodes, free); (err == nil) != enough {
			t.Errorf("%d nodes on 24 GiB: %v", nodes, err)
		}
	}
	err := Room(100_000, free)
	for _, said := range []string{"100000 nodes need about 64.7 GiB", "24.0 GiB are free", "enough for 36103"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%v, want %q in it", err, said)
		}
	}
	if err := Room(1, WorldMemory/2); err == nil || !strings.Contains(err.Error(), "enough for 0:") {
		t.Errorf("half of a world: %v", err)
	}
}
