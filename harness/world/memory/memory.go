// Package memory measures the memory of this machine, and what worlds need of it.
package memory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// What worlds need, in bytes (BENCHMARKS.md).
const (
	// World is for one with a handful of nodes: it has 0.7 GiB, shared pages counted
	// once; with real kubelets or two clusters it is more.
	World = 1 << 30
	// node is for each simulated node that is Ready, over all programs: a thousand of
	// them had 652 MiB.
	node = 668 << 10
)

// Check returns an error unless this machine has the memory for a world with so many nodes now.
func Check(nodes int) error {
	free, err := Free()
	if err != nil {
		return err
	}
	return checkFree(nodes, free)
}

// checkFree returns an error unless free bytes are enough for a world with so many nodes, each
// without pods.
func checkFree(nodes int, free int64) error {
	needed := World + int64(nodes)*node
	if needed <= free {
		return nil
	}
	const giB = 1 << 30
	return fmt.Errorf("%d nodes need about %.1f GiB of memory (%d KiB each, and %d GiB for the world), and %.1f GiB are "+
		"free, enough for %d: ask for fewer, or take a larger machine",
		nodes, float64(needed)/giB, node>>10, World/giB, float64(free)/giB, max(0, (free-World)/node))
}

// Free returns how much memory is free for programs, in bytes: of the machine, or of the control
// group if that has less.
func Free() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading how much memory is free: %w", err)
	}
	_, after, found := bytes.Cut(text, []byte("MemAvailable:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(line)), " kB"), 10, 64)
	if !found || err != nil {
		return 0, errors.New("/proc/meminfo has no MemAvailable")
	}
	free := kB << 10
	const group = "/sys/fs/cgroup/memory." // of a container, which sees its own as the root
	if most, limited := number(group + "max"); limited {
		used, _ := number(group + "current")
		free = min(free, max(0, most-used))
	}
	return free, nil
}

// number is the one in the file, if there is one: without a limit there is a word.
func number(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
