package checker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// State is a value that events set, and how it has to be.
type State struct {
	// Value is the field that has it, such as detail.to, of the latest of the events Of, until their object is deleted, of which
	// finally says nothing any more. Events without the field change nothing. Required.
	Value   string   `json:"value"`
	Of      *Pattern `json:"of"`                // Of are the events that set the value. Required.
	Is      *Values  `json:"is,omitempty"`      // Is are values of which it has one.
	Above   *float64 `json:"above,omitempty"`   // Above is a number that is less than the value.
	Below   *float64 `json:"below,omitempty"`   // Below is a number that is more than the value.
	AtLeast *float64 `json:"atLeast,omitempty"` // AtLeast is the least that the value may be.
	AtMost  *float64 `json:"atMost,omitempty"`  // AtMost is the most that the value may be.
}

func (s *State) check() error {
	if s.Of == nil {
		return errors.New("of is missing: say which events set the value")
	}
	if err := s.Of.checkPath(s.Value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if err := s.Is.check(); err != nil {
		return fmt.Errorf("is: %w", err)
	}
	if err := s.checkValue(); err != nil {
		return err
	}
	bounds := s.bounds()
	switch {
	case s.Is.isSet() && len(bounds) > 0:
		return errors.New("is and bounds: want one of them")
	case s.Is.isSet() && s.Is.op == "exists":
		return errors.New("is: exists says nothing here, the latest event that has the value is compared")
	case !s.Is.isSet() && len(bounds) == 0:
		return errors.New("say how the value is: is, above, below, atLeast, atMost")
	case s.Above != nil && s.AtLeast != nil, s.Below != nil && s.AtMost != nil:
		return errors.New("above and atLeast, or below and atMost: want one of the two")
	}
	for _, low := range bounds {
		for _, high := range bounds {
			if low.lower && !high.lower && (low.than > high.than || low.than == high.than && (low.strict || high.strict)) {
				return fmt.Errorf("%s: %s and %s: %s: no number is both", low.field, short(low.than), high.field, short(high.than))
			}
		}
	}
	return nil
}

type bound struct {
	field         string
	than          float64
	lower, strict bool
}

func (s *State) bounds() (all []bound) {
	for _, b := range []struct {
		field         string
		than          *float64
		lower, strict bool
	}{
		{"above", s.Above, true, true}, {"atLeast", s.AtLeast, true, false},
		{"below", s.Below, false, true}, {"atMost", s.AtMost, false, false},
	} {
		if b.than != nil {
			all = append(all, bound{b.field, *b.than, b.lower, b.strict})
		}
	}
	return all
}

// mismatch compares a value. wrong says why it is another, or "".
func (s *State) mismatch(value any) (wrong string) {
	text, _ := scalar(value)
	if text == "" {
		text = fmt.Sprint(value)
	}
	if s.Is.isSet() {
		if s.Is.match(value, nil) {
			return ""
		}
		return text
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Sprintf("%q, which is no number", text)
	}
	for _, b := range s.bounds() {
		more := number > b.than || !b.strict && number == b.than
		less := number < b.than || !b.strict && number == b.than
		if b.lower && !more || !b.lower && !less {
			return text
		}
	}
	return ""
}

// checkValue finds what the value can never be.
func (s *State) checkValue() error {
	key, is := strings.CutPrefix(s.Value, "detail.")
	if !is {
		return nil
	}
	if s.Is.isSet() && s.Is.op != "exists" {
		if err := s.Of.checkSources(func(source history.Source) error { return vocabulary.Compare(source, key, s.Is) }); err != nil {
			return fmt.Errorf("is: %w", err)
		}
	}
	if len(s.bounds()) == 0 {
		return nil
	}
	return s.Of.checkSources(func(source history.Source) error {
		name, _, _ := strings.Cut(key, ".")
		// mutant: a bound of what is no number bounds something
		if form := vocabulary.FormOf(source, name); form != vocabulary.Number && form != "" {
			return fmt.Errorf("value: detail %q is no number, but a %s: say in is how it is", key, form)
		}
		return nil
	})
}
