package schedule

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/strict"
)

// faults are alike: one sentence with a place for each %s, and what can be in it.
type faults struct {
	sentence string
	places   [][]string
	// endless says that the sentence can have no time.
	endless bool
}

// The words that stand for what a schedule has.
const (
	anyGroup = "GROUP"
	anyType  = "TYPE"
)

var (
	someCalls = []string{"every call", "the first call", "each of the first 3 calls"}
	someNodes = []string{"the first new simulated node", "each of the first 2 new simulated nodes", "every new simulated node"}
)

// named are words of which one is drawn, by what sentences of clouds call them.
var named = map[string][]string{
	"calls":     someCalls,
	"actions":   {"every action", "the first action", "the third action"},
	"servers":   {"the first server", "every server", "the second server", "the third server"},
	"instances": {"the first instance", "every instance", "the second instance", "the third instance"},
	"machines":  {"the first machine", "each of the first 2 machines", "every machine"},
	"nodes":     someNodes,
	"few nodes": someNodes[:2],
	"group":     {anyGroup},
	"type":      {anyType},
}

var places = regexp.MustCompile(`\{([^}]+)\}`)

// faultsOf are those of sentences. Of gives the names of further words.
func faultsOf(sentences []string, endless bool, of map[string][]string) (all []faults) {
	for _, s := range sentences {
		f := faults{sentence: places.ReplaceAllLiteralString(s, "%s"), endless: endless}
		for _, place := range places.FindAllStringSubmatch(s, -1) {
			words, is := named[place[1]]
			if !is {
				words, is = of[place[1]]
			}
			if !is {
				words = strings.Split(place[1], "|")
			}
			f.places = append(f.places, words)
		}
		all = append(all, f)
	}
	return all
}

// drawnOf are those that the effects of a list have.
func drawnOf(l *fault.List, of map[string][]string) (all []faults) {
	var drawn []fault.Drawn
	for _, k := range l.Kinds() {
		for _, d := range k.Drawn {
			i := slices.IndexFunc(drawn, func(other fault.Drawn) bool { return other.Begins == d.Begins && other.Lasts == d.Lasts })
			if i < 0 {
				drawn = append(drawn, d)
			} else {
				drawn[i].GoesOn = slices.Concat(drawn[i].GoesOn, d.GoesOn)
			}
		}
	}
	for _, d := range drawn {
		all = append(all, faultsOf([]string{d.Begins + " {" + strings.Join(d.GoesOn, "|") + "}"}, d.Lasts, of)...)
	}
	return all
}

// apiFaults are those on the way from a program to the API server. Its leases are left
// alone: who loses one has to end.
func apiFaults(program string, calls ...string) []faults {
	of := map[string][]string{"program": {program}}
	for _, call := range calls {
		kind := "writes"
		if strings.HasPrefix(call, "watch ") {
			kind = "watches"
		}
		of[kind] = append(of[kind], call)
	}
	return drawnOf(apifault.Rules, of)
}

// spans are how long faults act, and a Job's pods run.
var spans = []strict.Duration{
	strict.Duration(20 * time.Second), strict.Duration(time.Minute), strict.Duration(3 * time.Minute), strict.Duration(8 * time.Minute)}

// draw is one of them, and how long it acts.
func (f faults) draw(random *rand.Rand, s Schedule) Act {
	var words []any
	for _, place := range f.places {
		word := place[random.IntN(len(place))]
		group := s.Groups[random.IntN(len(s.Groups))]
		switch word {
		case anyGroup:
			word = group.Name
		case anyType:
			word = group.Type
		}
		words = append(words, word)
	}
	a := Act{Do: "fault", Fault: fmt.Sprintf(f.sentence, words...)}
	if !f.endless {
		a.For = spans[random.IntN(len(spans))]
	}
	return a
}
