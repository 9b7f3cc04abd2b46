package slips

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/sim/strict"
)

// letterWord is a word of a phrase: of shorter ones each is like another.
var letterWord = regexp.MustCompile(`\b[a-zA-Z][a-z]{4,}\b`)

// Prose are words that people wrote in texts of the field, by their first letters.
type Prose map[byte][]string

// Add adds the words of a text.
func (p Prose) Add(text string) {
	for _, word := range letterWord.FindAllString(text, -1) {
		word = strings.ToLower(word)
		if at, has := slices.BinarySearch(p[word[0]], word); !has {
			p[word[0]] = slices.Insert(p[word[0]], at, word)
		}
	}
}

// near is the word that another one is a slip of the pen away from, empty if it is one of them or like none. The first letter of
// another word is mostly another one: decrease is no slip of Recreate.
func (p Prose) near(word string) string {
	if _, has := slices.BinarySearch(p[word[0]], word); has {
		return ""
	}
	var among []string
	for _, first := range []byte(word[:2]) { // they may be swapped
		for _, other := range p[first] {
			if first == word[0] || other[1] == word[0] && other[2:] == word[2:] {
				among = append(among, other)
			}
		}
	}
	if near := strict.Nearest(word, among); near != "" && !alike(word, near) {
		return near
	}
	return ""
}

// phrases are the values of details of patterns that are some words, such as those of logs.
func phrases(values []value) (all []value) {
	for _, v := range values {
		if v.of == "detail" && strings.Contains(v.Value, " ") && v.detail != "text" {
			all = append(all, v)
		}
	}
	return all
}

// stepPhrases are those of the statement below a step.
func stepPhrases(step *messages.PickleStep) (all []value) {
	if step.Argument == nil || step.Argument.DocString == nil || strings.Contains(step.Argument.DocString.Content, "apiVersion:") {
		return nil
	}
	for n := range documents(step.Argument.DocString.Content) {
		for _, content := range n.Content {
			all = append(all, phrases(ofPatterns(nil, content, value{}, 100))...)
		}
	}
	return all
}

// pool are the words of phrases by how often each stands there.
func pool(k Known, record []byte, all []value) (words Prose, count map[string]int) {
	words, count = Prose{}, map[string]int{}
	for first, of := range k.Prose {
		words[first] = of
	}
	for field, line := range fieldLines(record) {
		if slices.Contains(prose, field) {
			words.Add(line)
		}
	}
	for _, v := range all {
		for _, word := range letterWord.FindAllString(v.Value, -1) {
			count[strings.ToLower(word)]++
		}
	}
	for word, n := range count {
		if n > 1 {
			words.Add(word)
		}
	}
	return words, count
}

// wordSlip is an error if a phrase has a word that stands once in all phrases, that no text of the field has, and that is
// spelled almost like one that such a text has.
func wordSlip(words Prose, count map[string]int, phrase string) error {
	for _, word := range letterWord.FindAllString(phrase, -1) {
		word = strings.ToLower(word)
		// mutant: a word of a phrase may be almost another
		if near := words.near(word); near != "" && count[word] < 2 {
			return fmt.Errorf("%q of %q stands there only, and is spelled almost like %q: did you mean that? If not, say it in the record's "+
				"notes as well", word, phrase, near)
		}
	}
	return nil
}

func inPhrases(k Known, record []byte, values []value, steps []*messages.PickleStep) (wrong []InRecord) {
	values = phrases(values)
	all := slices.Clone(values)
	for _, step := range steps {
		all = append(all, stepPhrases(step)...)
	}
	words, count := pool(k, record, all)
	for _, v := range values {
		if err := wordSlip(words, count, v.Value); err != nil {
			wrong = append(wrong, InRecord{v.field, v.Line, err})
		}
	}
	return wrong
}

// ofPhrases finds the same in the statements below steps.
func ofPhrases(k Known, steps []*messages.PickleStep, record []byte) (wrong []Problem) {
	var all []value
	var root yaml.Node
	if yaml.Unmarshal(record, &root) == nil && len(root.Content) > 0 {
		for key, node := range pairs(root.Content[0]) {
			if slices.Contains(judged, key.Value) {
				all = append(all, phrases(ofPatterns(nil, node, value{}, 100))...)
			}
		}
	}
	for _, step := range steps {
		all = append(all, stepPhrases(step)...)
	}
	words, count := pool(k, record, all)
	for i, step := range steps {
		for _, v := range stepPhrases(step) {
			if err := wordSlip(words, count, v.Value); err != nil {
				wrong = append(wrong, Problem{i, err})
			}
		}
	}
	return wrong
}
