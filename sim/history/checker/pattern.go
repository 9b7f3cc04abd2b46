package checker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// Pattern matches records. Fields that are not given match anything, but where code
// is not given
//
//   - a pattern of what happened (Match, While) matches only records without a code,
//     or with one below 400: what was refused did not happen;
//   - a pattern of what did not (Absent) matches any code: what is absent was not even
//     tried. "code: [200, 201]" there means that trying in vain does not count. A
//     refused call has no details but subresource, error and, in the cloud, group.
type Pattern struct {
	Source    *Values `json:"source,omitempty"`
	Verb      *Values `json:"verb,omitempty"`
	Resource  *Values `json:"resource,omitempty"`
	Namespace *Values `json:"namespace,omitempty"`
	Name      *Values `json:"name,omitempty"`
	Actor     *Values `json:"actor,omitempty"`
	Code      *Values `json:"code,omitempty"`
	// Detail is compared by key; "conditions.Ready" looks into a mapping.
	Detail map[string]*Values `json:"detail,omitempty"`
}

// matchIdentity compares everything but the details.
func (p *Pattern) matchIdentity(r *history.Record, captured map[string]string) bool {
	for _, name := range fieldNames {
		if v := p.field(name); v.given() && !v.match(field(r, name), captured) {
			return false
		}
	}
	return true
}

func (p *Pattern) matchDetail(r *history.Record, captured map[string]string) bool {
	for key, values := range p.Detail {
		if !values.match(detail(r, key), captured) {
			return false
		}
	}
	return true
}

// happened tells whether the record is of something that took place, or of the
// refusal that the pattern asks for.
func (p *Pattern) happened(r *history.Record) bool {
	// mutant: a refused call counts as done
	return p.Code.given() || r.Code < 400
}

// match compares a record with a pattern of what happened.
func (p *Pattern) match(r *history.Record, captured map[string]string) bool {
	return p.happened(r) && p.tried(r, captured)
}

// tried compares a record, refused or not, with a pattern of what did not happen.
func (p *Pattern) tried(r *history.Record, captured map[string]string) bool {
	return p.matchIdentity(r, captured) && p.matchDetail(r, captured)
}

// captures lists the names of the captures that the pattern refers to.
func (p *Pattern) captures() []string {
	var names []string
	for _, name := range fieldNames {
		names = append(names, p.field(name).captures()...)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
		names = append(names, p.Detail[key].captures()...)
	}
	return names
}

// check finds what is wrong with the pattern, given what is captured before.
func (p *Pattern) check(captured map[string]bool) error {
	if !p.Source.given() {
		return fmt.Errorf("source is missing (allowed: %v)", history.Sources())
	}
	var known []string
	open := p.Source.op != "" // a source that says anything
	for _, source := range p.Source.values {
		if !slices.Contains(history.Sources(), history.Source(source)) {
			return fmt.Errorf("unknown source %q (allowed: %v)", source, history.Sources())
		}
		known = append(known, verbs[source]...)
		open = open || len(verbs[source]) == 0
	}
	if !open && p.Verb.given() && p.Verb.op != "exists" {
		for _, verb := range p.Verb.values {
			if !strings.HasPrefix(verb, "$") && !slices.Contains(known, verb) {
				return fmt.Errorf("unknown verb %q of source %s (allowed: %s)%s", verb, strings.Join(p.Source.values, ", "),
					strings.Join(known, ", "), strict.Meant(verb, known))
			}
		}
	}
	if p.Resource.given() {
		for _, word := range p.Resource.values {
			meant := vocabulary.Meant(word)
			if p.Source.only(string(history.API)) {
				meant = cmp.Or(meant, vocabulary.Plural(word))
			}
			if meant != "" {
				return fmt.Errorf("resource: %q is none, did you mean %q?", word, meant)
			}
		}
	}
	if err := p.checkActor(); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
		if !p.Detail[key].given() {
			return fmt.Errorf("detail %q has no value to compare with", key)
		}
		if err := p.checkDetail(key); err != nil {
			return err
		}
	}
	for _, name := range p.captures() {
		// mutant: a capture from nowhere is allowed
		if !captured[name] {
			return fmt.Errorf("$%s is not captured by an element before", name)
		}
	}
	return nil
}

// checkActor finds an actor that nobody is: that it never does something would be true of
// every history.
func (p *Pattern) checkActor() error {
	if p.Source.op != "" || !p.Actor.given() || p.Actor.op != "" && p.Actor.op != "not" {
		return nil
	}
	for _, name := range p.Actor.values {
		is := func(source string) bool { return vocabulary.IsActor(history.Source(source), name) }
		if strings.HasPrefix(name, "$") || strings.Contains(name, "${") || slices.ContainsFunc(p.Source.values, is) {
			continue
		}
		meant := strict.Meant(name, vocabulary.Actors(history.Source(p.Source.values[0])))
		return fmt.Errorf("unknown actor %q of source %s: it is a program, such as karpenter or kubelet, or a "+
			"controller of Kubernetes, such as node-controller; say {matches: %q} if it is neither%s", name,
			strings.Join(p.Source.values, ", "), regexp.QuoteMeta(name), meant)
	}
	return nil
}

