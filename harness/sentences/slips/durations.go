package slips

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/sim/strict"
)

var (
	inText    = regexp.MustCompile(`\b(?:[0-9]+(?:h|ms|m|s))+\b( (?:of )?CPU)?`)
	inYAML    = regexp.MustCompile(`\b(?:within|for|after|every): *["']?((?:[0-9]+(?:h|ms|m|s))+)\b`)
	aField    = regexp.MustCompile(`^([a-z][A-Za-z]*):`)
	zeroFirst = regexp.MustCompile(`(?:^|[a-z])0[0-9]`)
	whole     = regexp.MustCompile(`^([0-9]{1,6})(h|m|s)$`)
	inProse   = regexp.MustCompile(`\b(?:[0-9]+(?:h|ms|m|s))+\b`)
)

// spans are the durations of a scenario with its record: those that are judged, and those that only people read.
type spans struct{ all, prose []string }

func spansOf(steps []*messages.PickleStep, record []byte) (s spans) {
	s.all = durationsIn(string(record))
	for _, step := range steps {
		s.all = append(s.all, durationsOf(step)...)
	}
	for field, line := range fieldLines(record) {
		if slices.Contains(prose, field) {
			s.prose = append(s.prose, inProse.FindAllString(line, -1)...)
		}
	}
	return s
}

// fieldLines are the lines of a record, each with the field that it is of.
func fieldLines(record []byte) iter.Seq2[string, string] {
	return func(yield func(field, line string) bool) {
		field := ""
		for line := range strings.SplitSeq(string(record), "\n") {
			if m := aField.FindStringSubmatch(line); m != nil {
				field = m[1]
			}
			if !yield(field, line) {
				return
			}
		}
	}
}

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
	known := spansOf(steps, record)
	for i, step := range steps {
		for _, d := range durationsOf(step) {
			if err := known.mistyped(d); err != nil {
				wrong = append(wrong, Problem{i, err})
			}
		}
	}
	return wrong
}

// durationsOfRecord is ofDurations for the fields of a record that are judged.
func durationsOfRecord(text []byte, steps []*messages.PickleStep) (wrong []InRecord) {
	known := spansOf(steps, text)
	i := 0
	for field, line := range fieldLines(text) {
		i++
		if !slices.Contains(judged, field) {
			continue
		}
		for _, d := range durationsIn(line) {
			if err := known.mistyped(d); err != nil {
				wrong = append(wrong, InRecord{field, i, err})
			}
		}
	}
	return wrong
}

// mistyped is an error if a duration is written as people write none, or stands once, and another one is the same but for a
// digit that is doubled or two that are swapped, or is what people read of it.
func (s spans) mistyped(d string) error {
	// mutant: a duration may begin with a zero
	if zeroFirst.MatchString(d) {
		return fmt.Errorf("the duration %s has a number that begins with a zero: leave the zero out, or put it where it belongs", d)
	}
	n, unit := 0, ""
	if m := whole.FindStringSubmatch(d); m != nil {
		n, _ = strconv.Atoi(m[1]) // of six digits at most
		unit = m[2]
	}
	// mutant: a duration may be a hundred and ten minutes
	if unit == "m" && n > 90 && n != 120 || unit == "s" && n > 600 {
		long, _ := time.ParseDuration(d)
		return fmt.Errorf("the duration %s is %s: write that, if there is no digit too many", d, strict.Duration(long).Short())
	}
	if count(s.all, d) > 1 {
		return nil
	}
	// mutant: a duration may be any number of minutes
	if unit == "m" && n > 20 && (n%5 != 0 || n == 55) || unit == "h" && n > 10 && n%12 != 0 ||
		unit == "s" && n > 99 && n%111 == 0 {
		units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
		return fmt.Errorf("the duration %s stands there only, and is none that people choose: is there a digit too many, or are two "+
			"swapped? If it is meant, write %s", d, time.Duration(n)*units[unit])
	}
	for _, other := range s.all {
		// mutant: a duration with a digit twice is another duration
		if doubled(d, other) && !s.natural(d, n) || swapped(d, other) {
			return fmt.Errorf("the duration %s stands there only, and differs from %s by a slip of the pen: did you mean that? "+
				"If both are meant, write one in another unit", d, other)
		}
	}
	if slices.Contains(s.prose, d) {
		return nil
	}
	for _, read := range s.prose {
		// mutant: what people read of a duration is another one
		if !slices.Contains(s.all, read) && (tenfold(d, read) || swapped(d, read)) {
			return fmt.Errorf("the duration %s stands there only, and what people read says %s, which nothing is judged by: did you mean "+
				"that? If not, say %s in the record's notes as well", d, read, d)
		}
	}
	return nil
}

// count is how often a text is in a list.
func count(all []string, text string) (n int) {
	for _, other := range all {
		if other == text {
			n++
		}
	}
	return n
}

// natural reports whether a duration with a digit twice is one that people choose beside the one without: seconds are measured,
// and any number of them is right but one of equal digits, and eleven are ten and one more.
func (s spans) natural(d string, n int) bool {
	if n == 11 {
		return strings.HasSuffix(d, "s") || slices.Contains(s.all, strings.Replace(d, "11", "10", 1))
	}
	digits := strings.TrimRight(d, "hms")
	return strings.HasSuffix(d, "s") && strings.Trim(digits, digits[:1]) != ""
}

// tenfold reports whether two texts differ by a zero that one of them has more.
func tenfold(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for i := range b {
		if b[i] == '0' && a == b[:i]+b[i+1:] {
			return true
		}
	}
	return false
}

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
