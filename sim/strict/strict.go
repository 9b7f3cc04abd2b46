// Package strict reads what people write, and strangers: of files those only that have an end, and
// as long as a context lasts; of YAML into Go values, and says what is wrong with it in one line: the
// field by its path, and the fields allowed there. It checks form only; what a value means is its type's business.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"nodestorm/sim/oneline"
)

// Unmarshal reads one YAML document into the value that into points to, by its
// json tags. Unknown fields, duplicate fields, fields in another case, values of
// another type, an empty document and a second one are errors.
func Unmarshal(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("the document is empty")
	}
	if bytes.Contains(bytes.TrimPrefix(data, []byte("---")), []byte("\n---")) {
		return errors.New("more than one YAML document; keep one a file")
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return oneline.YAML(err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return fmt.Errorf("not a mapping of fields (allowed: %s)", allowed(reflect.TypeOf(into), ""))
	}
	problems, err := sigsjson.UnmarshalStrict(text, into)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		return fmt.Errorf("field %q: found %s, want %s", embedded.ReplaceAllString(wrong.Field, ""), wrong.Value, kind(wrong.Type))
	}
	if err != nil {
		return oneline.YAML(err)
	}
	if len(problems) == 0 {
		return nil
	}
	var texts []string
	for _, problem := range problems {
		text := problem.Error()
		if at := sigsjson.FieldError(nil); errors.As(problem, &at) {
			if fields := allowed(reflect.TypeOf(into), at.FieldPath()); fields != "" {
				path := strings.Split(at.FieldPath(), ".")
				text += " (allowed: " + fields + ")" + Meant(path[len(path)-1], strings.Split(fields, ", "))
			}
		}
		texts = append(texts, text)
	}
	return Problems(texts)
}

// embedded are the names of Go's types in the path of a field, which no file has.
var embedded = regexp.MustCompile(`^(?:[A-Z]\w*\.)+`)

// Meant is ", did you mean …?" for a word that is close to one of those that are known,
// else empty. Of several as close it is the one that begins alike the longest: v1.7.0 for
// v1.7.99, and not v1.0.9.
func Meant(word string, known []string) string {
	best, least, longest := "", len(word)/2+1, 0
	for _, other := range slices.Sorted(slices.Values(known)) {
		d, same := distance(strings.ToLower(word), strings.ToLower(other)), commonPrefix(word, other)
		if d < least || d == least && best != "" && same > longest {
			best, least, longest = other, d, same
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// Nearest is the one of those known that a word is a slip of the pen away from, empty if it is one of them or like none: a letter
// or two that are other, missing, too many or the wrong way round, and no digits.
func Nearest(word string, known []string) string { return nearest(word, known, letters) }

// NearestName is Nearest for names in which digits are no numbers, such as those of API groups: a digit is as a letter.
func NearestName(word string, known []string) string {
	return nearest(word, known, func(name string) string { return name })
}

// nearest leaves out words that are the same once reduced.
func nearest(word string, known []string, reduced func(string) string) string {
	if slices.Contains(known, word) {
		return ""
	}
	best, least := "", 1
	if len(word) >= longWord {
		least = 2
	}
	for _, other := range slices.Sorted(slices.Values(known)) {
		if d := slips(word, other, least); len(word) >= shortWord && len(other) >= shortWord && d <= least && reduced(word) != reduced(other) {
			best, least = other, d-1
		}
	}
	return best
}

// In words shorter than shortWord a slip makes another word, in those of longWord there can be two.
const shortWord, longWord = 3, 8

// letters are a word without its digits: what differs in them alone is numbered.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, word)
}

// slips is distance, of which two letters the wrong way round are one; more than most if it is.
func slips(a, b string, most int) int {
	for i := range min(len(a), len(b)) - 1 {
		if a[i] != b[i] && a[i] == b[i+1] && a[i+1] == b[i] {
			return min(1+distance(a[i+2:], b[i+2:]), distance(a, b)) // a letter that is missing may look like two that are swapped
		}
		if a[i] != b[i] {
			break
		}
	}
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	return distance(a, b)
}

// commonPrefix is how many letters two words begin with both.
func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is how many letters have to be put in, taken out or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Problems are all fields that are wrong, a text each. The value was read as far as its
// other fields go.
type Problems []string

func (p Problems) Error() string { return strings.Join(p, "; ") }

// allowed lists the fields of the struct that holds the field at path, "" where
// there is none.
func allowed(t reflect.Type, path string) string {
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		if of := element(t); of.Kind() == reflect.Map {
			t = of.Elem()
			continue
		}
		name, _, _ := strings.Cut(step, "[")
		field, ok := fields(element(t))[name]
		if !ok {
			return ""
		}
		t = field
	}
	t = element(t)
	var names []string
	if t.Kind() == reflect.Struct {
		names = fieldNames(t)
	}
	return strings.Join(names, ", ")
}

// element is the type below pointers and lists.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

func fields(t reflect.Type) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return found
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, ok := jsonName(f); ok {
			found[name] = f.Type
		}
	}
	return found
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, ok := jsonName(f); ok {
			names = append(names, name)
		}
	}
	return names
}

func jsonName(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, f.IsExported() && name != "" && name != "-"
}

// kind names a Go type in the words of a YAML file.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}
