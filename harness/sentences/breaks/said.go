package breaks

import (
	"fmt"
	"sync"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/fault"
)

// CheckSentence finds what is wrong with a sentence about a fault, as far as that is so in
// any world.
func CheckSentence(sentence string) error {
	_, err := Read(sentence)
	return err
}

// Read is the fault that a sentence says.
func Read(text string) ([]fault.Fault, error) {
	s, args, err := find(text)
	if err != nil {
		return nil, err
	}
	return s.read(text, args)
}

// Named is the list in YAML with the fault that a sentence says, by another name.
func Named(name, text string) ([]byte, error) {
	s, args, err := find(text)
	if err != nil {
		return nil, err
	}
	list, err := s.yaml(name, args)
	if err != nil {
		return nil, err
	}
	return list, Check(list)
}

// expressions are those of the sentences about faults.
var expressions = sync.OnceValue(func() (all []*words.Expression) {
	for _, s := range allSentences() {
		all = append(all, words.New(s.source))
	}
	return all
})

// find finds the sentence about a fault.
func find(text string) (sentence, []string, error) {
	for i, e := range expressions() {
		if args, is := e.Match(text); is {
			return allSentences()[i], args.Texts(), nil
		}
	}
	if now, is := words.Newer(text, ""); is {
		return sentence{}, nil, fmt.Errorf("the fault %q is called %q now: nodestorm lint --fix rewrites it", text, now)
	}
	said := fmt.Sprintf("unknown fault %q", text)
	if i, found := words.Nearest(text, expressions(), func(int) bool { return false }); found {
		near := expressions()[i]
		if wrong := near.Wrong(text); wrong != "" {
			said += fmt.Sprintf(": %s, in %q", wrong, near.Words)
		} else {
			said += fmt.Sprintf(": did you mean %q", near.Words)
		}
	}
	return sentence{}, nil, fmt.Errorf("%s; nodestorm sentences prints those that are", said)
}

// Examples are sentences about faults that a world which runs takes.
func Examples() (all []string) {
	for _, e := range expressions() {
		all = append(all, e.Example)
	}
	return all
}

// ExampleOf is a list in YAML with the fault that the example of an effect's first sentence says, called after the effect.
func ExampleOf(l *fault.List, key string) (text []byte, err error) {
	for i, s := range allSentences() {
		if s.subject.List == l && s.kind.Key == key {
			return Named(key, expressions()[i].Example)
		}
	}
	return nil, fmt.Errorf("no sentence says %s of %s", key, l.Name)
}

// Check finds what is wrong with a list of faults in YAML.
func Check(text []byte) error {
	_, err := Parse(text)
	return err
}
