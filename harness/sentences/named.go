package sentences

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// named are statements of which a Then is a readable name: all of them have to hold in the
// window that the sentence has, or else until then. They are a list in YAML, in which $1
// stands for the sentence's first argument as text inside quotes, and #1 for the number
// that it is.
type named string

// observer is the function that makes an observation of the arguments of a sentence.
func (n named) observer(pattern string) any {
	in := make([]reflect.Type, regexp.MustCompile(pattern).NumSubexp())
	for i := range in {
		in[i] = reflect.TypeFor[string]()
	}
	window := -1
	if before, _, has := strings.Cut(pattern, span); has {
		window = regexp.MustCompile(before).NumSubexp()
	}
	observe := func(args []string) (observation, error) {
		list, err := n.statements(args)
		if err != nil {
			return observation{}, err
		}
		d := time.Duration(0)
		if window >= 0 {
			if d, err = duration(args[window]); err != nil {
				return observation{}, err
			}
		}
		return together(list, d), nil
	}
	return reflect.MakeFunc(reflect.FuncOf(in, []reflect.Type{observationType, errorType}, false), func(values []reflect.Value) []reflect.Value {
		args := make([]string, len(values))
		for i, v := range values {
			args[i] = v.String()
		}
		o, err := observe(args)
		return []reflect.Value{reflect.ValueOf(o), reflect.ValueOf(&err).Elem()}
	}).Interface()
}

// with is the list in YAML, of these arguments.
func (n named) with(args []string) string {
	var pairs []string
	for i, arg := range args {
		text, _ := json.Marshal(arg) // of a text there is no error
		pairs = append(pairs, fmt.Sprintf("$%d", i+1), string(text[1:len(text)-1]))
		if number, err := strconv.Atoi(arg); err == nil {
			pairs = append(pairs, fmt.Sprintf("#%d", i+1), strconv.Itoa(number))
		}
	}
	return strings.NewReplacer(pairs...).Replace(string(n))
}

func (n named) statements(args []string) ([]checker.Statement, error) {
	var list struct {
		All []checker.Statement `json:"all"`
	}
	if err := strict.Unmarshal([]byte("all:\n"+n.with(args)), &list); err != nil {
		return nil, err
	}
	for i := range list.All {
		if err := list.All[i].Check(); err != nil {
			return nil, err
		}
	}
	return list.All, nil
}

// together observes statements that all have to hold.
func together(list []checker.Statement, window time.Duration) observation {
	open := make([]observation, len(list))
	for i, s := range list {
		open[i] = observing(s, window)
	}
	return observation{
		window: window,
		see: func(r history.Record, at phase) (bool, error) {
			left := open[:0]
			for _, o := range open {
				decided, err := o.see(r, at)
				switch {
				case !decided:
					left = append(left, o)
				case err != nil:
					return true, err
				}
			}
			open = left
			return len(open) == 0, nil
		},
		over: func() error {
			for _, o := range open {
				if err := o.over(); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
