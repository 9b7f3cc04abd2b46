package reference

import (
	"regexp"
	"slices"
	"strings"
)

// Search returns the sentences that have all the words, also of phrases in quotes. If none has them, it returns those that
// have each word or a related one, in the example, too, and else in what their arguments mean.
func Search(words []string) []Sentence {
	words = strings.Fields(strings.Join(words, " "))
	asked := make([][]string, len(words))
	for i, word := range words {
		asked[i] = []string{word}
	}
	if found := having(asked, saying); len(found) > 0 {
		return found
	}
	asked = nil
	for _, word := range words {
		if !slices.Contains(empty, strings.ToLower(word)) {
			asked = append(asked, alike(word))
		}
	}
	for _, where := range []func(Sentence) string{exemplified, meaning} {
		if found := having(asked, where); len(found) > 0 && len(asked) > 0 {
			return found
		}
	}
	return nil
}

// empty are words that say nothing of what a sentence is about.
var empty = []string{"a", "an", "the", "is", "are", "be", "been", "was", "that"}

// negations are words of sentences about what does not happen.
var negations = []string{"not ", "no ", "never", "none ", "without "}

// alike are a word and those related to it.
func alike(word string) []string {
	for _, negation := range negations {
		if strings.EqualFold(word, strings.TrimSpace(negation)) {
			return negations
		}
	}
	return append([]string{word}, Related(word)...)
}

// saying is what a sentence says, with the names of its arguments.
func saying(s Sentence) string {
	about := s.Role + " " + s.Words + " " + s.Worlds
	for _, a := range s.Arguments {
		about += " " + a.Name
	}
	if strings.HasPrefix(s.Records, "faults") {
		about += " faults"
	}
	return about
}

// exemplified is what it says, in its example as well.
func exemplified(s Sentence) string { return saying(s) + " " + s.Example }

// meaning is all that, and what its arguments mean.
func meaning(s Sentence) string {
	about := exemplified(s)
	for _, a := range s.Arguments {
		about += " " + a.Means
	}
	return about
}

// having returns the sentences that have one of each of the words in a text about them.
func having(asked [][]string, about func(Sentence) string) []Sentence {
	return slices.DeleteFunc(Sentences(), func(s Sentence) bool {
		text := about(s)
		return slices.ContainsFunc(asked, func(words []string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return hasWord(text, word) })
		})
	})
}

// placeholder is what stands for an argument in a sentence.
var placeholder = regexp.MustCompile(`[A-Z][A-Z-]+`)

// hasWord reports whether a word of the text begins so. Placeholders are found by names that are
// written as they are.
func hasWord(text, begun string) bool {
	words, ignoring := text, ""
	if !placeholder.MatchString(begun) {
		words, ignoring = placeholder.ReplaceAllString(text, ""), "(?i)"
	}
	return regexp.MustCompile(ignoring + `(?:^|[^A-Za-z0-9])` + regexp.QuoteMeta(begun)).MatchString(words)
}
