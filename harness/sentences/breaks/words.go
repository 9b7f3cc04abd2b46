package breaks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/fault"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// sentence is a sentence about a fault, which is one in YAML in other words: what it is about, the effect, and
// when. It is read into the list that "these faults:" has in YAML; what is wrong is found there.
type sentence struct {
	need    scene.Need // what it breaks
	subject *fault.Subject
	kind    *fault.Kind
	says    fault.Words
	source  string // of the expression
	*words.Expression
}

// allSentences are all of them.
var allSentences = sync.OnceValue(func() (all []sentence) {
	for _, b := range breakables() {
		for _, subject := range b.List.Subjects() {
			for _, k := range subject.Kinds() {
				for _, says := range k.Says {
					when := says.When
					if when == "" {
						when = "WHEN"
					}
					source := subject.Words.Text + " " + says.Text + " " + when
					all = append(all, sentence{b.Need, subject, k, says, source, words.New(source)})
				}
			}
		}
	}
	return all
})

// read makes a fault of the arguments. It is called what the sentence says.
func (s sentence) read(text string, args []string) ([]fault.Fault, error) {
	list, err := s.yaml(text, args)
	if err != nil {
		return nil, err
	}
	return Parse(list)
}

// yaml is the list of faults with the one that the sentence says, called name.
func (s sentence) yaml(name string, args []string) ([]byte, error) {
	f, below := map[string]any{"name": name}, map[string]any{}
	if field, value, sets := strings.Cut(s.says.Sets, ": "); sets {
		below[field] = valueOf(value)
	}
	list, about := s.subject.List, len(s.subject.Words.Fields)
	fields := slices.Concat(s.subject.Words.Fields, s.says.Fields, []string{""})
	for i, argument := range s.Arguments {
		in := f
		if i >= about && i < len(fields)-1 {
			in = below
		}
		if err := readArgument(in, argument.Name, fields[i], args[i]); err != nil {
			return nil, err
		}
	}
	setField(f, strings.TrimPrefix(list.Below+"."+s.kind.Key, "."), below)
	return yaml.Marshal(map[string]any{list.Name: []any{f}})
}

// readArgument sets what an argument says of a fault, or of its effect.
func readArgument(f map[string]any, argument, field, text string) error {
	switch argument {
	case "CALL", "LIST", "WATCH":
		return readCall(f, text)
	case "CLOUD-CALL", "CLOUD-LIST":
		return readCloudCall(f, field, text)
	case "WHEN", "SINCE", "PERHAPS":
		return readWhen(f, text)
	case "N", "STATUS":
		n, err := strconv.Atoi(text)
		setField(f, field, n)
		return err
	case "FIELDS":
		setField(f, field, strings.Split(text, ","))
	case "FIELD=VALUE":
		name, value, _ := strings.Cut(text, "=")
		setField(f, field, map[string]any{name: valueOf(value)})
	case "FOR-GROUP", "OF-GROUP", "OF-TYPE", "IN-LOCATION":
		if _, inside, ok := strings.Cut(text, `"`); ok {
			setField(f, field, strings.TrimSuffix(inside, `"`))
		}
	default:
		if strings.HasPrefix(argument, "EVERY-") {
			return readWhich(f, text)
		}
		setField(f, field, text)
	}
	return nil
}

// valueOf is a number, true, false or a text.
func valueOf(text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	if truth, err := strconv.ParseBool(text); err == nil {
		return truth
	}
	return text
}

func setField(f map[string]any, path string, value any) {
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		below, ok := f[step].(map[string]any)
		if !ok {
			below = map[string]any{}
			f[step] = below
		}
		f = below
	}
	f[steps[len(steps)-1]] = value
}

// readWhich says on which occasions.
func readWhich(f map[string]any, text string) error {
	numbers := strings.NewReplacer("first", "1", "second", "2", "third", "3", "fourth", "4", "fifth", "5")
	n, counts := 0, !strings.HasPrefix(text, "every") || strings.Contains(text, " from the ")
	for _, word := range strings.Fields(strings.TrimPrefix(text, "each of the first")) {
		if got, err := strconv.Atoi(strings.TrimRight(numbers.Replace(word), "stndrh")); err == nil {
			n = got
		}
	}
	if counts && n == 0 {
		return fmt.Errorf("%q: want counting to begin with the first", text)
	}
	switch {
	case strings.HasPrefix(text, "each"):
		f["limit"] = n
		return nil
	case !strings.HasPrefix(text, "every"):
		f["limit"] = 1
	}
	if n > 1 {
		f["skip"] = n - 1
	}
	return nil
}

// readWhen says from when to when.
func readWhen(f map[string]any, text string) error {
	if before, record, ok := strings.Cut(text, ", once {"); ok {
		end := strings.LastIndex(record, "}")
		pattern := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte("{"+record[:end]+"}"), &pattern); err != nil {
			return fmt.Errorf("once {%s}: %s", record[:end], oneline.Of(err.Error()))
		}
		f["when"] = pattern
		text = before + record[end+1:]
	}
	for clause := range strings.SplitSeq(text, ", ") {
		switch value := strings.Fields(clause); {
		case len(value) == 0:
		case value[0] == "from":
			f["at"] = value[1]
		case value[0] == "for":
			f["for"] = value[1]
		default:
			p, err := strconv.ParseFloat(value[2], 64)
			if err != nil {
				return err
			}
			f["probability"] = p
		}
	}
	return nil
}

// readCall is about a call to the API server.
func readCall(f map[string]any, text string) error {
	call := strings.Fields(text)
	setField(f, "match.verbs", strings.Split(call[0], ","))
	resource, sub, _ := strings.Cut(call[1], "/")
	setField(f, "match.resource", resource)
	if sub != "" {
		setField(f, "match.subresource", sub)
	}
	if len(call) > 2 {
		name := call[2]
		if namespace, in, ok := strings.Cut(name, "/"); ok {
			setField(f, "match.namespace", namespace)
			name = in
		}
		setField(f, "match.name", name)
	}
	return nil
}

// readCloudCall is about one to the cloud.
func readCloudCall(f map[string]any, field, text string) error {
	name, known, such := "", []string(nil), []string(nil)
	for _, k := range clouds.Kinds {
		if name == "" && k.Call != nil {
			var others []string
			name, others = k.Call(text)
			known, such = append(known, others...), append(such, k.Examples)
		}
	}
	if name == "" {
		return fmt.Errorf("no cloud knows a call %q%s (such as %s)", text, strict.Meant(text, known), strings.Join(such, "; "))
	}
	setField(f, field, name)
	return nil
}

// row is the sentence in the table.
func (s sentence) row() scene.Sentence {
	return scene.Sentence{
		Role: scene.Either, Words: s.source, Unchecked: true, Needs: []scene.Need{s.need},
		Wants: func(a words.Args) (scene.Wants, error) {
			these, _ := s.read(a.Said, a.Texts())
			return scene.Wants{Breaks: broken(these)}, nil
		},
		Check: func(f *scene.Feature, a words.Args) error {
			if err := f.CheckFilled(a.Said); err != nil {
				return err
			}
			if _, err := s.read(a.Said, a.Texts()); err != nil {
				return fmt.Errorf("its fault: %w", err)
			}
			return nil
		},
		Act: func(_ context.Context, on *scene.Scene, a words.Args) error {
			text, err := on.Fill(a.Said)
			if err != nil {
				return err
			}
			args := a.Texts()
			for i := range args {
				args[i], _ = on.Fill(args[i]) // a part of the text
			}
			these, err := s.read(text, args)
			if err != nil {
				return err
			}
			return Arm(on, these)
		},
	}
}
