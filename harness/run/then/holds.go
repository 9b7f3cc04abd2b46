package then

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// observeAll observes all statements that the sentence is a name for, of these arguments.
func (s Sentence) observeAll(args words.Args) (Observation, error) {
	list, err := s.statements(args.Texts())
	if err != nil {
		return Observation{}, err
	}
	window := time.Duration(0)
	if said := args.Named("DURATION"); said != "" {
		if window, err = words.Duration(said); err != nil {
			return Observation{}, err
		}
	}
	return allHold(list, window), nil
}

// StatementsYAML are the statements in YAML, of these arguments.
func (s Sentence) StatementsYAML(args []string) string {
	var pairs []string
	for i, arg := range args {
		text, _ := json.Marshal(arg) // of a text there is no error
		pairs = append(pairs, fmt.Sprintf("$%d", i+1), string(text[1:len(text)-1]))
		if number, err := strconv.Atoi(arg); err == nil {
			pairs = append(pairs, fmt.Sprintf("#%d", i+1), strconv.Itoa(number))
		}
	}
	return strings.NewReplacer(pairs...).Replace(s.Holds)
}

func (s Sentence) statements(args []string) ([]checker.Statement, error) {
	var list struct {
		All []checker.Statement `json:"all"`
	}
	if err := strict.Unmarshal([]byte("all:\n"+s.StatementsYAML(args)), &list); err != nil {
		return nil, err
	}
	for i := range list.All {
		if err := list.All[i].Check(); err != nil {
			return nil, err
		}
	}
	return list.All, nil
}

// allHold observes statements that all have to hold.
func allHold(list []checker.Statement, window time.Duration) Observation {
	open := make([]Observation, len(list))
	for i, of := range list {
		open[i] = observing(of, window)
	}
	return Observation{
		window: window, stated: list,
		see: func(r history.Entry, at phase) (bool, error) {
			left := open[:0]
			for _, o := range open {
				decided, err := o.see(r, at)
				switch {
				case !decided:
					left = append(left, o)
				case err != nil:
					// mutant: of several statements the last will do
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