// taintItem is an item of the details that are lists: all of them are of taints.
var taintItem = regexp.MustCompile(`^[^\s:]+:(NoSchedule|PreferNoSchedule|NoExecute)$`)

// checkList finds comparisons that no list can have: its items are compared as a whole.
func (p *Pattern) checkList(key string) error {
	for _, source := range p.Source.values {
		if vocabulary.FormOf(history.Source(source), key) != vocabulary.List {
			return nil
		}
	}
	values := p.Detail[key]
	switch values.op {
	case "exists":
		return nil
	case "contains", "lacks":
	default:
		return fmt.Errorf("detail %q is a list: say {contains: ITEM} or {lacks: ITEM}, of whole items", key)
	}
	for _, value := range values.values {
		// mutant: a part of a list's item is one
		if !strings.Contains(value, "$") && !taintItem.MatchString(value) {
			return fmt.Errorf("detail %q is a list of taints, whose items are compared as a whole, and %q is "+
				"none: want KEY[=VALUE]:EFFECT, such as %q", key, value, strings.TrimRight(strings.SplitN(value, ":", 2)[0], " ")+":NoSchedule")
		}
	}
	return nil
}

// checkDetail finds a detail that no record of the sources has.
func (p *Pattern) checkDetail(key string) error {
	if p.Source.op != "" {
		return nil
	}
	var known []string
	for _, source := range p.Source.values {
		if vocabulary.Open(history.Source(source)) {
			return nil
		}
		known = append(known, vocabulary.Details(history.Source(source))...)
	}
	// mutant: any part of an object is one
	if values := p.Detail[key]; key == "subresource" && (values.op == "" || values.op == "not") {
		for _, value := range values.values {
			if known := vocabulary.Subresources(); !strings.HasPrefix(value, "$") && !slices.Contains(known, value) {
				return fmt.Errorf("unknown subresource %q (allowed: %s)%s", value, strings.Join(known, ", "), strict.Meant(value, known))
			}
		}
	}
	if name, _, _ := strings.Cut(key, "."); !slices.Contains(known, name) {
		return fmt.Errorf("unknown detail %q of source %s (allowed: %s)%s", key, strings.Join(p.Source.values, ", "),
			strings.Join(known, ", "), strict.Meant(name, known))
	}
	return p.checkList(key)
}

// fieldNames are the fields of a record that a pattern compares, apart from the
// details; a capture may name them too.
var fieldNames = []string{"source", "verb", "resource", "namespace", "name", "actor", "code"}

func (p *Pattern) field(name string) *Values {
	switch name {
	case "source":
		return p.Source
	case "verb":
		return p.Verb
	case "resource":
		return p.Resource
	case "namespace":
		return p.Namespace
	case "name":
		return p.Name
	case "actor":
		return p.Actor
	}
	return p.Code
}

// field returns a record's field as text, nil where it is empty.
func field(r *history.Record, name string) any {
	text := ""
	switch name {
	case "source":
		text = string(r.Source)
	case "verb":
		text = r.Verb
	case "resource":
		text = r.Object.Resource
	case "namespace":
		text = r.Object.Namespace
	case "name":
		text = r.Object.Name
	case "actor":
		text = r.Actor
	case "code":
		if r.Code != 0 {
			text = strconv.Itoa(r.Code)
		}
	}
	if text == "" {
		return nil
	}
	return text
}

// detail returns a record's detail by its dotted key, nil where it is missing. A
// key that itself has dots is found whole first.
func detail(r *history.Record, key string) any {
	var at any = map[string]any(r.Detail)
	for {
		mapping, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		if value, ok := mapping[key]; ok {
			return value
		}
		first, rest, ok := strings.Cut(key, ".")
		if !ok {
			return nil
		}
		at, key = mapping[first], rest
	}
}

// prepare returns the records in the order of time, with details as they would
// be read back from a file, so that a live and a stored run are judged alike.
func prepare(records []history.Record) []history.Record {
	prepared := slices.Clone(records)
	for i := range prepared {
		prepared[i].Detail = plain(prepared[i].Detail)
	}
	history.Sort(prepared)
	return prepared
}

func plain(detail map[string]any) map[string]any {
	isPlain := true
	for _, value := range detail {
		if _, ok := scalar(value); !ok {
			isPlain = false
		}
	}
	if isPlain {
		return detail
	}
	var read map[string]any
	text, err := json.Marshal(detail)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		return map[string]any{"unwritable": err.Error()} // as in the file
	}
	return read
}
