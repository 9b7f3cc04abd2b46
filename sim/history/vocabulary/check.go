package vocabulary

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"nodestorm/sim/history"
)

// Check returns an error if an event that was read has a word that is not in the vocabulary: no pattern could ask for it.
func Check(r history.Entry) error {
	if _, known := details[r.Source]; !known {
		return fmt.Errorf("source %q is in no vocabulary", r.Source)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s %s %s: %s", r.Source, r.Verb, r.Object, fmt.Sprintf(format, args...))
	}
	if verbs := Verbs(r.Source); verbs != nil && !slices.Contains(verbs, r.Verb) {
		return wrong("the verb %q is not in the vocabulary", r.Verb)
	}
	if about := ResourcesOf(r.Source, r.Verb); about != nil && !slices.Contains(about, r.Object.Resource) {
		return wrong("it is about %q, and in the vocabulary about one of %q", r.Object.Resource, about)
	}
	if r.Code != 0 && !HasCode(r.Source) || r.Object.Namespace != "" && !HasNamespace(r.Source) {
		return wrong("it has a code or a namespace, and in the vocabulary none of its source has")
	}
	for _, key := range slices.Sorted(maps.Keys(r.Detail)) {
		if err := checkDetail(r, key); err != nil {
			return wrong("%v", err)
		}
	}
	return nil
}

func checkDetail(r history.Entry, key string) error {
	want, known := details[r.Source][key]
	switch value := r.Detail[key]; {
	case !known:
		return fmt.Errorf("the detail %q is not in the vocabulary", key)
	case !want.accepts(value) && !Open(r.Source):
		return fmt.Errorf("the detail %q is a %s, and a %s in the vocabulary", key, formOf(value), want)
	}
	if only := OnlyOf(key); r.Source == history.API && only != nil && !slices.Contains(only, r.Object.Resource) {
		return fmt.Errorf("the detail %q is in the vocabulary of %q alone", key, only)
	}
	return nil
}

// condition is a status as conditions have it, and its reason.
var condition = regexp.MustCompile(`^(True|False|Unknown)(: .+)?$`)

// IsCondition reports whether a text is that of a condition.
func IsCondition(text string) bool { return condition.MatchString(text) }

// accepts reports whether a value is of the form.
func (f Form) accepts(value any) bool {
	is := formOf(value)
	switch f {
	case Mark:
		return value == true
	case Condition:
		text, _ := value.(string)
		return IsCondition(text)
	}
	return is == f || is == ""
}

// formOf is empty for null: a list without items, as Go writes it.
func formOf(value any) Form {
	switch value.(type) {
	case nil:
		return ""
	case string:
		return Text
	case bool:
		return Truth
	case []any, []string:
		return List
	case map[string]any:
		return Mapping
	}
	return Number
}
