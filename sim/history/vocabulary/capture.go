package vocabulary

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	insideText = regexp.MustCompile(`\$\{[^{}]+\}`)
	// bareName is one inside that lacks its braces.
	bareName = regexp.MustCompile(`(.)\$([\pL_][\pL\pN_]*)`)
)

// wholeCapture is the name that a value consists of, if it does.
func wholeCapture(value string) (name string, is bool) {
	name, is = strings.CutPrefix(value, "$")
	return name, is && !strings.HasPrefix(name, "{")
}

// Captures are the names of what earlier events had that a value has: as a whole, $name, or inside a longer text, ${name}.
func Captures(value string) (names []string) {
	if name, is := wholeCapture(value); is {
		names = append(names, name)
	}
	for _, name := range insideText.FindAllString(value, -1) {
		names = append(names, name[2:len(name)-1])
	}
	return names
}

// FillCaptures puts what was captured in place of the names.
func FillCaptures(value string, captured map[string]string) string {
	if name, is := wholeCapture(value); is {
		return captured[name]
	}
	if !strings.Contains(value, "${") {
		return value // most are, and many are compared
	}
	return insideText.ReplaceAllStringFunc(value, func(name string) string { return captured[name[2:len(name)-1]] })
}

// CheckCaptures finds a name inside a longer value that is not read as one.
func CheckCaptures(value string) error {
	// mutant: a capture inside a longer value is taken as it is written
	if bareName.MatchString(value) {
		return fmt.Errorf("%q: a capture inside a longer value has braces: %s", value, bareName.ReplaceAllString(value, "$1$${$2}"))
	}
	return nil
}
