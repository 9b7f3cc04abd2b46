package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// choose finds the events that lines name by their numbers, and what is wrong with the choice.
func choose(own *Run, lines []uint64) (events []history.Entry, err error) {
	if len(lines) < 2 {
		return nil, fmt.Errorf("--lines %s: one event says only that it occurred; name two or more, the last of which shows the failure",
			listed(lines))
	}
	last := uint64(0)
	bySeq := map[uint64]history.Entry{}
	for _, r := range own.events {
		bySeq[r.Seq] = r
		last = max(last, r.Seq)
	}
	for i, line := range lines {
		r, is := bySeq[line]
		switch {
		case !is:
			return nil, fmt.Errorf("--lines %s: %s has no line %d, its lines are 1 to %d; nodestorm report -o text prints them",
				listed(lines), own.Name, line, last)
		case slices.Contains(lines[:i], line):
			return nil, fmt.Errorf("--lines %s: %d is there twice; name each line once", listed(lines), line)
		}
		if why := scenarios(r); why != "" {
			return nil, fmt.Errorf("--lines %s: line %d is %s; choose lines of the sources api, cloud, node and log", listed(lines), line, why)
		}
		events = append(events, r)
	}
	sorted := slices.Clone(events)
	history.Sort(sorted)
	for i, r := range events {
		if r.Seq != sorted[i].Seq {
			var order []uint64
			for _, r := range sorted {
				order = append(order, r.Seq)
			}
			return nil, fmt.Errorf("--lines %s: line %d is of a later time than one after it; name them in the order of time: --lines %s",
				listed(lines), r.Seq, listed(order))
		}
	}
	if r := events[len(events)-1]; r.Source == history.Fault {
		return nil, fmt.Errorf("--lines %s: the last, line %d, is of a fault, which the scenario makes itself; end with an event that shows "+
			"the failure", listed(lines), r.Seq)
	}
	return events, nil
}

// scenarios says what an event is that the scenario or nodestorm makes itself, "" of all others.
func scenarios(r history.Entry) string {
	switch r.Source {
	case history.Step:
		return "the outcome of a step, which is in each run of the scenario"
	case history.Clock:
		return "a figure of the clock, and no event of the world"
	case history.Harness:
		noted := []string{history.Ended, history.Unreadable, history.MayMiss, history.Rounds, history.Uninvited, "part", "broken"}
		if slices.Contains(noted, r.Verb) {
			return "what nodestorm notes of the run, and no event of the world"
		}
	}
	return ""
}

func listed(lines []uint64) string {
	var texts []string
	for _, line := range lines {
		texts = append(texts, strconv.FormatUint(line, 10))
	}
	return strings.Join(texts, ",")
}

// spans are those that a symptom allows or demands, from short to long: people read them, and a run on a slower machine fits in.
var spans = []time.Duration{
	5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 16 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 96 * time.Hour,
}

// spansFor are those of which the first is half as long again as a gap at least; none if it is longer than all.
func spansFor(gap time.Duration) []time.Duration {
	at, _ := slices.BinarySearchFunc(spans, gap+gap/2, cmp.Compare[time.Duration])
	return spans[at:]
}

// pauseFor is the longest span that is well below a gap, zero if the gap is too short to mean anything.
func pauseFor(gap time.Duration) (pause time.Duration) {
	for _, span := range spans[1:] {
		if span <= gap-gap/5 {
			pause = span
		}
	}
	return pause
}
