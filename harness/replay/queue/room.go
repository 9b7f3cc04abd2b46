package queue

import "fmt"

// What worlds need of the memory, in bytes (BENCHMARKS.md).
const (
	// WorldMemory is for one with a handful of nodes: it has 0.7 GiB, shared pages counted
	// once; with real kubelets or two clusters it is more.
	WorldMemory = 1 << 30
	// nodeMemory is for each simulated node that is Ready, over all programs: a thousand of
	// them had 652 MiB.
	nodeMemory = 668 << 10
)

// RoomHere tells whether this machine has the memory for a world with so many nodes now.
func RoomHere(nodes int) error {
	free, err := Memory()
	if err != nil {
		return err
	}
	return Room(nodes, free)
}

// Room tells whether free bytes of memory are enough for a world with so many nodes, each
// without pods.
func Room(nodes int, free int64) error {
	needed := WorldMemory + int64(nodes)*nodeMemory
	if needed <= free {
		return nil
	}
	const giB = 1 << 30
	return fmt.Errorf("%d nodes need about %.1f GiB of memory (%d KiB each, and %d GiB for the world), and %.1f GiB are free, enough for %d: ask for fewer, or take a larger machine",
		nodes, float64(needed)/giB, nodeMemory>>10, WorldMemory/giB, float64(free)/giB, max(0, (free-WorldMemory)/nodeMemory))
}
