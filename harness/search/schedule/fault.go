package schedule

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"nodestorm/sim/time/lapse"
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
	someNodes = []string{"the first further simulated node", "each of the first 2 further simulated nodes", "every further simulated node"}
)

// named are words of which one is drawn, by what sentences of clouds call them.
var named = map[string][]string{
	"calls":     someCalls,
	"actions":   {"every action", "the first action", "the third action"},
	"servers":   {"the first server", "every server", "the second server", "the third server"},
	"machines":  {"the first machine", "each of the first 2 machines", "every machine"},
	"nodes":     someNodes,
	"few nodes": someNodes[:2],
	"group":     {anyGroup},
	"type":      {anyType},
}

var places = regexp.MustCompile(`\{([^}]+)\}`)

// faultsOf are those of a cloud's sentences.
func faultsOf(sentences []string, endless bool) (all []faults) {
	for _, s := range sentences {
		f := faults{sentence: places.ReplaceAllLiteralString(s, "%s"), endless: endless}
		for _, place := range places.FindAllStringSubmatch(s, -1) {
			words, is := named[place[1]]
			if !is {
				words = strings.Split(place[1], "|")
			}
			f.places = append(f.places, words)
		}
		all = append(all, f)
	}
	return all
}

// nodeFaults are those of machines that have come.
var nodeFaults = []faults{
	{sentence: "%s %s", places: [][]string{someNodes,
		{"is NotReady", "has no network", "is not heard of", "is NotReady for half of every 40s"}}},
	{sentence: "the first further simulated node has its kubelet restarted, which is down for %s and reports Ready 10s later, from 1m on",
		places: [][]string{{"20s", "2m"}}, endless: true},
	{sentence: "the first further simulated node has its Node deleted, from %s on",
		places: [][]string{{"1m", "3m"}}, endless: true},
}

// apiFaults are those on the way from a program to the API server. Its leases are left
// alone: who loses one has to end.
func apiFaults(program string, calls ...string) (all []faults) {
	var writes, watches []string
	for _, call := range calls {
		if strings.HasPrefix(call, "watch ") {
			watches = append(watches, call)
		} else {
			writes = append(writes, call)
		}
	}
	of := fmt.Sprintf(` of the program "%s" `, program)
	return []faults{
		{sentence: `%s "%s"` + of + `is answered with %s`, places: [][]string{someCalls, writes, {"500", "503", "409", "429"}}},
		{sentence: `%s "%s"` + of + `%s`, places: [][]string{someCalls, writes, {
			"is delayed by 5s", "is delayed by 20s", "breaks its connection", "is done, and its answer lost",
			"is done, and its answer held back for 10s", "is answered with 504 after 10s"}}},
		{sentence: `every call "%s"` + of + `%s`, places: [][]string{watches, {"goes silent for 1m", "is cut off after 10s", "expires after 20s"}}},
	}
}

// spans are how long faults act, and a Job's pods run.
var spans = []lapse.Duration{
	lapse.Duration(20 * time.Second), lapse.Duration(time.Minute), lapse.Duration(3 * time.Minute), lapse.Duration(8 * time.Minute)}

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
