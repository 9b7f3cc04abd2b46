package scene

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ofAwaited is what stands for a field of the record that was waited for.
var ofAwaited = regexp.MustCompile(`\$(name|namespace|actor|detail\.[A-Za-z]+)\b`)

// Now as a value of an object is the time of the world, in whole seconds as objects have it.
const Now = "$now"

// ofObject as a value is the UID of an object that is there, see words' KIND/NAME.
var ofObject = regexp.MustCompile(`^\$uid\((.+)\)$`)

// FillIn fills all values of an object that are such a field and nothing else, or a time, or the UID of an object that uid finds.
func (s *Scene) FillIn(value any, uid func(object string) (string, error)) (err error) {
	text := func(v any) any {
		said, is := v.(string)
		var filled string
		var wrong error
		switch of := ofObject.FindStringSubmatch(said); {
		case is && said == Now:
			filled = s.World.Clock().Now().UTC().Format(time.RFC3339)
		case is && of != nil:
			filled, wrong = uid(of[1])
		case is && said != "" && ofAwaited.FindString(said) == said:
			filled, wrong = s.Fill(said)
		default:
			err = errors.Join(err, s.FillIn(v, uid))
			return v
		}
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
