package nemesis

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Shows tells whether what is looked for still shows when the schedule is played: in one play, or
// surely, in as many as it takes to know that it does so time and again.
type Shows func(ctx context.Context, s Schedule, surely bool) (bool, error)

// Shrink makes a schedule as small as it gets while it surely shows what it shows: acts are
// left out, many at a time and then each (delta debugging, Zeller and Hildebrandt 2002), then
// groups, numbers, faults and time are made less. What it returns with an error is the
// smallest so far, which has shown it in one play at least.
//
// Most of what is tried shows nothing any more, or shows it each time. So one play decides until a
// sweep over the schedule is done. If what is left does not show it surely the sweep is done again,
// and whatever is left out has to.
func Shrink(ctx context.Context, s Schedule, shows Shows) (Schedule, error) {
	k := &shrinking{ctx: ctx, best: s, sure: s, shows: shows, refused: map[string]bool{}}
	for before := ""; before != string(k.sure.YAML()) && k.err == nil; {
		before = string(k.sure.YAML())
		k.sweep(k.rest, k.hurry)
		k.sweep(k.acts)
		k.sweep(k.groups, k.defaults, k.simpler)
	}
	return k.best, k.err
}

// Until leaves out the acts after the first n, with the rest and without it.
func (s Schedule) Until(n int) (rested, hurried Schedule) {
	rested = without(s, n, len(s.Acts)-n)
	hurried = rested.clone()
	hurried.Rest = 0
	return rested, hurried
}

type shrinking struct {
	ctx     context.Context
	best    Schedule // shows it in a play
	sure    Schedule // shows it surely
	shows   Shows
	surely  bool            // one play is not enough
	refused map[string]bool // by the schedule
	err     error
}

// sweep tries schedules, and ends with one that surely shows it.
func (k *shrinking) sweep(tries ...func()) {
	all := func() {
		for _, try := range tries {
			try()
		}
	}
	all()
	if k.err != nil || string(k.best.YAML()) == string(k.sure.YAML()) {
		return
	}
	if k.ask(k.best, true) {
		k.sure = k.best
		return
	}
	k.best, k.surely = k.sure, true
	all()
	k.surely = false
}

// try keeps a schedule that can be played and shows it. One that does not is tried once.
func (k *shrinking) try(s Schedule) bool {
	text := string(s.YAML())
	if k.err != nil || k.refused[text] || text == string(k.best.YAML()) || s.Check() != nil {
		return false
	}
	at, err := siteOf(s.Site)
	if err != nil || !s.fits(at) {
		return false
	}
	if !k.ask(s, k.surely) {
		k.refused[text] = true
		return false
	}
	k.best = s
	if k.surely {
		k.sure = s
	}
	return true
}

func (k *shrinking) ask(s Schedule, surely bool) bool {
	if k.err != nil {
		return false
	}
	does, err := k.shows(k.ctx, s, surely)
	if err != nil {
		k.err = err
		return false
	}
	return does
}

// acts leaves out parts of the acts: halves first, at last single ones.
func (k *shrinking) acts() {
	for size := len(k.best.Acts) / 2; size > 0 && k.err == nil; {
		left := false
		for from := 0; from < len(k.best.Acts) && k.err == nil; {
			n := min(size, len(k.best.Acts)-from)
			if k.try(without(k.best, from, n)) || k.try(waiting(k.best, from, n)) {
				left = true // what comes next is there now
				continue
			}
			from += size
		}
		if size = min(size, len(k.best.Acts)); !left || size > 1 {
			size /= 2
		}
	}
}

// without leaves out n acts, and with each that which needs it. What comes after them comes
// at the same time as before.
func without(s Schedule, from, n int) Schedule {
	out := s.clone()
	out.Acts = nil
	gone, wait := map[string]bool{}, Duration(0)
	for i, a := range s.Acts {
		needs := slices.Contains([]string{"scale", "delete", "budget"}, a.Do) && gone[a.Name]
		if i >= from && i < from+n || needs {
			if brings[a.Do] != "" {
				gone[a.Name] = true
			}
			wait += a.After
			continue
		}
		a.After += wait
		wait = 0
		out.Acts = append(out.Acts, a)
	}
	return out
}

