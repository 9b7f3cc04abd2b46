package then

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

var eventParts = regexp.MustCompile(`^(?:"([^"]+)"|a client) has (ever )?(sent|been refused|recorded) ` +
	`"([^"]+)" of "([^"]+)"(?: "([^"]+)")?(?: with "([^"]+)")?(?: (\d+) times)?$`)

// Awaited is an event that a step waits for. In YAML, the fields of a pattern are beside
// the others.
type Awaited struct {
	checker.Pattern
	// Count is how many events have to match. Zero means one.
	Count int `json:"count,omitempty"`
	// Ever counts those of the whole run; otherwise those since the Whens began that the
	// step is of.
	Ever bool `json:"ever,omitempty"`
	// Within is how long it may take, in virtual time. Zero is for the step to choose.
	Within checker.Duration `json:"within,omitempty"`

	// Said is the event as the step says it.
	Said string `json:"-"`
}

// InWords reads an event in words.
func InWords(said string) (a Awaited, err error) {
	m := eventParts.FindStringSubmatch(said)
	if m == nil {
		return a, fmt.Errorf("%q is no event to wait for", said)
	}
	who, does, verb, of, name, answer, times := m[1], m[3], m[4], m[5], m[6], m[7], m[8]
	pattern := map[string]any{"verb": verb}
	if name != "" {
		if namespace, rest, is := strings.Cut(name, "/"); is {
			pattern["namespace"], name = namespace, rest
		}
		pattern["name"] = name
	}
	switch {
	case answer != "" && does != "been refused":
		return a, fmt.Errorf(`%q: with "%s" is what an answer says, and the history has those of calls that have been refused`, said, answer)
	case does != "recorded":
		resource, part, is := strings.Cut(of, "/")
		pattern["source"], pattern["resource"] = history.API, resource
		detail := map[string]any{"subresource": map[string]any{"exists": false}}
		if is {
			detail["subresource"] = part
		}
		// mutant: what the answer says is not compared
		if answer != "" {
			detail["error"] = map[string]any{"contains": answer}
		}
		pattern["detail"] = detail
		if who != "" {
			pattern["actor"] = who
		}
		if does == "been refused" {
			pattern["code"] = map[string]any{"not": []int{200, 201, 202}}
		}
	case who == "":
		return a, fmt.Errorf(`%q: say which source has recorded it: one of %v`, said, history.Sources())
	default:
		pattern["source"], pattern["resource"] = who, of
	}
	text, err := json.Marshal(pattern)
	if err == nil {
		err = json.Unmarshal(text, &a.Pattern)
	}
	if err != nil {
		return a, fmt.Errorf("%q: %w", said, err)
	}
	a.Ever, a.Said = m[2] != "", said
	if times != "" {
		if a.Count, err = strconv.Atoi(times); err != nil {
			return a, fmt.Errorf("%q: %w", said, err)
		}
	}
	return a, a.check(said)
}

// InYAML reads an event as a pattern.
func InYAML(text string) (a Awaited, err error) {
	if err = strict.Unmarshal([]byte(text), &a); err != nil {
		return a, fmt.Errorf("the event to wait for: %w", err)
	}
	a.Said = a.String()
	return a, a.check("the event to wait for")
}

// check finds what is wrong with an event that is called so.
func (a Awaited) check(called string) error {
	if a.Count < 0 {
		return fmt.Errorf("%s: count: %d is negative", called, a.Count)
	}
	if err := a.Check(); err != nil {
		return fmt.Errorf("%s: %w", called, err)
	}
	return nil
}

// ByOthers says who else has done what is waited for, and how often, where it is waited for an actor; or "".
func (a Awaited) ByOthers(events []history.Entry) string {
	if a.Actor == nil {
		return ""
	}
	anybody := a.Pattern
	anybody.Actor = nil
	times := map[string]int{}
	for _, r := range events {
		// mutant: what others did is not said
		if anybody.Matches(r) && !a.Matches(r) {
			times[r.Actor]++
		}
	}
	others := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(times[b]-times[a], strings.Compare(a, b)) })
	var said []string
	for _, name := range others[:min(len(others), 3)] {
		said = append(said, fmt.Sprintf("%s %d", cmp.Or(name, "one without a name"), times[name]))
	}
	if len(said) == 0 {
		return ""
	}
	return "others have: " + strings.Join(said, ", ")
}

// IsEvent reports whether a text is an event in words.
func IsEvent(text string) bool { return eventParts.MatchString(text) }
