package sentences

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/harness/run/then"
	"nodestorm/sim/history"
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

// longestWait is long for whatever autoscalers do: two of their longest timeouts.
const longestWait = time.Hour

// await waits for the record, which $name and so on stand for from then on.
func (s *scenario) await(ctx context.Context, a then.Awaited) error {
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
		return fmt.Errorf("waiting for %s: %d of %d records within %s", a.Said, seen, want, d)
	case err != nil:
		return fmt.Errorf("waiting for %s: %w", a.Said, err)
	}
	s.awaited = &found
	return nil
}

var errNoCluster = errors.New(`there is no cluster yet: say "a cluster" before`)

func (s *scenario) awaitWords(ctx context.Context, said string) error {
	a, err := then.InWords(said)
	if err != nil {
		return err
	}
	return s.await(ctx, a)
}

func (s *scenario) awaitYAML(ctx context.Context, text *godog.DocString) error {
	a, err := then.InYAML(text.Content)
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

var (
	docStringType = reflect.TypeFor[*godog.DocString]()
	contextType   = reflect.TypeFor[context.Context]()
	errorType     = reflect.TypeFor[error]()
)

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
