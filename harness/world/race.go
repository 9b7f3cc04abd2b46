package world

import (
	"regexp"
	"strings"

	"nodestorm/sim/history"
)

// raced is the verb of an event that Go's race detector has made, with the source "log": the
// detail message says what raced with what.
const raced = "race"

var (
	access = regexp.MustCompile(`^(?:Previous )?((?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite)) (?:at|of) `)
	call   = regexp.MustCompile(`^ +(\S+)\(.*\)$`)
	place  = regexp.MustCompile(`^ +\S*?([^/\s]+:\d+)(?: \+0x[0-9a-f]+)?$`)
)

// races finds what a program that was built with Go's race detector says of data races, and
// makes an event of each: of both accesses the function, the first that is not Go's own.
func races(to history.Recorder, of string) func(line []byte) {
	const begin, end = "WARNING: DATA RACE", "=================="
	inside, wanted, function := false, false, ""
	var accesses []string
	return func(text []byte) {
		if !inside && !strings.HasPrefix(string(text), begin) { // nearly all lines
			return
		}
		switch line := string(text); {
		case strings.HasPrefix(line, begin):
			inside, wanted, accesses = true, false, nil
		case line == end:
			inside = false
			to.Record(history.Event{Source: history.Logged, Verb: raced, Actor: of,
				Detail: map[string]any{"message": history.Short(strings.Join(accesses, ", "))}})
		case len(accesses) < 2 && access.MatchString(line):
			accesses, wanted, function = append(accesses, strings.ToLower(access.FindStringSubmatch(line)[1])), true, ""
		case line == "":
			wanted = false // what follows is where the goroutines come from
		case wanted && call.MatchString(line):
			function = call.FindStringSubmatch(line)[1]
		case wanted && place.MatchString(line) && function != "" && !strings.HasPrefix(function, "runtime.") && !strings.HasPrefix(function,
			"internal/"):
			accesses[len(accesses)-1] += " in " + function + " (" + place.FindStringSubmatch(line)[1] + ")"
			wanted = false
		}
	}
}
