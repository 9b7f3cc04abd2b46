package checker

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nodestorm/sim/history"
)

// Pattern matches events. Fields that are not given match anything, but where code
// is not given
//
//   - a pattern of what happened (match, while) matches only events without a code,
//     or with one below 400: what was refused did not happen;
//   - a pattern of what did not (absent) matches any code: what is absent was not even
//     tried. "code: [200, 201]" there means that trying in vain does not count. A
//     refused call has no details but subresource, error and, in the cloud, group.
type Pattern struct {
	Source    *Values `json:"source,omitempty"`    // Source is who has written the event.
	Verb      *Values `json:"verb,omitempty"`      // Verb is what happened; nodestorm events lists the verbs of each source.
	Resource  *Values `json:"resource,omitempty"`  // Resource is the kind of what the event is about, such as nodes.
	Namespace *Values `json:"namespace,omitempty"` // Namespace is that of the object.
	Name      *Values `json:"name,omitempty"`      // Name is that of the object.
	Actor     *Values `json:"actor,omitempty"`     // Actor is who did it, such as karpenter.
	Code      *Values `json:"code,omitempty"`      // Code is the HTTP status of a call.
	// Detail is compared by key (see nodestorm events); "conditions.Ready" looks into a mapping.
	Detail map[string]*Values `json:"detail,omitempty"`
}

// matchIdentity compares everything but the details.
func (p *Pattern) matchIdentity(r *history.Entry, captured map[string]string) bool {
	for _, name := range fieldNames {
		if v := p.field(name); v.isSet() && !v.match(field(r, name), captured) {
			return false
		}
	}
	return true
}

func (p *Pattern) matchDetail(r *history.Entry, captured map[string]string) bool {
	for key, values := range p.Detail {
		if !values.match(detail(r, key), captured) {
			return false
		}
	}
	return true
}

// tookPlace reports whether the event is of something that took place, or of the
// refusal that the pattern asks for.
func (p *Pattern) tookPlace(r *history.Entry) bool {
	// mutant: a refused call counts as done
	return p.Code.isSet() || r.Code < 400
}

// match compares an event with a pattern of what happened.
func (p *Pattern) match(r *history.Entry, captured map[string]string) bool {
	return p.tookPlace(r) && p.tried(r, captured)
}

// tried compares an event, refused or not, with a pattern of what did not happen.
func (p *Pattern) tried(r *history.Entry, captured map[string]string) bool {
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

// fieldNames are the fields of an event that a pattern compares, apart from the
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

// field returns an event's field as text, nil where it is empty.
func field(r *history.Entry, name string) any {
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

// detail returns an event's detail by its dotted key, nil where it is missing. A
// key that itself has dots is found whole first.
func detail(r *history.Entry, key string) any {
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

// prepare returns the events in the order of time, with details as they would
// be read back from a file, so that a live and a stored run are judged alike.
func prepare(events []history.Entry) []history.Entry {
	prepared := slices.Clone(events)
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
