// Package slips finds slips of the pen in the steps of a scenario that no single step shows: a name, a label or a value that
// stands once in all of it and is spelled almost like another one there, or like a word that Kubernetes, the programs and
// the clouds have.
package slips

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// Problem is a slip in a step, by its index.
type Problem struct {
	Step int
	Err  error
}

// word is one that a step has as a name, a value or the key of a label.
type word struct {
	step int
	key  bool
	text string
}

var (
	quoted   = regexp.MustCompile(`"([^"\n]{1,200})"`)
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9./_-]{1,100}$`)
	pattern  = regexp.MustCompile(`[-.]*(?:\.\*|\\d\+|\[.*)\$?$`)
	short    = regexp.MustCompile(`^[a-z]{1,2}[0-9][a-z]{0,3}$`) // the family of an instance type: m6i, c6gd
	location = regexp.MustCompile(`^[a-z]{3}[0-9]$`)             // of Hetzner Cloud
	digits   = regexp.MustCompile(`[0-9]`)
	letters  = regexp.MustCompile(`[A-Za-z]`)
	between  = regexp.MustCompile(`[-./_]`)
)

// labelled are the fields below which keys are those of labels.
var labelled = []string{"labels", "matchLabels", "annotations", "nodeSelector", "selector", "tags"}

// Known is what there is beside Kubernetes' own words.
type Known struct {
	Flags      []string // of programs
	Spans      []string // flags and variables whose values are durations
	Effects    []string // of faults, as events have them
	Operations []string // of clouds
	Prose      Prose    // what people read in records and features
}

// Find finds the slips of a scenario: what looks like a word and is none, objects of which nothing comes, and steps that are
// without effect where they stand. record is the text of its record; nil: it has none.
func Find(k Known, steps []*messages.PickleStep, record []byte) (wrong []Problem) {
	wrong = slices.Concat(ofObjects(steps), ofStructure(steps), ofNames(steps), ofOrder(steps), ofFlags(k, steps), ofDurations(steps, record),
		ofPhrases(k, steps, record))
	var words []word
	for i, step := range steps {
		words = append(words, ofStep(i, step)...)
	}
	count := map[string]int{}
	for _, w := range words {
		count[w.text]++
	}
	words = append(words, word{-1, true, podLabel}) // which pods have that steps make in words
	count[podLabel] += 2
	known := vocabulary.Words()
	for _, w := range words {
		if count[w.text] > 1 || slices.Contains(known, w.text) || slices.Contains(heads, w.text) {
			continue
		}
		among := known
		if len(digits.ReplaceAllString(w.text, "")) < shortest(w) {
			among = locations()
		}
		var others []string
		for _, other := range words {
			if other.key == w.key && !alike(w.text, other.text) {
				others = append(others, other.text)
			}
		}
		near := strict.Nearest(w.text, among)
		if near == "" && len(among) == len(known) {
			near = strict.Nearest(w.text, others)
		}
		if at := slices.IndexFunc(others, func(other string) bool {
			return count[other] > 1 && (lacksOne(w.text, other) || len(other) > 2 && sameLetters(w.text, other))
		}); near == "" && at >= 0 {
			near = others[at]
		}
		// mutant: a word may be spelled almost like another
		if near != "" && !alike(w.text, near) {
			wrong = append(wrong, Problem{w.step, fmt.Errorf("%q stands there only, and is spelled almost like %q: did you mean that? "+
				"If both are meant, give one of them another name", w.text, near)})
		}
	}
	return wrong
}

// heads are short words above the columns of tables.
var heads = []string{"min", "max"}

// podLabel is the key of the label of pods that sentences make.
const podLabel = "app"

// locations are known words that are short.
var locations = sync.OnceValue(func() []string {
	return slices.DeleteFunc(slices.Clone(vocabulary.Words()), func(word string) bool { return !location.MatchString(word) })
})

var (
	// aFlag is one of a command line, or a variable.
	aFlag = regexp.MustCompile(`--[a-z][a-z0-9-]{3,}|\b[A-Z]{3,}(?:_[A-Z]+)+\b`)
	// switches are the values of flags that are on or off.
	switches = []string{"true", "false"}
)

// ofFlags finds flags that no program is known to have, and that are spelled almost like one, and spans of time that are none.
func ofFlags(k Known, steps []*messages.PickleStep) (wrong []Problem) {
	for i, step := range steps {
		said := step.Text
		if step.Argument != nil && step.Argument.DataTable != nil {
			for _, row := range step.Argument.DataTable.Rows {
				for _, cell := range row.Cells {
					said += " " + cell.Value
				}
				// mutant: a span of time may be any text
				if flag := row.Cells[0].Value; len(row.Cells) == 2 && slices.Contains(k.Spans, flag) && !isSpan(row.Cells[1].Value) {
					wrong = append(wrong, Problem{i, fmt.Errorf("%s: %q is no duration (want for example 10m)", flag, row.Cells[1].Value)})
				}
				// mutant: a flag may be almost true
				if flag := row.Cells[0].Value; len(row.Cells) == 2 && aFlag.MatchString(flag) {
					if near := strict.Nearest(row.Cells[1].Value, switches); near != "" {
						wrong = append(wrong, Problem{i, fmt.Errorf("%s: did you mean %s instead of %q?", flag, near, row.Cells[1].Value)})
					}
				}
			}
		}
		for _, flag := range aFlag.FindAllString(said, -1) {
			if near := strict.Nearest(flag, k.Flags); near != "" && !alike(flag, near) {
				wrong = append(wrong, Problem{i, fmt.Errorf("%s is spelled almost like %s: did you mean that?", flag, near)})
			}
		}
	}
	return wrong
}

// isSpan reports whether a flag of Go's programs takes a text for a span of time. What a row of an outline says is not known.
func isSpan(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || strings.Contains(text, "<")
}

// shortest is how many letters a word has at least that is looked at: of shorter ones each is like another.
func shortest(w word) int {
	if w.key || len(w.text) == 2 { // of which a letter of three may be missing
		return 2
	}
	return 4
}

// lacksOne reports whether a word of two or three letters is one of one more without one of them.
func lacksOne(short, long string) bool {
	if len(short) < 2 || len(short) > 3 || len(long) != len(short)+1 {
		return false
	}
	for i := range long {
		if long[:i]+long[i+1:] == short {
			return true
		}
	}
	return false
}

// sameLetters reports whether a word is another one, with its letters and digits in another order.
func sameLetters(a, b string) bool {
	of := func(word string) []byte { return slices.Sorted(slices.Values([]byte(word))) }
	return a != b && len(a) == len(b) && slices.Equal(of(a), of(b))
}

// alike reports whether people know two words apart though little differs: a number, a short part such as a or b, a
// plural, a past tense, or the size of letters.
func alike(a, b string) bool {
	if strings.EqualFold(stem(a), stem(b)) {
		return true
	}
	as, bs := between.Split(a, -1), between.Split(b, -1)
	if len(as) != len(bs) {
		return len(a) > 3 && (strings.HasPrefix(a, b+"-") || strings.HasPrefix(b, a+"-"))
	}
	for i := range as {
		bothShort := len(as[i]) <= 2 && len(bs[i]) <= 2 || short.MatchString(as[i]) && short.MatchString(bs[i]) && bs[i] != "k8s"
		if as[i] != bs[i] && !bothShort {
			return false
		}
	}
	return len(as) > 1
}

func ofStep(i int, step *messages.PickleStep) (all []word) {
	add := func(key bool, text string) {
		text = pattern.ReplaceAllString(strings.TrimSpace(text), "")
		if plain.MatchString(text) && !strings.HasPrefix(text, "$") {
			all = append(all, word{i, key, text})
		}
	}
	pairs := func(text string) { // KEY=VALUE:EFFECT, KIND/NAME, or a word
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			key, value, is := strings.Cut(part, "=")
			if !is {
				if key, value, is = strings.Cut(part, ":"); !is {
					add(false, part)
					continue
				}
			}
			add(true, key)
			for one := range strings.SplitSeq(value, ":") {
				add(false, one)
			}
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(step.Text, -1) {
		if kind, name, is := strings.Cut(m[1], "/"); is && !strings.Contains(name, "=") && !strings.Contains(kind, ".") {
			add(false, kind)
			add(false, name)
			continue
		}
		pairs(m[1])
	}
	if step.Argument == nil {
		return all
	}
	if table := step.Argument.DataTable; table != nil {
		for _, row := range table.Rows {
			for _, cell := range row.Cells {
				pairs(cell.Value)
			}
		}
	}
	if doc := step.Argument.DocString; doc != nil {
		for n := range documents(doc.Content) {
			walk(n, nil, add, 100)
		}
	}
	return all
}

// documents are those of a text in YAML, up to the first that is none.
func documents(text string) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		decoder := yaml.NewDecoder(strings.NewReader(text))
		for range 1000 {
			n := &yaml.Node{}
			if decoder.Decode(n) != nil || !yield(n) {
				return
			}
		}
	}
}

// pairs are the keys of a mapping with their values.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content) && yield(n.Content[i], n.Content[i+1]); i += 2 {
		}
	}
}

// walk adds the scalars of a document. Aliases are left alone, so it takes no longer than the text is.
func walk(n *yaml.Node, path []string, add func(key bool, text string), depth int) {
	if depth == 0 {
		return
	}
	last := ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range pairs(n) {
			if slices.Contains(labelled, last) {
				add(true, key.Value)
			}
			walk(value, append(slices.Clone(path), key.Value), add, depth-1)
		}
	case yaml.ScalarNode:
		add(last == "key" || last == "topologyKey", n.Value)
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, child := range n.Content {
			walk(child, path, add, depth-1)
		}
	}
}

// stem is a word without the end of a plural, of a past tense, or of what is being done.
func stem(word string) string {
	for _, end := range []string{"ing", "ion", "ed", "d", "s"} {
		if short, is := strings.CutSuffix(word, end); is {
			return strings.TrimSuffix(short, "e")
		}
	}
	return strings.TrimSuffix(word, "e")
}
