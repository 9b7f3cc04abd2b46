package scenarios

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// HasWord reports whether a record or a feature of the catalogue has the word by itself. A nil catalogue says nothing.
func (c *Catalogue) HasWord(word string) bool {
	if c == nil {
		return false
	}
	for _, text := range c.features {
		if ContainsWord(text, word) {
			return true
		}
	}
	for _, r := range c.records {
		r.Feature = "" // where a user's files are is no word of them
		text, err := json.Marshal(r)
		if err == nil && ContainsWord(bytes.ReplaceAll(text, []byte(`\n`), []byte(" ")), word) {
			return true
		}
	}
	return false
}

// comment is one of a feature, or of YAML: who wrote it, for example.
var comment = regexp.MustCompile(`(?m)^\s*#.*$`)

// ContainsWord reports whether a text has the word by itself, neither within another nor in a comment.
func ContainsWord(text []byte, word string) bool {
	text = comment.ReplaceAll(text, nil)
	return regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(word) + `(?:\W|$)`).Match(text)
}
