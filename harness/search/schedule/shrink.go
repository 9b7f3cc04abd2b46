package schedule

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"nodestorm/sim/strict"
)

// Shows reports whether what is looked for still shows when the schedule is played: in one play, or
// surely, in as many as it takes to know that it does so time and again. Several may be asked for at
// a time; whose answer is not needed any more has its context ended.
type Shows func(ctx context.Context, s Schedule, surely bool) (bool, error)

// Shrink makes a schedule as small as it gets while it surely shows what it shows: acts are
// left out, many at a time and then each (delta debugging, Zeller and Hildebrandt 2002), then
// groups, numbers, faults and time are made less. It asks for up to atOnce at a time, on which
// what is left does not depend. What it returns with an error is the smallest so far, which has
// shown it in one play at least.
//
// Most of what is tried shows nothing any more, or shows it each time. So one play decides until a
// sweep over the schedule is done. If what is left does not show it surely the sweep is done again,
// and whatever is left out has to.
func Shrink(ctx context.Context, s Schedule, atOnce int, shows Shows) (Schedule, error) {
	k := &shrinking{ctx: ctx, best: s, sure: s, shows: shows, atOnce: atOnce, refused: map[string]bool{}}
	for before := ""; before != string(k.sure.YAML()) && k.err == nil; {
		before = string(k.sure.YAML())
		// mutant: a smaller schedule is waited for as long
		k.sweep(k.rest, k.shortenWaits)
		k.sweep(k.acts)
		k.sweep(k.groups, k.defaults, k.simpler)
	}
	return k.best, k.err
}

// Truncate leaves out the acts after the first n, with the rest and without it.
func (s Schedule) Truncate(n int) (rested, hurried Schedule) {
	rested = withoutActs(s, n, len(s.Acts)-n)
	hurried = rested.clone()
	hurried.Rest = 0
	return rested, hurried
}

type shrinking struct {
	ctx     context.Context
	best    Schedule // shows it in a play
	sure    Schedule // shows it surely
	shows   Shows
	atOnce  int
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
	shows, err := k.shows(k.ctx, k.best, true)
	switch {
	case err != nil:
		k.err = err
	// mutant: what shows it once is small enough
	case shows:
		k.sure = k.best
	default:
		k.best, k.surely = k.sure, true
		all()
		k.surely = false
	}
}

// worthTrying reports whether a schedule can be played, and was not yet in vain.
func (k *shrinking) worthTrying(s Schedule) bool {
	text := string(s.YAML())
	if k.refused[text] || text == string(k.best.YAML()) || s.Check() != nil {
		return false
	}
	at, err := siteOf(s.Site)
	return err == nil && s.fits(at)
}

// first keeps the first of some schedules that shows it, and returns which it is; -1: none does.
// Those that come next are played beside it, as it may show nothing.
func (k *shrinking) first(all []Schedule) int {
	type answer struct {
		shows bool
		err   error
	}
	ctx, cancel := context.WithCancel(k.ctx)
	var asked sync.WaitGroup
	defer asked.Wait()
	defer cancel()
	answers, next := map[int]chan answer{}, 0
	ask := func() {
		for ; next < len(all) && len(answers) < k.atOnce; next++ {
			s := all[next]
			if !k.worthTrying(s) {
				continue
			}
			got, surely := make(chan answer, 1), k.surely
			answers[next] = got
			asked.Go(func() {
				shows, err := k.shows(ctx, s, surely)
				got <- answer{shows, err}
			})
		}
	}
	for i := range all {
		if k.err != nil {
			return -1
		}
		if ask(); answers[i] == nil {
			continue
		}
		got := <-answers[i]
		delete(answers, i)
		switch {
		case got.err != nil:
			k.err = got.err
		// mutant: a smaller schedule is kept that shows nothing
		case got.shows:
			k.best = all[i]
			if k.surely {
				k.sure = k.best
			}
			return i
		default:
			k.refused[string(all[i].YAML())] = true
		}
	}
	return -1
}

// tryEach makes changes one by one, and keeps those with which it still shows.
func (k *shrinking) tryEach(changes []func(*Schedule)) {
	for len(changes) > 0 && k.err == nil {
		var changed []Schedule
		for _, change := range changes {
			s := k.best.clone()
			change(&s)
			changed = append(changed, s)
		}
		i := k.first(changed)
		if i < 0 {
			return
		}
		changes = changes[i+1:]
	}
}

