package measure

import (
	"math"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// pod is one of the API server's.
type pod struct {
	kind        string // of its owner, "none" without
	waits       bool   // it needs a place: no DaemonSet's, and not created on a Node
	cpu, memory int64  // thousandths of a processor, bytes
	created     time.Duration
	bound       time.Duration
	placed      bool
	left        time.Duration // from when it has no place any more
	gone        bool
	name        string // of its Node
	node        *node
	containers  map[string]bool // that have started
}

func (p *pod) endAt(at time.Duration) {
	if !p.gone {
		p.left, p.gone = at, true
	}
}

// starts notes the start of a container, and reports whether it is not its first.
func (p *pod) starts(container string) (again bool) {
	again = p.containers[container]
	if p.containers == nil {
		p.containers = map[string]bool{}
	}
	p.containers[container] = true
	return again
}

func (m *Meter) seePod(r history.Entry, sub string) {
	p := m.pod[r.Object]
	switch {
	case r.Verb == "create" && sub == "":
		owner, name := r.Detail.Text("owner"), r.Detail.Text("node")
		p = &pod{
			kind: kind(owner), cpu: amount(r.Detail, "cpu"), memory: amount(r.Detail, "memory"), created: r.Virtual,
			// mutant: a DaemonSet's pods wait
			waits: name == "" && !strings.HasPrefix(owner, "DaemonSet/"),
		}
		if name != "" {
			p.bind(m, name, r.Virtual)
		}
		m.pod[r.Object] = p
		m.pods = append(m.pods, p)
		if early, is := m.early[r.Object]; is {
			p.bind(m, early.Detail.Text("node"), max(early.Virtual, r.Virtual))
			delete(m.early, r.Object)
		}
	// mutant: a pod that was bound before its creation came waits on
	case p == nil && sub == "binding":
		m.early[r.Object] = r
	case p == nil:
	case sub == "binding":
		p.bind(m, r.Detail.Text("node"), r.Virtual)
	case r.Verb == "delete":
		// Where a kubelet has it, only the kubelet's own deletion, or one by force, ends it.
		if grace, given := r.Detail.Number("gracePeriodSeconds"); !p.placed || given && grace == 0 {
			p.endAt(r.Virtual)
		}
	}
}

func (p *pod) bind(m *Meter, name string, at time.Duration) {
	if !p.placed {
		p.bound, p.placed, p.name, p.node = at, true, name, m.node[name]
	}
}

// amount is a whole number of a detail, 0 if it has none.
func amount(d history.Detail, key string) int64 {
	n, _ := d.Number(key)
	if n < 0 || n > 1e18 {
		return 0
	}
	return int64(n)
}

// waited is how long a pod waited between the two times; counts is false for one that did not in that time.
func (p *pod) waited(from, end time.Duration) (wait time.Duration, counts bool) {
	until := end
	if p.placed {
		until = min(until, p.bound)
	} else if p.gone {
		until = min(until, p.left)
	}
	since := max(p.created, from)
	return until - since, p.waits && until >= since
}

// waits are how long pods waited for a place.
func (m *Meter) waits(v Values, end time.Duration) {
	waits, waiting := map[string][]float64{}, map[string]float64{}
	first, last, begin := time.Duration(math.MaxInt64), time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for _, p := range m.pods {
		wait, counts := p.waited(m.from, end)
		if !counts {
			continue
		}
		for _, of := range []string{"", p.kind} {
			waits[of] = append(waits[of], wait.Seconds())
		}
		begin = min(begin, max(p.created, m.from))
		if p.placed && p.bound <= end {
			first, last = min(first, p.bound), max(last, p.bound)
		} else if !p.gone || p.left > end {
			waiting[p.kind]++
		}
	}
	of := []string{PodWaitTotal, PodWaitP50, PodWaitP95, PodWaitP99, PodWaitMax}
	if len(waits) == 0 {
		for _, name := range append(of, PodsWaiting, FirstPodBound, LastPodBound) {
			v[name] = absent("no pod waited for a place")
		}
		return
	}
	for key, list := range waits {
		slices.Sort(list)
		total := 0.0
		for _, wait := range list {
			total += wait
		}
		for i, n := range []float64{total, rank(list, 50), rank(list, 95), rank(list, 99), list[len(list)-1]} {
			value := v[of[i]]
			if key == "" {
				value.Value = n
			} else {
				if value.By == nil {
					value.By = map[string]float64{}
				}
				value.By[key] = n
			}
			v[of[i]] = value
		}
	}
	v[PodsWaiting] = summed(waiting)
	v[FirstPodBound], v[LastPodBound] = absent("no pod was bound"), absent("no pod was bound")
	if first <= last {
		v[FirstPodBound], v[LastPodBound] = Value{Value: (first - begin).Seconds()}, Value{Value: (last - begin).Seconds()}
	}
}

// rank is the value that so many in 100 of a sorted list are not above: the nearest rank.
func rank(sorted []float64, percent int) float64 {
	// mutant: a percentile is the value below it
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
