package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history/vocabulary"
)

// Values says which values of a field match. In YAML one of
//
//	create                 this value
//	[patch, update]        any of these
//	{not: create}          none of these; a missing field matches
//	{contains: "a:NoExecute"}   a list with one of these, or a text with it inside
//	{lacks: "a:NoExecute"}      a list or text that is there and has none of these
//	{matches: "web-[a-z0-9]+"}  a text that the regular expression (RE2) matches as a whole
//	{above: 3}, {below: 3} a number that is more, or less
//	{exists: true}         any value at all; false: no value
//
// "$claim" stands for what an earlier element captured as claim, and "${claim}" inside of a
// longer text, as in "hcloud://${id}". Numbers and
// booleans are compared by their text.
type Values struct {
	op     string // "" for is, or one of Comparisons
	values []string

	expressions []*regexp.Regexp // of matches
}

var Comparisons = []string{"not", "contains", "lacks", "matches", "above", "below", "exists"} // by their names in YAML

// UnmarshalJSON implements json.Unmarshaler.
func (v *Values) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return v.setValues(text)
	}
	var ops map[string]json.RawMessage
	if err := json.Unmarshal(text, &ops); err != nil {
		return err
	}
	if len(ops) != 1 {
		return fmt.Errorf("%s: want one of %s", text, strings.Join(Comparisons, ", "))
	}
	for op, operand := range ops {
		if !slices.Contains(Comparisons, op) {
			return fmt.Errorf("unknown comparison %q (allowed: a value, a list of values, %s)", op, strings.Join(Comparisons, ", "))
		}
		v.op = op
		if err := v.setValues(operand); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		if op == "matches" {
			if err := v.compile(); err != nil {
				return err
			}
		}
		if op == "exists" && !slices.Equal(v.values, []string{"true"}) && !slices.Equal(v.values, []string{"false"}) {
			return fmt.Errorf("exists: want true or false, not %s", operand)
		}
	}
	return nil
}

// Op is the comparison, "" for is. With Values it is for package vocabulary.
func (v *Values) Op() string { return v.op }

// Values are what is compared with, as they are written.
func (v *Values) Values() []string { return v.values }

// MarshalJSON writes what UnmarshalJSON reads: a record's digest is made of it.
func (v Values) MarshalJSON() ([]byte, error) {
	if v.op == "" {
		return json.Marshal(v.values)
	}
	// mutant: what a record compares with is no part of its digest
	return json.Marshal(map[string][]string{v.op: v.values})
}

func (v *Values) setValues(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	v.values = nil
	for _, item := range list {
		text, ok := scalar(item)
		if !ok || text == "" {
			return fmt.Errorf("%v is no value to compare with: want text, a number, true or false", item)
		}
		v.values = append(v.values, text)
	}
	if len(v.values) == 0 {
		return errors.New("the list of values is empty")
	}
	return nil
}

// compile reads the regular expressions, which take no time worth a bound: RE2 looks at each
// letter once.
func (v *Values) compile() error {
	for _, text := range v.values {
		// mutant: any text matches
		expression, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			return fmt.Errorf("matches: %q is no regular expression: %w", text, err)
		}
		v.expressions = append(v.expressions, expression)
	}
	return nil
}

// isSet reports whether the field is compared at all.
func (v *Values) isSet() bool { return v != nil && len(v.values) > 0 }

// WholeValues are the values that a field is compared with as a whole by a text, and not by an expression.
func (v *Values) WholeValues() []string {
	if v == nil || v.op == "matches" {
		return nil
	}
	return v.Plain()
}

// Plain are the values that a field is compared with as a whole, without those that come of captures and those that are
// expressions of more than one text.
func (v *Values) Plain() (plain []string) {
	if !v.isSet() {
		return nil
	}
	for _, value := range v.values {
		switch v.op {
		case "matches":
			if regexp.QuoteMeta(value) != value {
				continue
			}
		case "", "not":
			if len(vocabulary.Captures(value)) > 0 {
				continue
			}
		default:
			continue
		}
		plain = append(plain, value)
	}
	return plain
}

// MayMatch reports whether a field that has one of these values, or is missing where it may be, can match.
func (v *Values) MayMatch(of []string) bool {
	return v.op == "not" || len(v.captures()) > 0 || slices.ContainsFunc(of, func(value string) bool { return v.match(value, nil) })
}

// check finds what no value of an event can be: a bound that is no number, and a capture that is not read as one.
func (v *Values) check() error {
	if !v.isSet() {
		return nil
	}
	for _, value := range v.values {
		if err := vocabulary.CheckCaptures(value); err != nil && v.op != "matches" {
			return err
		}
	}
	if v.op != "above" && v.op != "below" {
		return nil
	}
	// mutant: a bound that is no number bounds something
	if n, err := strconv.ParseFloat(v.values[0], 64); err != nil || math.IsNaN(n) || math.IsInf(n, 0) || len(v.values) > 1 {
		return fmt.Errorf("%s: want a number, not %s", v.op, strings.Join(v.values, ", "))
	}
	return nil
}

// onlyHas reports whether no other values than these match.
func (v *Values) onlyHas(these ...string) bool {
	return v.isSet() && v.op == "" && !slices.ContainsFunc(v.values, func(value string) bool { return !slices.Contains(these, value) })
}

// match compares a field's value; nil means that the field is not there.
func (v *Values) match(actual any, captured map[string]string) bool {
	if !v.isSet() {
		return true
	}
	if v.op == "exists" {
		return (actual != nil) == (v.values[0] == "true")
	}
	if actual == nil {
		return v.op == "not"
	}
	wanted := func(test func(string) bool) bool {
		return slices.ContainsFunc(v.values, func(value string) bool {
			// mutant: every value fits a capture
			return test(vocabulary.FillCaptures(value, captured))
		})
	}
	switch v.op {
	case "contains":
		return wanted(func(value string) bool { return hasValue(actual, value) })
	case "lacks":
		// mutant: lacks is contains
		return !wanted(func(value string) bool { return hasValue(actual, value) })
	}
	text, ok := scalar(actual)
	switch v.op {
	case "matches":
		return ok && slices.ContainsFunc(v.expressions, func(e *regexp.Regexp) bool { return e.MatchString(text) })
	case "above", "below":
		return ok && v.compareNumber(text)
	}
	is := ok && wanted(func(value string) bool { return text == value })
	return is == (v.op == "")
}

// compareNumber compares numbers. What is none is neither above nor below one.
func (v *Values) compareNumber(text string) bool {
	number, err := strconv.ParseFloat(text, 64)
	than, _ := strconv.ParseFloat(v.values[0], 64) // setValues has read it
	return err == nil && (v.op == "above" && number > than || v.op == "below" && number < than)
}

// captures lists the names of the captures that the values refer to.
func (v *Values) captures() []string {
	if v == nil {
		return nil
	}
	var names []string
	if v.op == "matches" {
		return nil // $ is the end of the text
	}
	for _, value := range v.values {
		names = append(names, vocabulary.Captures(value)...)
	}
	return names
}

// hasValue reports whether a list has the value, or a text has it inside.
func hasValue(actual any, value string) bool {
	list, ok := actual.([]any)
	if !ok {
		text, ok := scalar(actual)
		return ok && strings.Contains(text, value)
	}
	return slices.ContainsFunc(list, func(item any) bool {
		text, ok := scalar(item)
		return ok && text == value
	})
}

// scalar is the text of a JSON text, number or boolean.
func scalar(value any) (text string, ok bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(value), true
	}
	return "", false
}
