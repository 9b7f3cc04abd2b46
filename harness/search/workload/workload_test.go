package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/time/seed"
)

const twoLoads = `
lasts: 2h
loads:
  - {name: web, kind: Deployment, pods: 2, cpu: 500m, memory: 1Gi, steps: [{at: 1h, pods: 8}], maxUnavailable: 1, priority: 5, ends: 110m}
  - {name: batch, kind: Job, pods: 1 to 3, cpu: 250m, every: mean 10m, runs: "median 2m, p95 10m"}
`

func expand(t *testing.T, text string, from uint64) []Act {
	t.Helper()
	w, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	acts, err := w.Expand(from)
	if err != nil {
		t.Fatal(err)
	}
	return acts
}

func lines(acts []Act) (all []string) {
	for _, a := range acts {
		all = append(all, strings.Join(strings.Fields(a.String()), " "))
	}
	return all
}

// Acts come at their times, and a seed gives the same ones, whatever other loads there are.
func TestExpand(t *testing.T) {
	all := expand(t, twoLoads, 1)
	var web []string
	for _, line := range lines(all) {
		if strings.Contains(line, "Deployment/web") {
			web = append(web, line)
		}
	}
	want := []string{"0s create Deployment/web, pods 2, cpu 0.5, memory 1Gi", "1h scale Deployment/web, pods 8", "1h50m delete Deployment/web"}
	if !slices.Equal(web, want) {
		t.Errorf("got %q, want %q", web, want)
	}
	if !slices.IsSortedFunc(all, func(a, b Act) int { return int(a.At - b.At) }) {
		t.Error("they do not come in the order of their times")
	}
	if again := expand(t, twoLoads, 1); !slices.Equal(lines(again), lines(all)) {
		t.Error("the same seed gives other acts")
	}
	if other := expand(t, twoLoads, 2); slices.Equal(lines(other), lines(all)) {
		t.Error("another seed gives the same acts")
	}
	alone := expand(t, strings.Replace(twoLoads, "web, kind: Deployment, pods: 2", "web, kind: Deployment, pods: 3", 1), 1)
	jobs := func(of []Act) []Act {
		return slices.DeleteFunc(slices.Clone(of), func(a Act) bool { return !strings.HasPrefix(a.Object, "Job/") })
	}
	if !slices.Equal(jobs(alone), jobs(all)) || len(jobs(all)) < 3 {
		t.Error("what one load draws depends on another")
	}
	times := func(name string) (at []time.Duration) {
		for _, a := range expand(t, "{lasts: 2h, loads: [{name: a, kind: Pod, runs: 1m, every: mean 5m}, {name: b, kind: Pod, runs: 1m, every: mean 5m}]}", 1) {
			if strings.HasPrefix(a.Object, "Pod/"+name) {
				at = append(at, a.At)
			}
		}
		return at
	}
	if slices.Equal(times("a"), times("b")) {
		t.Error("two loads come at the same times")
	}
}

// Every object of the example is one that a cluster takes.
func TestExampleObjects(t *testing.T) {
	text, err := features.Example("workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, a := range expand(t, string(text), 3) {
		if a.Do != Create {
			continue
		}
		all, err := objects.Read([]byte(a.Manifest))
		if err != nil {
			t.Fatalf("%s: %v\n%s", a, err, a.Manifest)
		}
		for _, o := range all {
			kinds[o.GetKind()]++
			if err := o.Check(); err != nil {
				t.Errorf("%s: %v\n%s", a, err, a.Manifest)
			}
		}
	}
	for kind, least := range map[string]int{"Deployment": 2, "Job": 150, "Pod": 24, "PodDisruptionBudget": 1, "PriorityClass": 1} {
		if kinds[kind] < least {
			t.Errorf("%d of the kind %s, want at least %d", kinds[kind], kind, least)
		}
	}
}

// A curve is high at its peak and low between two, and bursts come on top and go again.
func TestSizes(t *testing.T) {
	acts := expand(t, `{lasts: 24h, loads: [{name: shop, kind: Deployment, daily: {low: 2, high: 20, peak: 14h}}]}`, 1)
	at := func(acts []Act, then time.Duration) (pods int) {
		for _, a := range acts {
			if a.At <= then {
				pods = a.Pods
			}
		}
		return pods
	}
	for then, want := range map[time.Duration]int{2 * time.Hour: 2, 8 * time.Hour: 11, 14 * time.Hour: 20, 20 * time.Hour: 11} {
		if got := at(acts, then); got != want {
			t.Errorf("at %s there are %d, want %d", then, got, want)
		}
	}
	acts = expand(t, `{lasts: 1h, loads: [{name: shop, kind: Deployment, pods: 1, bursts: {every: 20m, add: 3, lasts: 5m}}]}`, 1)
	want := []string{"0s create Deployment/shop, pods 1", "20m scale Deployment/shop, pods 4", "25m scale Deployment/shop, pods 1",
		"40m scale Deployment/shop, pods 4", "45m scale Deployment/shop, pods 1"}
	if !slices.Equal(lines(acts), want) {
		t.Errorf("got %q, want %q", lines(acts), want)
	}
}

