// Package shard splits the replays of a sequence among machines by how long they are
// expected to take, and keeps what one of them has done so that the parts can be joined
// again. It replays nothing and asks nothing of the machine: the same catalogue, durations
// and number give the same shards everywhere.
package shard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Part is one of several: 2/4.
type Part struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`
}

// Most is how many shards there may be.
const Most = 1000

var part = regexp.MustCompile(`^([1-9][0-9]{0,3})/([1-9][0-9]{0,3})$`)

// ParsePart reads i/N.
func ParsePart(text string) (p Part, err error) {
	found := part.FindStringSubmatch(text)
	if found != nil {
		p.Number, _ = strconv.Atoi(found[1]) // they are digits
		p.Of, _ = strconv.Atoi(found[2])
	}
	if found == nil || p.Number > p.Of || p.Of > Most {
		return Part{}, fmt.Errorf("%q: want i/N, such as 2/4: the second of four shards, of %d at most", text, Most)
	}
	return p, nil
}

func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Number, p.Of) }

// Job is a replay: a scenario on a target.
type Job struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"` // NAME@VERSION
	// Seconds are expected, of real time with the start and the end of a world.
	Seconds float64 `json:"seconds"`
	// Shard is the number of the one that the job is in, from 1.
	Shard int `json:"shard"`
}

func (j Job) String() string { return j.Scenario + " on " + j.Target }

// worldSeconds is what a world takes in addition to the time that is measured in a run, from
// when it is ready: 3.4 s for itself and up to 5 s while the target starts (BENCHMARKS.md).
const worldSeconds = 6

// Plan says how long each job takes, and gives it its shard: the longest first, each to
// the shard that has least. Programs are shared out one by one: where the builds of one
// cannot be had, as those of Cluster Autoscaler from modules, the others are balanced
// all the same.
func Plan(jobs []Job, known Durations, n int) {
	order := make([]int, len(jobs))
	for i := range jobs {
		jobs[i].Seconds = known.median(jobs[i]) + worldSeconds
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := jobs[a], jobs[b]
		return cmp.Or(cmp.Compare(y.Seconds, x.Seconds), cmp.Compare(x.Scenario, y.Scenario), cmp.Compare(x.Target, y.Target), cmp.Compare(a, b))
	})
	ofProgram, all := map[string][]float64{}, make([]float64, n)
	for _, i := range order {
		program, _, _ := strings.Cut(jobs[i].Target, "@")
		if ofProgram[program] == nil {
			ofProgram[program] = make([]float64, n)
		}
		loads, least := ofProgram[program], 0
		for s := range n {
			if cmp.Or(cmp.Compare(loads[s], loads[least]), cmp.Compare(all[s], all[least])) < 0 {
				least = s
			}
		}
		loads[least] += jobs[i].Seconds
		all[least] += jobs[i].Seconds
		jobs[i].Shard = least + 1
	}
}

// Durations are how long replays took in seconds, each as often as it is known.
type Durations struct {
	jobs      map[[2]string][]float64
	scenarios map[string][]float64
	all       []float64
}

// Add notes a run.
func (d *Durations) Add(scenario, target string, seconds float64) {
	if !(seconds > 0 && seconds < 1e6) { // of a run that had no time, or of a stranger
		return
	}
	if d.jobs == nil {
		d.jobs, d.scenarios = map[[2]string][]float64{}, map[string][]float64{}
	}
	key := [2]string{scenario, target}
	d.jobs[key] = append(d.jobs[key], seconds)
	d.scenarios[scenario] = append(d.scenarios[scenario], seconds)
	d.all = append(d.all, seconds)
}

// median is the median of the job's runs, or else of the scenario's, or of all; 0 if nothing
// is known, which makes all equal.
func (d Durations) median(j Job) float64 {
	for _, known := range [][]float64{d.jobs[[2]string{j.Scenario, j.Target}], d.scenarios[j.Scenario], d.all} {
		if len(known) > 0 {
			sorted := slices.Sorted(slices.Values(known))
			return sorted[len(sorted)/2]
		}
	}
	return 0
}
