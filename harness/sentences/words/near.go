package words

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// longest is more words than any sentence has.
const longest = 60

// TooLong reports whether a text has more words than any sentence.
func TooLong(text string) bool { return len(strings.Fields(text)) > longest }

// Nearest is the place of the expression that a text without a match is likest to, if it is like any. Of two that are
// as near, the first that is preferred counts.
func Nearest(text string, among []*Expression, preferred func(i int) bool) (place int, found bool) {
	if TooLong(text) {
		return 0, false
	}
	place, least := -1, len(strings.Fields(text))/2+1
	for i, e := range among {
		if d := apart(text, e.Words); d < least || d == least && place >= 0 && preferred(i) && !preferred(place) {
			place, least = i, d
		}
	}
	return place, place >= 0
}

// Wrong says which argument of a text is malformed if nothing else is wrong, or "".
func (e *Expression) Wrong(text string) string {
	said, words := strings.Fields(text), strings.Fields(e.Words)
	if len(said) != len(words) {
		return ""
	}
	wrong := ""
	for i := range said {
		if same(said[i], words[i]) {
			continue
		}
		a := slices.IndexFunc(arguments, func(a Argument) bool { return a.Name == strings.Trim(words[i], `",`) })
		if a < 0 || wrong != "" {
			return ""
		}
		wrong = fmt.Sprintf("%s is not %s", strings.TrimSuffix(said[i], ","), arguments[a].Means)
	}
	return wrong
}

// asWords are the arguments as words of a step, by their names.
var asWords = sync.OnceValue(func() map[string]*regexp.Regexp {
	compiled := map[string]*regexp.Regexp{}
	for _, a := range arguments {
		compiled[a.Name] = regexp.MustCompile("^" + strings.TrimSuffix(a.pattern, cpuSuffix) + "$")
	}
	return compiled
})

// same reports whether a word of a step can be that of a sentence.
func same(said, word string) bool {
	if said == word {
		return true
	}
	word, said = strings.Trim(strings.TrimSuffix(word, ","), "()"), strings.TrimSuffix(said, ",")
	if argument := asWords()[strings.Trim(word, `"`)]; argument != nil {
		return argument.MatchString(said)
	}
	return slices.Contains(strings.Split(word, "|"), said) || strings.TrimSuffix(said, "s") == strings.TrimSuffix(word, "s") ||
		said == "is" && word == "are"
}

// apart is in how many words a step and a sentence differ, with those of many words counted as one.
func apart(text, sentence string) int {
	words := strings.Fields(sentence)
	shape := moments.ReplaceAllString(text, " WHEN")
	if m := chosen.FindStringSubmatch(shape); m != nil {
		shape = "EVERY-" + strings.ToUpper(strings.Replace(m[1], "server", "instance", 1)) + shape[len(m[0]):]
	}
	object := named.ReplaceAllString(text, `"$1/$2"`) // the pod "web" is "Pod/web" in sentences about any object
	return min(distance(strings.Fields(text), words), distance(strings.Fields(shape), words), distance(strings.Fields(object), words))
}

var (
	chosen = regexp.MustCompile(`^(?:every|the first|the \d+\w+|each of the first \d+) (?:\w+ )*?` +
		`(node|call|action|instance|server|machine)s?\b(?: from the \w+ on)?`)
	named   = regexp.MustCompile(`\b(?:the|a|an) (\w+) "([^"/ ]+)"`)
	moments = regexp.MustCompile(`(?:, (?:once \{.*\}|from \S+ on|for \S+|with probability \S+))+$`)
)

// distance is in how many words two texts differ.
func distance(said, words []string) int {
	row := make([]int, len(words)+1)
	for j := range row {
		row[j] = j
	}
	for i := range said {
		before := row[0]
		row[0] = i + 1
		for j := range words {
			cost := before
			if !same(said[i], words[j]) {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(words)]
}