// What is drawn has the mean, the median and the bounds that it is said to have.
func TestAmounts(t *testing.T) {
	const n = 20_000
	draw := func(a Amount, u unit) (all []float64) {
		r := seed.Stream(1, string(a))
		for range n {
			all = append(all, a.drawn(u, r, 0))
		}
		slices.Sort(all)
		return all
	}
	mean := func(all []float64) (sum float64) {
		for _, x := range all {
			sum += x / n
		}
		return sum
	}
	for _, of := range []struct {
		what      string
		got, want float64
	}{
		{"the mean of 1 to 4 pods", mean(draw("1 to 4", whole)), 2.5},
		{"the least of 1 to 4 pods", draw("1 to 4", whole)[0], 1},
		{"the most of 1 to 4 pods", draw("1 to 4", whole)[n-1], 4},
		{"the mean of 1m to 3m", mean(draw("1m to 3m", seconds)), 120},
		{"the mean of mean 2m", mean(draw("mean 2m", seconds)), 120},
		{"the median of median 2m, p95 10m", draw("median 2m, p95 10m", seconds)[n/2], 120},
		{"the p95 of median 2m, p95 10m", draw("median 2m, p95 10m", seconds)[n*95/100], 600},
		{"500m", mean(draw("500m", quantity)), 0.5},
	} {
		if math.Abs(of.got-of.want) > 0.04*of.want {
			t.Errorf("%s is %g, want %g", of.what, of.got, of.want)
		}
	}
}

// What is wrong with a file is said with its load, its field and what is allowed.
func TestReadRefuses(t *testing.T) {
	whole := func(load string) string { return "{lasts: 1h, loads: [{name: web, " + load + "}]}" }
	for _, of := range []struct{ text, want string }{
		{"", "the document is empty"},
		{"{loads: [{name: web, kind: Deployment}]}", "lasts: 0s: want more than zero, and at most 168h: a workload ends"},
		{"{lasts: 200h, loads: [{name: web, kind: Deployment}]}", "lasts: 200h: want more than zero, and at most 168h"},
		{"{lasts: 1h, loads: []}", "loads: there are 0: want 1 to 2000"},
		{"{lasts: 1h, loads: [{name: a, kind: Pod}, {name: a, kind: Pod}]}", `load "a" is there twice`},
		{"{lasts: 1h, load: []}", `unknown field "load"`},
		{whole("kind: deployment"), `load "web": kind: "deployment": want one of Deployment, Job, Pod`},
		{whole("kind: Deployment, cpus: 1"), `unknown field "loads[0].cpus"`},
		{whole("kind: Deployment, cpu: lots"), `load "web": cpu: "lots": want an amount such as 500m or 1Gi, or "LOW to HIGH"`},
		{whole("kind: Deployment, pods: 3 to 1"), `load "web": pods: "3 to 1": the second is less than the first`},
		{whole("kind: Deployment, pods: 100000"), `load "web": pods: "100000": want at least 1 and at most 10000`},
		{whole("kind: Deployment, pods: [1]"), "want an amount such as 3"},
		{whole("kind: Deployment, runs: 1m"), `load "web": runs: a Deployment's pods do not end by themselves`},
		{whole("kind: Deployment, every: 1m"), `load "web": every: there is one Deployment`},
		{whole("kind: Deployment, starts: 2h"), `load "web": starts: 2h: want zero or more, and less than lasts, 1h`},
		{whole("kind: Deployment, ends: 2h"), `load "web": ends: 2h: want more than starts, 0s, and at most lasts, 1h`},
		{whole("kind: Deployment, spread: hosts"), `load "web": spread: "hosts": want one of zones, nodes`},
		{whole("kind: Deployment, priority: 2000000000"), `load "web": priority: 2000000000: want -1000000 to 1000000`},
		{whole("kind: Deployment, steps: [{at: 5m, pods: 1}, {at: 5m, pods: 2}]"), `load "web": steps: row 2: at: 5m: want more than 5m`},
		{whole("kind: Deployment, steps: [{at: 2h, pods: 1}]"), `load "web": steps: row 1: at: 2h: it is over at 1h`},
		{whole("kind: Deployment, pods: 1, daily: {low: 1, high: 2, peak: 1h}"), `load "web": daily: it says how many pods there are`},
		{whole("kind: Deployment, daily: {low: 3, high: 2, peak: 1h}"), `load "web": daily: from 3 to 2: want 0 <= low <= high`},
		{whole("kind: Deployment, daily: {low: 1, high: 2, peak: 1h, vary: 2}"), `load "web": daily: vary: 2: want 0 to 1`},
		{whole("kind: Deployment, daily: {low: 1, high: 2, peak: 1h, every: 1s}"), `load "web": daily: every: 1s: want at least 15s`},
		{whole("kind: Deployment, bursts: {every: 5m, add: 1}"), `load "web": bursts: lasts: it is missing`},
		{whole("kind: Job"), `load "web": runs: it is missing, and a Job would never end`},
		{whole("kind: Job, runs: 0s"), `load "web": runs: "0s": want at least 1 and at most 604800 seconds`},
		{whole("kind: Job, runs: 1m, steps: [{at: 5m, pods: 1}]"), `load "web": steps, daily, bursts: only a Deployment is scaled`},
		{whole("kind: Pod, every: 5m"), `load "web": runs: it is missing, and pods that never end would come again and again`},
		{whole("kind: Pod, tolerations: [{operator: Equals}]"), `load "web": tolerations: row 1: operator: "Equals": want one of Exists, Equal`},
		{whole("kind: Pod, maxUnavailable: 1"), `load "web": maxUnavailable: only a Deployment has a budget here`},
	} {
		if _, err := Read([]byte(of.text)); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v, want %s", of.text, err, of.want)
		}
	}
	w, err := Read([]byte("{lasts: 168h, loads: [{name: a, kind: Pod, runs: 1s, every: 1s}]}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Expand(1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("comes to more than %d acts", mostActs)) {
		t.Errorf("of too many acts: %v", err)
	}
}
