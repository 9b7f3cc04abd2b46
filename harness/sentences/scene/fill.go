package scene

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ofAwaited is what stands for a field of the record that was waited for.
var ofAwaited = regexp.MustCompile(`\$(name|namespace|actor|detail\.[A-Za-z]+)\b`)

// FillIn fills all values of an object that are such a field and nothing else.
func (s *Scene) FillIn(value any) (err error) {
	text := func(v any) any {
		said, is := v.(string)
		if !is || ofAwaited.FindString(said) != said || said == "" {
			err = errors.Join(err, s.FillIn(v))
			return v
		}
		filled, wrong := s.Fill(said)
		err = errors.Join(err, wrong)
		return filled
	}
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			value[key] = text(v)
		}
	case []any:
		for i, v := range value {
			value[i] = text(v)
		}
	}
	return err
}

// Fill puts in what the record has that was waited for.
func (s *Scene) Fill(text string) (filled string, err error) {
	filled = ofAwaited.ReplaceAllStringFunc(text, func(field string) string {
		if s.Awaited == nil {
			err = errors.Join(err, fmt.Errorf("%s in %q: no record was waited for", field, text))
			return field
		}
		value := ""
		switch r := s.Awaited; field {
		case "$name":
			value = r.Object.Name
		case "$namespace":
			value = r.Object.Namespace
		case "$actor":
			value = r.Actor
		default:
			value, _ = r.Detail[strings.TrimPrefix(field, "$detail.")].(string)
		}
		if value == "" {
			err = errors.Join(err, fmt.Errorf("%s in %q: the record that was waited for, %s %s, has none",
				field, text, s.Awaited.Verb, s.Awaited.Object))
		}
		return value
	})
	return filled, err
}

// CheckFilled finds what stands for a record's field where no record was waited for.
func (f *Feature) CheckFilled(text string) error {
	// mutant: $name may stand for nothing
	if field := ofAwaited.FindString(text); field != "" && !f.Awaited {
		return fmt.Errorf("%s stands for the name in a record that was waited for, and nothing is: say %q before, or after the action",
			field, "once …")
	}
	return nil
}
