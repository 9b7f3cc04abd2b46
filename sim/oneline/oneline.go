// Package oneline makes one line of texts that parsers, programs and servers break into
// several, so that an error stays a line of its own wherever it is shown.
package oneline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"al.essio.dev/pkg/shellescape"
)

// Of is the text with a space for every run of white space.
func Of(text string) string { return strings.Join(strings.Fields(text), " ") }

// Error is an error with the same text in one line.
func Error(err error) error { return lined{err, Of(err.Error())} }

// YAML is the error of a YAML parser in one line, without the words that say that it makes
// JSON of it.
func YAML(err error) error {
	return lined{err, Of(strings.ReplaceAll(err.Error(), "error converting YAML to JSON: ", ""))}
}

// Cut is a text whose words may be a stranger's: without what does not print, and with
// at most so many bytes of it.
func Cut(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError
	}), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// CutError is an error with the text that Cut makes.
func CutError(err error, most int) error { return lined{err, Cut(err.Error(), most)} }

// Command is what one types into a shell who means these words, each as it is and all in one line: what of them does not
// print is as in Go's source. Words that are a stranger's stay words. Every command that people are to copy is made by it.
func Command(words ...string) string {
	printable := make([]string, len(words))
	for i, word := range words {
		var b strings.Builder
		for _, r := range word {
			if unicode.IsPrint(r) && r != utf8.RuneError {
				b.WriteRune(r)
			} else {
				b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			}
		}
		printable[i] = b.String()
	}
	// mutant: a stranger's words are a shell's
	return shellescape.QuoteCommand(printable)
}

// Ends are the first line of a text and the last if there are more, unless that is
// indented: then it is output of a program, of which the first line has what matters.
func Ends(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	first, last := lines[0], lines[len(lines)-1]
	if len(lines) == 1 || strings.HasPrefix(last, "    ") {
		return strings.TrimSpace(first)
	}
	return strings.TrimSpace(first) + " … " + strings.TrimSpace(last)
}

// lined is an error with a text of one line.
type lined struct {
	error
	text string
}

func (e lined) Error() string { return e.text }
func (e lined) Unwrap() error { return e.error }
