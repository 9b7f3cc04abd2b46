package propose

import (
	"slices"
	"time"

	"nodestorm/sim/history/checker"
)

// keeps reports whether the draft holds on its own run, and on those that ought to show it and are like it.
func (d *Draft) keeps() bool {
	s := d.statement(everything)
	if d.own.searchable.Find(s).Result != checker.Valid {
		return false
	}
	return !slices.ContainsFunc(d.others, func(o *otherRun) bool {
		return o.near && o.want == Holds && o.searchable.Find(s).Result != checker.Valid
	})
}

// wrongMatch is a run in which the draft holds and ought not to, or the own one, where it holds at other events than the chosen.
type wrongMatch struct {
	*Run
	at []uint64
}

func (d *Draft) mistakes() (all []wrongMatch) {
	s := d.statement(everything)
	if found := d.own.searchable.Find(s); !slices.Equal(found.Evidence, d.chosen) {
		all = append(all, wrongMatch{d.own, found.Evidence})
	}
	for _, o := range d.others {
		if !o.near || o.want != Absent {
			continue
		}
		if found := o.searchable.Find(s); found.Result == checker.Valid || found.GaveUp {
			all = append(all, wrongMatch{o.Run, found.Evidence})
		}
	}
	return all
}

// fill has the draft have all conditions that are so wherever it ought to hold.
func (d *Draft) fill() {
	pools := make([][]condition, len(d.elements))
	for i, e := range d.elements {
		pools[i] = e.conditions
		e.conditions = slices.DeleteFunc(slices.Clone(e.conditions), func(c condition) bool { return c.rank > core })
	}
	for rank := core + 1; rank < everything; rank++ {
		for i, e := range d.elements {
			for _, c := range pools[i] {
				if c.rank != rank {
					continue
				}
				e.conditions = append(e.conditions, c)
				// mutant: a detail of the one run is asked of all
				if !d.keeps() {
					e.conditions = e.conditions[:len(e.conditions)-1]
				}
			}
		}
	}
}

// gapBefore is the time from the element before to this one; of the first, from its first event to its last.
func (d *Draft) gapBefore(i int) time.Duration {
	if i == 0 {
		return d.elements[0].last().Virtual - d.elements[0].events[0].Virtual
	}
	return d.elements[i].last().Virtual - d.elements[i-1].last().Virtual
}

// setSpans bounds how long each element may take: the shortest span that the run and those like it leave room in.
func (d *Draft) setSpans() {
	const tries = 3
	for i, e := range d.elements {
		if i == 0 && len(e.events) == 1 {
			continue
		}
		for n, span := range spansFor(d.gapBefore(i)) {
			if e.within = span; n < tries && d.keeps() {
				break
			}
			e.within = 0
		}
	}
}

// narrow adds what does not happen, one after the other, where the events alone hold in runs in which they ought not to.
func (d *Draft) narrow() {
	const most = 3
	for range most {
		wrong := d.mistakes()
		if len(wrong) == 0 {
			return
		}
		var best *candidate
		least := len(wrong)
		for _, c := range d.candidates(wrong) {
			c.apply()
			if d.keeps() {
				if now := len(d.mistakes()); now < least {
					best, least = &c, now
				}
			}
			c.revert()
			if least == 0 {
				break
			}
		}
		if best == nil {
			return
		}
		best.apply()
	}
}

// minimise leaves out what changes no outcome: first of what does not happen, then of the details, the wordiest first.
func (d *Draft) minimise() {
	wrong := len(d.mistakes())
	needed := func() bool { return len(d.mistakes()) > wrong }
	for _, e := range d.elements {
		if was := e.pause; was != nil {
			if e.pause = nil; needed() || !d.keeps() {
				e.pause = was
			}
		}
		for i := 0; i < len(e.absent); {
			was := e.absent
			if e.absent = slices.Delete(slices.Clone(was), i, i+1); needed() {
				e.absent = was
				i++
			}
		}
	}
	for rank := everything - 1; rank > same; rank-- {
		for _, e := range slices.Backward(d.elements) {
			for i := len(e.conditions) - 1; i >= 0; i-- {
				if e.conditions[i].rank != rank {
					continue
				}
				was := e.conditions
				e.conditions = slices.Delete(slices.Clone(was), i, i+1)
				// mutant: what is needed is left out
				if needed() {
					e.conditions = was
				}
			}
		}
	}
}
