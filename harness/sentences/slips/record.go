package slips

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/scenarios"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// judged are the fields of a record whose patterns are looked at.
var judged = []string{"trigger", "work", "symptom", "elsewhere", "invariants"}

// prose are the fields of a record that people read.
var prose = []string{"title", "summary", "mechanism", "notes"}

// long are words of a text that have so many letters that one is not another by chance.
var long = regexp.MustCompile(`[A-Za-z][A-Za-z-]{5,}`)

// InRecord is a slip in a record's file.
type InRecord struct {
	Field string
	Line  int
	Err   error
}

// value is one of a pattern, with the field of the record that it is below, the field of the pattern that it is of, and the
// detail.
type value struct {
	*yaml.Node
	field, of, detail string
}

// OfRecord finds values of patterns that are spelled almost like a word of the scenario, or like one that Kubernetes, the
// programs and the clouds have, and promises of one side only.
func OfRecord(k Known, r scenarios.Record, text []byte, steps []*messages.PickleStep) (wrong []InRecord) {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	var values []value
	for key, node := range pairs(root.Content[0]) {
		if err := fieldSlip(r, key.Value, node.Value); err != nil {
			wrong = append(wrong, InRecord{key.Value, node.Line, err})
		}
		if slices.Contains(judged, key.Value) {
			values = ofPatterns(values, node, value{field: key.Value}, 100)
		}
	}
	return slices.Concat(wrong, durationsOfRecord(text, steps), inPhrases(k, text, values, steps), ofValues(k, values, steps))
}

