package sentences

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
)

// ofAwaited is what stands for a field of the record that was waited for.
var ofAwaited = regexp.MustCompile(`\$(name|namespace|actor|detail\.[A-Za-z]+)\b`)

// fillIn fills all values of an object that are such a field and nothing else.
func fillIn(s *scene.Scene, value any) (err error) {
	text := func(v any) any {
		said, is := v.(string)
		if !is || ofAwaited.FindString(said) != said || said == "" {
			err = errors.Join(err, fillIn(s, v))
			return v
		}
		filled, wrong := fill(s, said)
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

// fill puts in what the record has that was waited for.
func fill(s *scene.Scene, text string) (filled string, err error) {
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

// checkFilled finds what stands for a record's field where no record was waited for.
func checkFilled(f *scene.Feature, text string) error {
	// mutant: $name may stand for nothing
	if field := ofAwaited.FindString(text); field != "" && !f.Awaited {
		return fmt.Errorf("%s stands for the name in a record that was waited for, and nothing is: say %q before, or after the action",
			field, "once …")
	}
	return nil
}

// nobody reports whether doing something to an object of a scenario that was drawn came to
// nothing because there is no newest or oldest one, or none any more.
func nobody(s *scene.Scene, ref string, err error) bool {
	_, name, _ := strings.Cut(ref, "/")
	// mutant: what somebody wrote may be done to nobody
	return s.Drawn && (name == then.Newest || name == then.Oldest) && (errors.As(err, new(*then.NoneError)) || apierrors.IsNotFound(err))
}
