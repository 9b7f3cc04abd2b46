package propose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// candidate is something that may distinguish the chosen events from those of other runs, because it does not happen.
type candidate struct {
	to     *element
	absent *absence
	pause  *pause
	within time.Duration // with a pause
	was    time.Duration
	cost   int // the cheapest is what people would write
	key    string
}

func (c *candidate) apply() {
	if c.absent != nil {
		c.to.absent = append(c.to.absent, *c.absent)
		return
	}
	c.was = c.to.within
	c.to.pause, c.to.within = c.pause, c.within
}

func (c *candidate) revert() {
	if c.absent != nil {
		c.to.absent = c.to.absent[:len(c.to.absent)-1]
		return
	}
	c.to.pause, c.to.within = nil, c.was
}

// mostCandidates bounds how many are tried.
const mostCandidates = 800

// candidates are those that runs show in which the draft holds by mistake, the cheapest first.
func (d *Draft) candidates(wrong []wrongMatch) (all []candidate) {
	seen := map[string]bool{}
	add := func(c candidate) {
		if !seen[c.key] {
			seen[c.key] = true
			all = append(all, c)
		}
	}
	for i, e := range d.elements {
		if c, ok := d.pauseBefore(i); ok && e.pause == nil {
			add(c)
		}
	}
	for _, m := range wrong {
		places := d.places(m)
		for i := range places {
			for _, c := range d.candidatesBetween(m, places, i) {
				add(c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.cost, b.cost) })
	return all[:min(len(all), mostCandidates)]
}

// places are the indexes of the last events of the elements in a run, none if they are not known.
func (d *Draft) places(m wrongMatch) (places []int) {
	n := 0
	for _, e := range d.elements {
		if n += len(e.events); n > len(m.at) {
			return nil
		}
		seq := m.at[n-1]
		places = append(places, slices.IndexFunc(m.events, func(r history.Entry) bool { return r.Seq == seq }))
	}
	if n != len(m.at) {
		return nil
	}
	return places
}

// candidatesBetween are those that the events of another run before one of the elements show, or before the pause
// that the own run has there is over.
func (d *Draft) candidatesBetween(m wrongMatch, places []int, i int) (all []candidate) {
	for j := max(i-1, -1); j >= min(i-1, 0); j-- {
		from := 0
		if j >= 0 {
			from = places[j] + 1
		}
		for at := from; at < places[i]; at++ {
			all = append(all, d.absences(m, places, j, i, &m.events[at])...)
		}
	}
	pause, ok := d.pauseBefore(i)
	if !ok || d.elements[i].pause != nil {
		return all
	}
	for at := places[i-1] + 1; at < len(m.events) && m.events[at].Virtual <= m.events[places[i-1]].Virtual+pause.pause.length; at++ {
		for _, c := range d.absences(m, places, i-1, i, &m.events[at]) {
			c.pause, c.within, c.absent = pause.pause.with(c.absent.conditions), pause.within, nil
			c.cost, c.key = c.cost+6, "pause "+c.key
			all = append(all, c)
		}
	}
	return all
}

func (p *pause) with(conditions []condition) *pause { return &pause{conditions, p.length} }

// pauseBefore is the time before an element in which nothing like it happens, where the run has one.
func (d *Draft) pauseBefore(i int) (c candidate, ok bool) {
	if i == 0 {
		return c, false
	}
	e := d.elements[i]
	length := pauseFor(d.gapBefore(i))
	if length == 0 {
		return c, false
	}
	c = candidate{to: e, pause: &pause{kind(&e.events[0]), length}, cost: 20, key: fmt.Sprint("pause ", i)}
	for _, span := range spansFor(d.gapBefore(i) - length) {
		if c.within = span; span >= 10*time.Second {
			break
		}
	}
	return c, true
}

// absences are those that an event between two elements of another run shows: that it is not there in the own one. Since is the
// element before it, -1 the start.
func (d *Draft) absences(m wrongMatch, places []int, since, to int, r *history.Entry) (all []candidate) {
	if scenarios(*r) != "" || r.Source == history.Fault || r.Code >= 400 || slices.Contains(generated[1:], r.Object.Resource) {
		return nil
	}
	conditions := kind(r)
	cost := 2*(to-since) + 6
	named := false
	for j := 0; j <= since || since < 0 && j < to; j++ {
		of := &m.events[places[j]]
		for name, path := range d.elements[j].captures {
			for _, f := range factsOf(of) {
				if text := f.text(); f.path == path && text != "" && text == r.Object.Name && !named {
					conditions = append(conditions, condition{field: "name", value: "$" + name, rank: same, capture: name}.withValues())
					named, cost = true, cost-4
				}
			}
		}
	}
	if name := r.Object.Name; !named && d.names.made[name] {
		conditions = append(conditions, condition{field: "name", value: name, rank: same}.withValues())
		cost -= 2
	}
	if resource := vocabulary.ResourceNamed(r.Object.Resource); resource.Word == "" {
		cost += 4
	}
	var details []condition
	for _, f := range factsOf(r) {
		if c, ok := d.names.literal(r, f); ok && c.rank != same && c.rank <= wordy || ok && f.key == "subresource" {
			details = append(details, c)
		}
	}
	offer := func(conditions []condition, cost int) {
		a := absence{conditions: conditions}
		if since >= 0 && since < to-1 {
			a.since = d.elements[since].as
		}
		p := pattern(conditions, everything)
		all = append(all, candidate{to: d.elements[to], absent: &a, cost: cost, key: fmt.Sprint(to, since, p, detailKey(conditions))})
	}
	wants := r.Source == history.Logged || r.Object.Resource == "events" // or they would be of any
	if !wants {
		offer(conditions, cost)
	}
	for _, c := range details {
		if wants && c.field != "detail.message" && c.field != "detail.reason" {
			continue
		}
		offer(append(slices.Clone(conditions), c), cost+2+c.rank)
	}
	return all
}

func detailKey(conditions []condition) (key string) {
	for _, c := range conditions {
		key += fmt.Sprint(c.field, c.op, c.value, ";")
	}
	return key
}