// acts leaves out parts of the acts: halves first, at last single ones.
func (k *shrinking) acts() {
	for size := len(k.best.Acts) / 2; size > 0 && k.err == nil; {
		left := false
		for from := 0; from < len(k.best.Acts); {
			var parts []Schedule
			var begin []int
			for at := from; at < len(k.best.Acts); at += size {
				n := min(size, len(k.best.Acts)-at)
				parts = append(parts, withoutActs(k.best, at, n), waiting(k.best, at, n))
				begin = append(begin, at, at)
			}
			i := k.first(parts)
			if i < 0 {
				break
			}
			from, left = begin[i], true // what comes next is there now
		}
		if size = min(size, len(k.best.Acts)); !left || size > 1 {
			size /= 2
		}
	}
}

// withoutActs leaves out n acts, and with each that which needs it. What comes after them comes
// at the same time as before.
func withoutActs(s Schedule, from, n int) Schedule {
	out := s.clone()
	out.Acts = nil
	gone, wait := map[string]bool{}, strict.Duration(0)
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
	wait := strict.Duration(0)
	for _, a := range s.Acts[from:] {
		if a.Do == "wait" && n == 1 {
			return out // that is what is left out
		}
		wait += a.After
	}
	out = withoutActs(s, from, n)
	if wait > 0 {
		out.Acts = append(out.Acts, Act{After: wait, Do: "wait"})
	}
	return out
}

func (k *shrinking) groups() {
	var changes []func(*Schedule)
	for _, g := range k.best.Groups {
		changes = append(changes, func(s *Schedule) {
			if len(s.Groups) > 1 {
				s.Groups = slices.DeleteFunc(s.Groups, func(of Group) bool { return of.Name == g.Name })
			}
		})
	}
	k.tryEach(changes)
}

// defaults leaves out how things are set up.
func (k *shrinking) defaults() {
	// mutant: settings are left out one by one
	changes := []func(*Schedule){func(s *Schedule) { s.Settings = nil }}
	for _, name := range slices.Sorted(maps.Keys(k.best.Settings)) {
		changes = append(changes, func(s *Schedule) { delete(s.Settings, name) })
	}
	changes = append(changes, func(s *Schedule) { s.Intolerant = false }, func(s *Schedule) { s.Ready = 0 },
		func(s *Schedule) { s.Before = 0 }, func(s *Schedule) { s.Before = min(s.Before, 1) })
	for i := range k.best.Groups {
		changes = append(changes, func(s *Schedule) { s.Groups[i].Min = 0 })
	}
	k.tryEach(changes)
}

var someOf = regexp.MustCompile(`^(every|each of the first \d+) (call|server|instance|action|machine|new simulated node)s?`)

// simpler makes less of what there is.
func (k *shrinking) simpler() {
	less := []func(*Act){
		func(a *Act) { a.Pods = min(a.Pods, 1) },
		func(a *Act) { a.Pods = min(a.Pods, max(1, a.Pods/2)) },
		func(a *Act) { a.Spread = "" },
		func(a *Act) { a.Held = false },
		func(a *Act) {
			if a.Do == "deploy" {
				a.For = 0
			}
		},
		func(a *Act) { a.Priority = 0 },
		func(a *Act) { a.Fault = someOf.ReplaceAllString(a.Fault, "the first $2") },
		func(a *Act) {
			if strings.HasPrefix(a.Fault, "each of the first ") {
				a.Fault = someOf.ReplaceAllString(a.Fault, "every $2")
			}
		},
		func(a *Act) { a.For = min(a.For, strict.Duration(20*time.Second)) },
		func(a *Act) { a.For = min(a.For, strict.Duration(time.Minute)) },
		func(a *Act) { a.After = 0 },
		func(a *Act) { a.After = min(a.After, strict.Duration(10*time.Second)) },
		func(a *Act) { a.After = strict.Duration((time.Duration(a.After) / 2).Round(time.Second)) },
	}
	var changes []func(*Schedule)
	for i := range k.best.Acts {
		for _, change := range less {
			changes = append(changes, func(s *Schedule) { change(&s.Acts[i]) })
		}
	}
	k.tryEach(changes)
}

// rest leaves out the time at the end, or half of it. It comes first: it is most of what a play takes.
func (k *shrinking) rest() {
	k.tryEach([]func(*Schedule){func(s *Schedule) { s.Rest = 0 }, func(s *Schedule) { s.Rest /= 2 }})
}

// shortenWaits makes all waits between acts short at once: what is played after that takes less time.
func (k *shrinking) shortenWaits() {
	short := func(d time.Duration) func(*Schedule) {
		return func(s *Schedule) {
			for i := range s.Acts {
				s.Acts[i].After = min(s.Acts[i].After, strict.Duration(d))
			}
		}
	}
	k.tryEach([]func(*Schedule){short(10 * time.Second), short(time.Minute)})
}
