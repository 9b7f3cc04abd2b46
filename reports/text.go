package reports

import (
	"fmt"
	"maps"
	"slices"
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

// valueText is a detail's value: text as it is, lists as [a, b], mappings as
// {k: v} in the order of their keys.
func valueText(value any) string {
	switch value := value.(type) {
	case string:
		return Clean(value)
	case []string, []any:
		return "[" + strings.Join(texts(value), ", ") + "]"
	case map[string]any:
		var fields []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			fields = append(fields, Clean(key)+": "+valueText(value[key]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case float64: // how JSON reads numbers
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return Clean(fmt.Sprint(value))
}

// texts are the items of a list, none if value is no list.
func texts(value any) []string {
	var items []string
	switch list := value.(type) {
	case []string:
		for _, item := range list {
			items = append(items, Clean(item))
		}
	case []any:
		for _, item := range list {
			items = append(items, valueText(item))
		}
	}
	return items
}
