package sentences

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// A record to wait for, in words:
//
//	"ACTOR"|somebody has [ever] sent|been refused "VERB" of "RESOURCE[/PART]" ["[NAMESPACE/]NAME"] [N times]
//	"SOURCE" has [ever] recorded "VERB" of "RESOURCE" ["[NAMESPACE/]NAME"] [N times]
//
// The first is a call to the API server, on the object itself unless a part is named, as
// in "pods/eviction". The second is of any source.
const (
	recordWords  = `((?:"[^"]+"|somebody) has (?:ever )?(?:sent|been refused|recorded) "[^"]+" of "[^"]+"(?: "[^"]+")?(?: \d+ times)?)`
	onceWords    = " once "
	thisRecorded = "this is recorded"
)

var recordParts = regexp.MustCompile(`^(?:"([^"]+)"|somebody) has (ever )?(sent|been refused|recorded) "([^"]+)" of "([^"]+)"(?: "([^"]+)")?(?: (\d+) times)?$`)

var timesSaid = regexp.MustCompile(` \d+ times$`)

// awaited is a record that a step waits for. In YAML, the fields of a pattern are beside
// the others.
type awaited struct {
	checker.Pattern
	// Count is how many records have to match. Zero means one.
	Count int `json:"count,omitempty"`
	// Ever counts those of the whole run; otherwise those since the Whens began that the
	// step is of.
	Ever bool `json:"ever,omitempty"`
	// Within is how long it may take, in virtual time. Zero means longestWait.
	Within checker.Duration `json:"within,omitempty"`

	said string
}

// longestWait is long for whatever autoscalers do: two of their longest timeouts.
const longestWait = time.Hour

// inWords reads a record in words.
func inWords(said string) (a awaited, err error) {
	m := recordParts.FindStringSubmatch(said)
	if m == nil {
		return a, fmt.Errorf("%q is no record to wait for", said)
	}
	who, does, verb, of, name := m[1], m[3], m[4], m[5], m[6]
	pattern := map[string]any{"verb": verb}
	if name != "" {
		if namespace, rest, is := strings.Cut(name, "/"); is {
			pattern["namespace"], name = namespace, rest
		}
		pattern["name"] = name
	}
	switch {
	case does != "recorded":
		resource, part, is := strings.Cut(of, "/")
		pattern["source"], pattern["resource"] = history.API, resource
		pattern["detail"] = map[string]any{"subresource": map[string]any{"exists": false}}
		if is {
			pattern["detail"] = map[string]any{"subresource": part}
		}
		if who != "" {
			pattern["actor"] = who
		}
		if does == "been refused" {
			pattern["code"] = map[string]any{"not": []int{200, 201, 202}}
		}
	case who == "":
		return a, fmt.Errorf(`%q: say which source has recorded it: one of %v`, said, history.Sources())
	default:
		pattern["source"], pattern["resource"] = who, of
	}
	text, err := json.Marshal(pattern)
	if err == nil {
		err = json.Unmarshal(text, &a.Pattern)
	}
	if err != nil {
		return a, fmt.Errorf("%q: %w", said, err)
	}
	a.Ever, a.said = m[2] != "", said
	if m[7] != "" {
		if a.Count, err = strconv.Atoi(m[7]); err != nil {
			return a, fmt.Errorf("%q: %w", said, err)
		}
	}
	return a, a.check()
}

// inYAML reads a record as a pattern.
func inYAML(text string) (a awaited, err error) {
	if err = strict.Unmarshal([]byte(text), &a); err != nil {
		return a, fmt.Errorf("the record to wait for: %w", err)
	}
	a.said = a.String()
	return a, a.check()
}

func (a awaited) check() error {
	if a.Count < 0 {
		return fmt.Errorf("the record to wait for: count: %d is negative", a.Count)
	}
	if err := a.Check(); err != nil {
		return fmt.Errorf("the record to wait for: %w", err)
	}
	return nil
}