// fieldSlip is what looks wrong with a field of a record as a whole.
func fieldSlip(r scenarios.Record, field, value string) error {
	switch field {
	case "targets":
		return oneSided(r)
	case "affected":
		return rangeSlip(r.Autoscaler, value)
	case "fixed":
		return cmp.Or(rangeSlip(r.Autoscaler, value), overlap(r))
	case "breaks":
		return unstated(r)
	case "known":
		for _, of := range r.Known {
			if err := rangeSlip(r.Autoscaler, string(of.Releases)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofValues finds values of patterns that are almost a word of the scenario, or one that Kubernetes, the programs and the clouds have.
func ofValues(k Known, values []value, steps []*messages.PickleStep) (wrong []InRecord) {
	var said, resources []string
	for i, step := range steps {
		for _, w := range ofStep(i, step) {
			said = append(said, w.text)
		}
	}
	for _, r := range vocabulary.Resources() {
		resources = append(resources, r.Name)
	}
	resources = append(resources, vocabulary.Served()...)
	known := slices.Clone(said)
	for _, word := range slices.Concat(vocabulary.Words(), vocabulary.Reasons()) {
		known = append(append(known, word), long.FindAllString(word, -1)...)
	}
	count := map[string]int{}
	for _, v := range values {
		count[v.whole()]++
		for _, word := range long.FindAllString(v.Value, -1) {
			count[word]++
		}
	}
	for _, v := range values {
		// mutant: a record may ask for a step that the scenario does not have
		if v.of == "detail" && v.detail == "text" && v.field != "elsewhere" && !hasStep(steps, v.Value) {
			wrong = append(wrong, InRecord{v.field, v.Line, fmt.Errorf("no step of the scenario has the text %q", v.Value)})
		}
		if near := v.none(k, said); near != "" {
			wrong = append(wrong, InRecord{v.field, v.Line, fmt.Errorf("%s: %q is no value of it: did you mean %q?", v.key(), v.Value, near)})
			continue
		}
		word, near := v.slip(count, said, known, resources)
		// mutant: a value of a pattern may be spelled almost like a word that is known
		if near != "" && (v.of == "resource" || !alike(word, near)) { // nods is no plural of another resource
			err := fmt.Errorf("%q stands there only, and is spelled almost like %q: did you mean that?", word, near)
			wrong = append(wrong, InRecord{v.field, v.Line, err})
		}
	}
	return wrong
}

// hasStep reports whether a step of a scenario has a text, or what an expression matches.
func hasStep(steps []*messages.PickleStep, text string) bool {
	expression, err := regexp.Compile(text)
	return slices.ContainsFunc(steps, func(step *messages.PickleStep) bool {
		for _, keyword := range []string{"", "Given ", "When ", "Then ", "And ", "But "} {
			if said := keyword + step.Text; strings.Contains(said, text) || err == nil && expression.MatchString(said) {
				return true
			}
		}
		return false
	})
}

// whole is by what a value is counted. It has a blank, as no word has.
func (v value) whole() string { return v.of + " " + v.Value }

// none is what a value is spelled almost like of which all are known: those of a few details, and names of what the scenario
// brings. It is empty if the value is right or like nothing.
func (v value) none(k Known, said []string) string {
	var of []string
	switch {
	case v.of != "detail":
	case v.detail == "effect":
		of = k.Effects
	case v.detail == "operation":
		of = k.Operations
	case v.detail == "capacity":
		of = labelValues["karpenter.sh/capacity-type"]
	case v.detail == "controller":
		of = vocabulary.LogControllers()
	case v.detail == "group", v.detail == "fault":
		of = said
	case v.detail == "owner" && strings.Contains(v.Value, "/"):
		kind, name, _ := strings.Cut(v.Value, "/")
		// mutant: a name of something may be almost another's
		if near := strict.Nearest(name, said); near != "" && !alike(name, near) {
			return kind + "/" + near
		}
	}
	// mutant: a detail of few values may have another one
	if near := nearest(v.Value, of); near != "" && !alike(v.Value, near) {
		return near
	}
	return ""
}

// key is the field of the pattern that a value is of, with its detail.
func (v value) key() string {
	if v.detail != "" {
		return v.of + "." + v.detail
	}
	return v.of
}

// slip is a word of a value and what it is spelled almost like, or two empty texts.
func (v value) slip(count map[string]int, said, known, resources []string) (word, near string) {
	switch {
	case v.of == "resource":
		name, group, _ := strings.Cut(v.Value, ".")
		if near := strict.NearestName(group, vocabulary.CustomGroups()); near != "" {
			return group, near
		}
		if near := strict.Nearest(name, resources); near != "" || slices.Contains(resources, name) {
			return name, near
		}
		if near := strict.Nearest(name, said); !alike(name, near) {
			return name, near
		}
	case v.of == "name" && plain.MatchString(v.Value) && !slices.Contains(said, v.Value):
		if strings.Contains(v.Value, "/") { // as MachineDeployment/default/web
			for part := range strings.SplitSeq(v.Value, "/") {
				if near := strict.Nearest(part, known); near != "" && !alike(part, near) {
					return part, near
				}
			}
			return "", ""
		}
		if at := slices.IndexFunc(said, func(other string) bool { return lacksOne(v.Value, other) }); at >= 0 {
			return v.Value, said[at]
		}
		return v.Value, strict.Nearest(v.Value, said)
	case v.of != "detail":
		return "", ""
	}
	for _, word := range long.FindAllString(v.Value, -1) {
		// The first letter of another word is mostly another one: decrease is no slip of Recreate.
		if near := strict.Nearest(word, known); count[word] < 2 && near != "" && near[0] == word[0] {
			return word, near
		}
	}
	if count[v.whole()] < 2 && plain.MatchString(v.Value) && len(v.Value) > 3 {
		return v.Value, strict.Nearest(v.Value, said)
	}
	return "", ""
}

// ofPatterns adds the resources, names and details of patterns below a node. Aliases are left alone.
func ofPatterns(all []value, n *yaml.Node, under value, depth int) []value {
	switch {
	case depth == 0:
	case n.Kind == yaml.ScalarNode && under.of != "" && !strings.Contains(n.Value, "$"):
		under.Node = n
		return append(all, under)
	case n.Kind == yaml.MappingNode:
		for key, child := range pairs(n) {
			below := under
			switch {
			case under.of == "detail" && under.detail == "":
				below.detail = key.Value
			case under.of != "":
			case slices.Contains([]string{"resource", "name", "detail"}, key.Value):
				below.of = key.Value
			case key.Value == "capture":
				continue // of which the values are fields
			}
			all = ofPatterns(all, child, below, depth-1)
		}
	case n.Kind == yaml.SequenceNode:
		for _, child := range n.Content {
			all = ofPatterns(all, child, under, depth-1)
		}
	}
	return all
}

// unstated is an error if a record breaks a statement that is none of its invariants, or of those of its folder.
func unstated(r scenarios.Record) error {
	var statements []string
	for _, of := range r.Invariants {
		statements = append(statements, of.Statement)
	}
	for _, name := range r.Breaks {
		// mutant: what is broken may be no statement
		if strings.Contains(name, " ") && !slices.Contains(statements, name) {
			return fmt.Errorf("breaks: no invariant of the record or its folder has the statement %q%s", name, strict.Meant(name, statements))
		}
	}
	return nil
}

// oneSided says what a record lacks whose targets all promise the same.
func oneSided(r scenarios.Record) error {
	has := func(expected scenarios.Expectation) bool {
		return slices.ContainsFunc(r.Targets, func(t scenarios.Target) bool { return t.Expected == expected })
	}
	switch {
	// mutant: a record may promise the failure alone
	case has(scenarios.Reproduced) && !has(scenarios.Healthy) && r.Fixed == "":
		return errors.New("no target is expected to be healthy, so the symptom may be what every build shows: name one without the failure, " +
			"or say \"fixed: none\"")
	case has(scenarios.Healthy) && !has(scenarios.Reproduced) && r.Affected == "":
		return errors.New("no target is expected to show the failure, so nothing shows that the record can find it: name one, " +
			"or say \"affected: none\" of a control")
	}
	return nil
}
