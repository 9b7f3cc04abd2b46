package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/reports/wording"
	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// entry is an event as the timeline shows it.
type entry struct {
	at                  time.Duration
	source, actor, what string
	// fold is the same for events that may share a line, empty for those that
	// have something of their own to say.
	fold string
}

// changes holds what the timeline has shown of each object's state: object and
// key → value.
type changes map[string]string

func (c changes) entry(r history.Entry) entry {
	e := entry{at: r.Virtual, source: string(r.Source), actor: wording.Cut(wording.Clean(r.Actor), maxActor)}
	detail := maps.Clone(r.Detail)
	take := func(key string) string {
		value, ok := detail[key]
		delete(detail, key)
		if !ok {
			return ""
		}
		return valueText(value)
	}
	words := []string{wording.Clean(r.Verb)}
	switch r.Source {
	case history.Step:
		words = append(words, history.Role(take("kind")).Keyword(), take("text"))
	case history.Logged:
		words = []string{take("level"), take("message")} // the verb says nothing
	}
	words = append(words, wording.Clean(r.Object.String()))
	if subresource := take("subresource"); subresource != "" {
		words = append(words, "("+subresource+")")
	}
	if r.Code != 0 {
		words = append(words, fmt.Sprint(r.Code))
	}
	if r.Source == history.API {
		delete(detail, "agent")
	}
	facts := c.facts(r, detail)
	e.what = strings.Join(slices.DeleteFunc(append(words, facts...), func(word string) bool { return word == "" }), " ")
	switch {
	case r.Source == history.API && len(facts) == 0:
		e.fold = fmt.Sprintf("%q %q %d %q %v", r.Verb, r.Actor, r.Code, r.Object.Resource, r.Detail["subresource"])
	case r.Source == history.Logged && strings.HasPrefix(fmt.Sprint(r.Detail["message"]), "Starting "):
		// controller-runtime's three lines for each controller
		e.fold = fmt.Sprintf("%q starting", r.Actor)
	}
	return e
}

// facts are the details as key=value. Of what the API server says of a node or a
// NodeClaim, which repeats its state, only what is new; of taints the change, in
// the notation of kubectl.
func (c changes) facts(r history.Entry, detail history.Detail) []string {
	isState := r.Source == history.API && (r.Object.Resource == vocabulary.Nodes || r.Object.Resource == vocabulary.NodeClaims)
	var facts []string
	if isState {
		for _, taint := range texts(detail["added"]) {
			facts = append(facts, "+"+taint)
		}
		for _, taint := range texts(detail["removed"]) {
			facts = append(facts, "-"+taint)
		}
		for _, key := range []string{"added", "removed", "taints"} {
			delete(detail, key)
		}
		if conditions := detail.Mapping("conditions"); conditions != nil {
			delete(detail, "conditions")
			for name, condition := range conditions {
				detail[name] = condition
			}
			facts = append(facts, c.gone(r.Object.String(), conditions)...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(detail)) {
		value := valueText(detail[key])
		if isState && key != "error" {
			place := r.Object.String() + " " + key
			if c[place] == value {
				continue
			}
			c[place] = value
		}
		facts = append(facts, wording.Clean(key)+"="+value)
	}
	return facts
}

// gone are the conditions that an object had and has no more, as "-Consolidatable".
func (c changes) gone(object string, conditions map[string]any) (facts []string) {
	const all = " all conditions" // no detail has a blank
	for name := range strings.FieldsSeq(c[object+all]) {
		if _, still := conditions[name]; !still {
			facts = append(facts, "-"+wording.Clean(name))
			delete(c, object+" "+name) // it is new again when it comes back
		}
	}
	c[object+all] = strings.Join(slices.Sorted(maps.Keys(conditions)), " ")
	return facts
}

// valueText is a detail's value: text as it is, lists as [a, b], mappings as
// {k: v} in the order of their keys.
func valueText(value any) string {
	switch value := value.(type) {
	case string:
		return wording.Clean(value)
	case []string, []any:
		return "[" + strings.Join(texts(value), ", ") + "]"
	case map[string]any:
		var fields []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			fields = append(fields, wording.Clean(key)+": "+valueText(value[key]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case float64: // how JSON reads numbers
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return wording.Clean(fmt.Sprint(value))
}

// texts are the items of a list, none if value is no list.
func texts(value any) []string {
	var items []string
	switch list := value.(type) {
	case []string:
		for _, item := range list {
			items = append(items, wording.Clean(item))
		}
	case []any:
		for _, item := range list {
			items = append(items, valueText(item))
		}
	}
	return items
}
