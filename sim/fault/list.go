package fault

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// List is what can go wrong with one part of the world: the kinds of effects that there are, what
// they strike, and how both are written and said. It is complete once all packages are initialized.
type List struct {
	// Name is the field of the list in YAML.
	Name string
	// About is the part of the world.
	About string
	// Noun is what errors call one of them. Empty means fault.
	Noun string
	// Match is the zero value of what one strikes.
	Match Match
	// Within is the field in YAML that has those of Match. Empty: they are beside the name.
	Within string
	// Below is the field in YAML that has the effect. Empty: it is beside the name.
	Below string
	// Note is what people read of Match's fields.
	Note string
	// Order are the keys of kinds in the order in which people read of them. Others come last.
	Order string
	// Together says what is wrong with faults that are armed together, each of which is good. Nil:
	// nothing can be.
	Together func([]Fault) error

	kinds    []*Kind
	subjects []*Subject
}

// Kind is a kind of effects.
type Kind struct {
	// Key is its field in YAML.
	Key string
	// Effect is its zero value, a struct. Fields that are durations are not negative; with the tag want:"positive"
	// they are more than zero.
	Effect Effect
	// Says are the ways to say it, behind what it is about.
	Says []Words
	// Drawn are what schedules that are drawn have of it. Those of a cloud's effects are in its cloud.yaml.
	Drawn []Drawn

	called string // in events; empty: the key
}

// Called has events call its effects otherwise than by their key. Those with a method String are called that.
func (k *Kind) Called(name string) *Kind {
	k.called = name
	return k
}

// Draws has schedules say it, see Drawn.
func (k *Kind) Draws(begins string, goesOn ...string) *Kind {
	k.Drawn = append(k.Drawn, Drawn{Begins: begins, GoesOn: goesOn})
	return k
}

// DrawsLasting is Draws for a sentence that has no place for how long.
func (k *Kind) DrawsLasting(begins string, goesOn ...string) *Kind {
	k.Drawn = append(k.Drawn, Drawn{begins, goesOn, true})
	return k
}

// Words say a fault, or a part of one, in the notation of sentences: arguments are in capitals.
type Words struct {
	Text string
	// Fields are those that the arguments set, by their paths in YAML: of an effect below its key, of
	// a subject below the fault. It is empty for an argument that says by itself which it sets.
	Fields []string
	// Sets are fields that the words set by themselves, each as FIELD: VALUE.
	Sets string
	// When is the argument that ends the sentence. Empty means WHEN.
	When string
}

// Say is words with the fields that their arguments set.
func Say(text string, fields ...string) Words { return Words{Text: text, Fields: fields} }

// At is the words with another argument at the sentence's end than WHEN: SINCE or PERHAPS.
func (w Words) At(when string) Words {
	w.When = when
	return w
}

// Drawn is what schedules that are drawn say of an effect: sentences, with {…} for a part that is drawn. Those of a list
// that begin alike are drawn as one, and then how it goes on.
type Drawn struct {
	Begins string
	GoesOn []string
	// Lasts says that the sentence has no place for how long.
	Lasts bool
}

// Subject is what sentences are about that say some kinds of a list.
type Subject struct {
	List *List
	// Words are what the effect's follow.
	Words Words
	kinds []string
}

// Subjects are some of them.
type Subjects []*Subject

// Subject makes one. They are said in the order in which they were made.
func (l *List) Subject(text string, fields ...string) Subjects {
	s := &Subject{List: l, Words: Say(text, fields...)}
	l.subjects = append(l.subjects, s)
	return Subjects{s}
}

// Add adds a kind of effects to their list, which sentences about all of them say. It is for variables of packages.
func (s Subjects) Add(key string, zero Effect, says ...Words) *Kind {
	k := &Kind{Key: key, Effect: zero, Says: says}
	for _, subject := range s {
		subject.kinds = append(subject.kinds, key)
	}
	s[0].List.kinds = append(s[0].List.kinds, k)
	return k
}

// Kinds are all of them.
func (l *List) Kinds() []*Kind {
	order := strings.Fields(l.Order)
	place := func(key string) int {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	return slices.SortedStableFunc(slices.Values(l.kinds), func(a, b *Kind) int { return cmp.Compare(place(a.Key), place(b.Key)) })
}

// MatchFields are those of what a fault strikes, for people.
func (l *List) MatchFields() string {
	fields := strings.Join(keysOf(l.Match), ", ")
	if l.Within != "" {
		fields = l.Within + ": {" + fields + "}"
	}
	return fields
}

// Written is the effect with some fields as YAML has it, for people.
func (l *List) Written(key string, fields ...string) string {
	text := key + ": {" + strings.Join(fields, ", ") + "}"
	if l.Below != "" {
		text = l.Below + ": {" + text + "}"
	}
	return text
}

// Fields are those that its effects have in YAML.
func (k *Kind) Fields() []string { return keysOf(k.Effect) }

// keysOf are the fields of a struct in YAML.
func keysOf(of any) (keys []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// Subjects are what its sentences are about.
func (l *List) Subjects() []*Subject { return l.subjects }

// Kinds are those that are said of it.
func (s *Subject) Kinds() []*Kind {
	return slices.DeleteFunc(s.List.Kinds(), func(k *Kind) bool { return !slices.Contains(s.kinds, k.Key) })
}

// Has reports whether an effect is of one of its kinds.
func (l *List) Has(e Effect) bool { return l.kind(e) != nil }

// Called is what events and errors call an effect.
func (l *List) Called(e Effect) string {
	if named, is := e.(fmt.Stringer); is {
		return named.String()
	}
	if k := l.kind(e); k != nil {
		return cmp.Or(k.called, k.Key)
	}
	return fmt.Sprintf("%T", e)
}

func (l *List) kind(e Effect) *Kind {
	i := slices.IndexFunc(l.kinds, func(k *Kind) bool { return reflect.TypeOf(k.Effect) == reflect.TypeOf(e) })
	if i < 0 {
		return nil
	}
	return l.kinds[i]
}

func (l *List) noun() string { return cmp.Or(l.Noun, "fault") }

func (l *List) keys() string {
	var keys []string
	for _, k := range l.Kinds() {
		keys = append(keys, k.Key)
	}
	return strings.Join(keys, ", ")
}

// miscounted says that there are none or several effects where one has to be.
func (l *List) miscounted(effects []Effect) error {
	switch {
	case l.Below != "":
		return fmt.Errorf("%s has %d of %s: want one", l.Below, len(effects), l.keys())
	case len(effects) == 0:
		return fmt.Errorf("it has no effect, want one (allowed: %s)", l.keys())
	}
	return fmt.Errorf("it has two effects, %s and %s: want one", l.Called(effects[0]), l.Called(effects[1]))
}
