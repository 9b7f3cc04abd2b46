package slips

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	messages "github.com/cucumber/messages/go/v21"
)

var (
	inText    = regexp.MustCompile(`\b(?:[0-9]+(?:h|ms|m|s))+\b( (?:of )?CPU)?`)
	inYAML    = regexp.MustCompile(`\b(?:within|for|after|every): *["']?((?:[0-9]+(?:h|ms|m|s))+)\b`)
	aField    = regexp.MustCompile(`^([a-z][A-Za-z]*):`)
	zeroFirst = regexp.MustCompile(`(?:^|[a-z])0[0-9]`)
	minutes   = regexp.MustCompile(`^([0-9]{1,6})m$`)
)

// durationsOf are those that a step has in its words, in the statement below it, and in a table of flags.
func durationsOf(step *messages.PickleStep) (all []string) {
	for _, m := range inText.FindAllStringSubmatch(quoted.ReplaceAllString(step.Text, `""`), -1) {
		if m[1] == "" { // CPU is written alike
			all = append(all, m[0])
		}
	}
	if step.Argument == nil {
		return all
	}
	if doc := step.Argument.DocString; doc != nil {
		all = append(all, durationsIn(doc.Content)...)
	}
	if table := step.Argument.DataTable; table != nil {
		for _, row := range table.Rows {
			for _, cell := range row.Cells {
				if strings.HasPrefix(row.Cells[0].Value, "--") && cell.Value != "" && inText.FindString(cell.Value) == cell.Value {
					all = append(all, cell.Value)
				}
			}
		}
	}
	return all
}

// durationsIn are those of the fields of a text in YAML that are durations.
func durationsIn(text string) (all []string) {
	for _, m := range inYAML.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// ofDurations finds durations that a slip of the pen has made of another one that the scenario or its record has.
func ofDurations(steps []*messages.PickleStep, record []byte) (wrong []Problem) {
	all := durationsIn(string(record))
	for _, step := range steps {
		all = append(all, durationsOf(step)...)
	}
	for i, step := range steps {
		for _, d := range durationsOf(step) {
			if err := mistyped(d, all); err != nil {
				wrong = append(wrong, Problem{i, err})
			}
		}
	}
	return wrong
}

// durationsOfRecord is ofDurations for the fields of a record that are judged.
func durationsOfRecord(text []byte, steps []*messages.PickleStep) (wrong []InRecord) {
	all := durationsIn(string(text))
	for _, step := range steps {
		all = append(all, durationsOf(step)...)
	}
	field := ""
	for i, line := range strings.Split(string(text), "\n") {
		if m := aField.FindStringSubmatch(line); m != nil {
			field = m[1]
		}
		if !slices.Contains(judged, field) {
			continue
		}
		for _, d := range durationsIn(line) {
			if err := mistyped(d, all); err != nil {
				wrong = append(wrong, InRecord{field, i + 1, err})
			}
		}
	}
	return wrong
}

// mistyped is an error if a duration is written as people write none, or stands once among all, and another one there is the
// same but for a digit that is doubled or two that are swapped.
func mistyped(d string, all []string) error {
	// mutant: a duration may begin with a zero
	if zeroFirst.MatchString(d) {
		return fmt.Errorf("the duration %s has a number that begins with a zero: leave the zero out, or put it where it belongs", d)
	}
	if m := minutes.FindStringSubmatch(d); m != nil {
		n, _ := strconv.Atoi(m[1]) // of six digits at most
		// mutant: a duration may be a hundred and ten minutes
		if n > 90 && n%30 != 0 {
			return fmt.Errorf("the duration %s is %s: write that, if there is no digit too many", d,
				strings.TrimSuffix((time.Duration(n)*time.Minute).String(), "0s"))
		}
	}
	count := 0
	for _, other := range all {
		if other == d {
			count++
		}
	}
	if count > 1 {
		return nil
	}
	for _, other := range all {
		// mutant: a duration with a digit twice is another duration
		if doubled(d, other) && !natural(d) || swapped(d, other) {
			return fmt.Errorf("the duration %s stands there only, and differs from %s by a slip of the pen: did you mean that? "+
				"If both are meant, write one in another unit", d, other)
		}
	}
	return nil
}

// natural reports whether a duration with a digit twice is one that people choose beside the one without: seconds are measured,
// and any number is right, and eleven minutes are ten and one more.
func natural(d string) bool { return strings.HasSuffix(d, "s") || strings.HasPrefix(d, "11") }

// doubled reports whether a text is another one with a digit that stands there twice.
func doubled(long, short string) bool {
	if len(long) != len(short)+1 {
		return false
	}
	for i := 1; i < len(long); i++ {
		if long[i] == long[i-1] && long[i] <= '9' && long[:i]+long[i+1:] == short {
			return true
		}
	}
	return false
}

// swapped reports whether a text is another one with two digits in the place of each other.
func swapped(a, b string) bool {
	for i := 1; i < len(a) && len(a) == len(b) && a != b; i++ {
		if a[i-1] <= '9' && a[i] <= '9' && a[:i-1]+string(a[i])+string(a[i-1])+a[i+1:] == b {
			return true
		}
	}
	return false
}
