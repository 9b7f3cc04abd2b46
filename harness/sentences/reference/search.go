package reference

import (
	"regexp"
	"slices"
	"strings"
)

// Search returns the sentences that have all the words, also of phrases in quotes. If none has them, it returns those of
// whose arguments they say something, or, of a single word, those that have a related one.
func Search(words []string) []Sentence {
	words = strings.Fields(strings.Join(words, " "))
	found := having(words, false)
	if len(found) == 0 && len(words) == 1 {
		for _, other := range Related(words[0]) {
			found = append(found, having([]string{other}, false)...)
		}
	}
	if len(found) == 0 {
		found = having(words, true)
	}
	return found
}

// having returns those that have all the words in what they say, or also in what their arguments mean.
func having(words []string, meant bool) []Sentence {
	return slices.DeleteFunc(Sentences(), func(s Sentence) bool {
		about := s.Role + " " + s.Words + " " + s.Worlds
		for _, a := range s.Arguments {
			about += " " + a.Name
			if meant {
				about += " " + a.Means
			}
		}
		if strings.HasPrefix(s.Records, "faults") {
			about += " faults"
		}
		return slices.ContainsFunc(words, func(word string) bool { return !hasWord(about, word) })
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
