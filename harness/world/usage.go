package world

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// Usage is what a part of the world has used so far.
type Usage struct {
	CPU time.Duration // user and system, real
	RSS int64         // bytes of memory resident now
	// Peak is the most that RSS has been.
	Peak int64
	// Share is RSS with what several processes share, such as a program's code,
	// divided among them: these add up.
	Share int64
}

// Usage returns what each process of the world has used, and our own process under
// "nodestorm". Parts that are gone are left out.
func (w *World) Usage() map[string]Usage {
	pids := map[string]int{"nodestorm": os.Getpid()}
	w.mu.Lock()
	for name, c := range w.components {
		pids[name] = c.process.PID()
	}
	for name, p := range w.programs {
		pids[name] = p.PID()
	}
	w.mu.Unlock()
	usage := map[string]Usage{}
	for name, pid := range pids {
		if u, err := usageOf(pid); err == nil {
			usage[name] = u
		}
	}
	return usage
}

// recordUsage has the history say how much of a processor each program has used: it is all that knows of it later.
func (w *World) recordUsage() {
	if w.history == nil {
		return
	}
	used := map[string]float64{}
	for name, u := range w.Usage() {
		if c, is := w.component(name); is {
			name = c.program()
		}
		used[name] += u.CPU.Seconds()
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		w.history.Record(history.Event{Source: history.Harness, Verb: history.Used, Actor: name, Detail: history.Detail{"seconds": used[name]}})
	}
}

// usageOf reads /proc/PID/stat; proc(5) numbers its fields from 1.
func usageOf(pid int) (Usage, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, err
	}
	// The second field, the name, is in parentheses and may hold anything.
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	const first = 3 // number of fields[0]
	number := func(field int) int64 {
		n, _ := strconv.ParseInt(fields[field-first], 10, 64)
		return n
	}
	if len(fields) < 24-first+1 {
		return Usage{}, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields)+first-1)
	}
	const tick = time.Second / 100 // USER_HZ, the same on all Linux
	share, err := kilobytes(pid, "smaps_rollup", "Pss:")
	if err != nil {
		return Usage{}, err
	}
	peak, err := kilobytes(pid, "status", "VmHWM:")
	return Usage{
		CPU:   time.Duration(number(14)+number(15)) * tick,
		RSS:   number(24) * int64(os.Getpagesize()),
		Peak:  peak,
		Share: share,
	}, err
}

// kilobytes reads a line of a file of /proc/PID, as bytes.
func kilobytes(pid int, file, key string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if text, found := strings.CutPrefix(line, key); found {
			kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 10, 64)
			return kB << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/%s has no %s", pid, file, strings.TrimSuffix(key, ":"))
}
