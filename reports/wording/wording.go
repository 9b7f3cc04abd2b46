// Package wording makes words that others wrote harmless for who reads them, on terminals and
// in Markdown, and puts numbers into words.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Clean makes text harmless for terminals and for readers: characters that do not print,
// escape sequences and changes of the writing direction among them, are shown as
// in Go source ("\x1b", "\n"), bytes that are not UTF-8 as "\ufffd".
func Clean(text string) string {
	printable := func(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }
	if strings.IndexFunc(text, func(r rune) bool { return !printable(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case printable(r):
			b.WriteRune(r)
		case r == unicode.ReplacementChar:
			b.WriteString(`\ufffd`)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Cut shortens text to at most so many characters.
func Cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// Counted is "1 run", or "2 runs".
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