// await waits for the record, which $name and so on stand for from then on.
func (s *scenario) await(ctx context.Context, a awaited) error {
	if s.world == nil {
		return errNoCluster
	}
	since, d, want, seen := s.asked, longestWait, max(a.Count, 1), 0
	if a.Ever {
		since = 0
	}
	if a.Within > 0 {
		d = time.Duration(a.Within)
	}
	found, err := s.within(ctx, d, since, func(r history.Record) bool {
		if a.Matches(r) {
			seen++
		}
		return seen >= want
	})
	switch {
	case errors.Is(err, errWindow):
		return fmt.Errorf("waiting for %s: %d of %d records within %s", a.said, seen, want, d)
	case err != nil:
		return fmt.Errorf("waiting for %s: %w", a.said, err)
	}
	s.awaited = &found
	return nil
}

var errNoCluster = errors.New(`there is no cluster yet: say "a cluster" before`)

func (s *scenario) awaitWords(ctx context.Context, said string) error {
	a, err := inWords(said)
	if err != nil {
		return err
	}
	return s.await(ctx, a)
}

func (s *scenario) awaitYAML(ctx context.Context, text *godog.DocString) error {
	a, err := inYAML(text.Content)
	if err != nil {
		return err
	}
	return s.await(ctx, a)
}

// waits lets every When wait for a record, in words or quoted in YAML.
type waits struct {
	sentences
	s *scenario
}

func (w waits) When(pattern, do any) {
	w.sentences.When(pattern, do)
	words := strings.TrimSuffix(pattern.(string), "$")
	if words, quotes := strings.CutSuffix(words, ":"); quotes {
		w.sentences.When(words+onceWords+recordWords+":$", w.s.once(do, w.s.awaitWords))
		return
	}
	w.sentences.When(words+onceWords+recordWords+"$", w.s.once(do, w.s.awaitWords))
	w.sentences.When(words+onceWords+thisRecorded+":$", w.s.once(do, w.s.awaitYAML))
}

var docStringType = reflect.TypeFor[*godog.DocString]()

// once is the step that waits and then does. Its arguments are those of do, then the
// record to wait for in words; what is quoted comes last.
func (s *scenario) once(do, await any) any {
	t := reflect.TypeOf(do)
	in := []reflect.Type{contextType}
	withContext := t.NumIn() > 0 && t.In(0) == contextType
	for i := range t.NumIn() {
		if i > 0 || !withContext {
			in = append(in, t.In(i))
		}
	}
	at := len(in) // of the record
	if in[at-1] == docStringType {
		at--
	}
	record := reflect.TypeOf(await).In(1)
	in = append(in[:at:at], append([]reflect.Type{record}, in[at:]...)...)
	step := reflect.FuncOf(in, []reflect.Type{errorType}, false)
	return reflect.MakeFunc(step, func(args []reflect.Value) []reflect.Value {
		out := reflect.ValueOf(await).Call([]reflect.Value{args[0], args[at]})
		if !out[0].IsNil() {
			return out
		}
		rest := append(args[:at:at], args[at+1:]...)
		if !withContext {
			rest = rest[1:]
		}
		if out := reflect.ValueOf(do).Call(rest); len(out) > 0 {
			return out
		}
		return []reflect.Value{reflect.Zero(errorType)}
	}).Interface()
}

// ofAwaited is what stands for a field of the record that was waited for.
var ofAwaited = regexp.MustCompile(`\$(name|namespace|actor|detail\.[A-Za-z]+)\b`)

// fillIn fills all values of an object that are such a field and nothing else.
func (s *scenario) fillIn(value any) (err error) {
	text := func(v any) any {
		said, is := v.(string)
		if !is || ofAwaited.FindString(said) != said || said == "" {
			err = errors.Join(err, s.fillIn(v))
			return v
		}
		filled, wrong := s.fill(said)
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
func (s *scenario) fill(text string) (filled string, err error) {
	filled = ofAwaited.ReplaceAllStringFunc(text, func(field string) string {
		if s.awaited == nil {
			err = errors.Join(err, fmt.Errorf("%s in %q: no record was waited for", field, text))
			return field
		}
		value := ""
		switch r := s.awaited; field {
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
			err = errors.Join(err, fmt.Errorf("%s in %q: the record that was waited for, %s %s, has none", field, text, s.awaited.Verb, s.awaited.Object))
		}
		return value
	})
	return filled, err
}