// waiting leaves out the last n acts, from that one on, and waits as long as they took: faults that
// came before act for that time, until all are cleared.
func waiting(s Schedule, from, n int) (out Schedule) {
	if from+n < len(s.Acts) {
		return out // what comes next waits, see without
	}
	wait := Duration(0)
	for _, a := range s.Acts[from:] {
		if a.Do == "wait" && n == 1 {
			return out // that is what is left out
		}
		wait += a.After
	}
	out = without(s, from, n)
	if wait > 0 {
		out.Acts = append(out.Acts, Act{After: wait, Do: "wait"})
	}
	return out
}

func (k *shrinking) groups() {
	for i := 0; i < len(k.best.Groups) && len(k.best.Groups) > 1; {
		s := k.best.clone()
		s.Groups = slices.Delete(s.Groups, i, i+1)
		if !k.try(s) {
			i++
		}
	}
}

var someOf = regexp.MustCompile(`^(every|each of the first \d+) (call|server|action|machine|further simulated node)s?`)

// defaults leaves out how things are set up.
func (k *shrinking) defaults() {
	change := func(do func(*Schedule)) {
		s := k.best.clone()
		do(&s)
		k.try(s)
	}
	if len(k.best.Settings) > 1 {
		change(func(s *Schedule) { s.Settings = nil })
	}
	for _, name := range slices.Sorted(maps.Keys(k.best.Settings)) {
		change(func(s *Schedule) { delete(s.Settings, name) })
	}
	change(func(s *Schedule) { s.Intolerant = false })
	change(func(s *Schedule) { s.Ready = 0 })
	for i := range k.best.Groups {
		change(func(s *Schedule) { s.Groups[i].Min = 0 })
	}
}

// simpler makes less of what there is.
func (k *shrinking) simpler() {
	for i := 0; i < len(k.best.Acts); i++ {
		change := func(do func(*Act)) {
			s := k.best.clone()
			do(&s.Acts[i])
			k.try(s)
		}
		for _, pods := range []int{1, k.best.Acts[i].Pods / 2} {
			if was := k.best.Acts[i]; was.Pods > pods && pods > 0 {
				change(func(a *Act) { a.Pods = pods })
			}
		}
		if k.best.Acts[i].Spread != "" {
			change(func(a *Act) { a.Spread = "" })
		}
		if k.best.Acts[i].Held {
			change(func(a *Act) { a.Held = false })
		}
		if k.best.Acts[i].Do == "deploy" && k.best.Acts[i].For > 0 {
			change(func(a *Act) { a.For = 0 })
		}
		if k.best.Acts[i].Priority != 0 {
			change(func(a *Act) { a.Priority = 0 })
		}
		if someOf.MatchString(k.best.Acts[i].Fault) {
			change(func(a *Act) { a.Fault = someOf.ReplaceAllString(a.Fault, "the first $2") })
		}
		if strings.HasPrefix(k.best.Acts[i].Fault, "each of the first ") {
			change(func(a *Act) { a.Fault = someOf.ReplaceAllString(a.Fault, "every $2") })
		}
		for _, d := range []time.Duration{20 * time.Second, time.Minute} {
			if k.best.Acts[i].For > Duration(d) {
				change(func(a *Act) { a.For = Duration(d) })
			}
		}
		for _, d := range []Duration{0, Duration(10 * time.Second), Duration((time.Duration(k.best.Acts[i].After) / 2).Round(time.Second))} {
			if k.best.Acts[i].After > d {
				change(func(a *Act) { a.After = d })
			}
		}
	}
}

// rest leaves out the time at the end, or half of it. It comes first: it is most of what a play takes.
func (k *shrinking) rest() {
	for _, d := range []Duration{0, k.best.Rest / 2} {
		if k.best.Rest > d {
			s := k.best.clone()
			s.Rest = d
			k.try(s)
		}
	}
}

// hurry makes all waits between acts short at once: what is played after that takes less time.
func (k *shrinking) hurry() {
	for _, d := range []Duration{Duration(10 * time.Second), Duration(time.Minute)} {
		s := k.best.clone()
		for i := range s.Acts {
			s.Acts[i].After = min(s.Acts[i].After, d)
		}
		k.try(s)
	}
}
