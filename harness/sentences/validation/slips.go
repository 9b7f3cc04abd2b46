package validation

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/features"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/sentences/breaks"
	"nodestorm/harness/sentences/slips"
	"nodestorm/scenarios"
)

// Slips are words that look like others, steps that look as if nothing came of them, and steps that need what nothing brings.
// They are lint's alone: a rule that compares spellings can be wrong, and must not keep a scenario from being played. record is
// the text of its record, or nil.
func Slips(steps []*messages.PickleStep, record []byte) (wrong []Problem) {
	for _, slip := range slips.Find(known(), steps, record) {
		wrong = append(wrong, Problem{slip.Step, slip.Err})
	}
	return append(wrong, unmet(steps)...)
}

// SlipsOfRecord are those of a record, with its text and the steps of its scenario.
func SlipsOfRecord(r scenarios.Record, text []byte, steps []*messages.PickleStep) []slips.InRecord {
	return slips.OfRecord(known(), r, text, steps)
}

var (
	aFlag  = regexp.MustCompile(`--[a-z][a-z0-9-]{3,}|\b[A-Z]{3,}(?:_[A-Z]+)+\b`)
	valued = regexp.MustCompile(`(--[a-z][a-z0-9-]{3,}|\b[A-Z]+_[A-Z_]+)(?:=| *\| *)([^ |"]+)`)
	ofTime = regexp.MustCompile(`(?i)[-_](?:time|timeout|delay|period|interval|duration|after-[a-z]+|age)$`)
)

// known are the flags that the features which are built in give to programs, and the names of what nodestorm itself can do.
var known = sync.OnceValue(func() (k slips.Known) {
	names, err := features.Names()
	if err != nil {
		panic(err) // they are part of the program
	}
	other := map[string]bool{} // flags with a value that is no duration
	for _, name := range names {
		text, err := features.Files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		k.Flags = append(k.Flags, aFlag.FindAllString(string(text), -1)...)
		for _, m := range valued.FindAllStringSubmatch(string(text), -1) {
			if _, err := time.ParseDuration(m[2]); err != nil {
				other[m[1]] = true
			} else if ofTime.MatchString(m[1]) {
				k.Spans = append(k.Spans, m[1])
			}
		}
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		panic(err) // likewise
	}
	k.Prose = slips.Prose{}
	for _, r := range catalogue.Records() {
		for _, text := range []string{r.Title, r.Summary, r.Mechanism, r.Notes} {
			k.Prose.Add(text)
		}
	}
	k.Spans = slices.DeleteFunc(k.Spans, func(flag string) bool { return other[flag] })
	k.Effects = breaks.Effects()
	for _, cloud := range clouds.Kinds {
		if cloud.Operations != nil {
			k.Operations = append(k.Operations, cloud.Operations()...)
		}
	}
	return k
})
