package explore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Liveness is the key of a run in which pods do not run though nothing is wrong any more.
// Other keys are names of invariants.
const Liveness = "liveness"

// Known is the documented failure that explains why a run broke an invariant: one that the
// release has, whose record says that it breaks that, and that is in the run as the record says it
// looks elsewhere, or else with its symptom, whatever the objects are called there. Of several it
// is one of the site's own system: others may be twins of it. Empty if there is none.
func Known(catalogue *scenarios.Catalogue, events []history.Entry, site, target, key string) (id string) {
	prepared := checker.Prepare(events)
	candidates := catalogue.Records()
	slices.SortStableFunc(candidates, func(a, b scenarios.Record) int {
		return strings.Compare(notOf(site, a), notOf(site, b))
	})
	for _, record := range candidates {
		if !explains(record, target, key) {
			continue
		}
		looks, can := record.Elsewhere, true
		if looks == nil {
			var symptom checker.Statement
			symptom, can = anyNames(record.Symptom)
			looks = &symptom
		}
		if can && prepared.Find(*looks).Result == checker.Valid {
			return record.ID
		}
	}
	return ""
}

// notOf is the record's system, and empty if that is the site's.
func notOf(site string, r scenarios.Record) string {
	if r.System == systemOf(site) {
		return ""
	}
	return r.System
}

// explains reports whether the record's failure is one of the release, and can break that.
func explains(r scenarios.Record, target, key string) bool {
	name, version, _ := strings.Cut(target, "@")
	if r.Autoscaler != name {
		return false
	}
	if affected, err := r.Affected.Has(version); err != nil || !affected {
		return false
	}
	return key == Liveness || slices.Contains(r.Breaks, key)
}

// anyNames is a sequence in which objects can have any names: those that have one name there
// still have one. Of other statements there is none.
func anyNames(s checker.Statement) (out checker.Statement, can bool) {
	if len(s.Sequence) == 0 {
		return s, false
	}
	text, err := json.Marshal(s)
	var tree map[string]any
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		return s, false
	}
	n := names{}
	for _, element := range tree["sequence"].([]any) {
		n.element(element.(map[string]any))
	}
	dropUnused(tree)
	if text, err = json.Marshal(tree); err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err == nil && out.Check() == nil
}

// dropUnused takes out the captures that no pattern has: of a name that is there once any will do.
func dropUnused(tree map[string]any) {
	used := map[string]bool{}
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			used[v] = true
		case []any:
			for _, each := range v {
				look(each)
			}
		case map[string]any:
			for _, each := range v {
				look(each)
			}
		}
	}
	look(tree)
	for _, element := range tree["sequence"].([]any) {
		e := element.(map[string]any)
		capture, _ := e["capture"].(map[string]any)
		maps.DeleteFunc(capture, func(name string, _ any) bool { return !used["$"+name] })
		if len(capture) == 0 {
			delete(e, "capture")
		}
	}
}

// names are the captures that stand for the names that a statement has.
type names map[string]string

func (n names) element(e map[string]any) {
	match, _ := e["match"].(map[string]any)
	if match != nil {
		capture, _ := e["capture"].(map[string]any)
		if capture == nil {
			capture = map[string]any{}
		}
		n.loosen(match, func(name, field string) {
			n[name] = fmt.Sprintf("name%d", len(n)+1)
			capture[n[name]] = field
		})
		if len(capture) > 0 {
			e["capture"] = capture
		}
	}
	for _, list := range []string{"while", "absent"} {
		patterns, _ := e[list].([]any)
		for _, p := range patterns {
			n.loosen(p.(map[string]any), nil)
		}
	}
}

// loosen replaces the names in a pattern by captures. It calls first with those that have none
// yet, and where they are; if it is nil they are left out.
func (n names) loosen(pattern map[string]any, first func(name, field string)) {
	change := func(in map[string]any, key, field string) {
		switch values := in[key].(type) {
		case nil:
		case []any:
			value, _ := values[0].(string)
			if len(values) > 1 {
				delete(in, key)
				return
			}
			if strings.HasPrefix(value, "$") {
				return
			}
			capture, bound := n[value]
			if !bound && first != nil {
				first(value, field)
			}
			if bound {
				// mutant: a documented failure is one of any instance
				in[key] = "$" + capture
			} else {
				delete(in, key)
			}
		case map[string]any:
			not, _ := values["not"].([]any)
			not = slices.DeleteFunc(not, func(other any) bool { text, _ := other.(string); return !strings.HasPrefix(text, "$") })
			if len(not) == 0 {
				delete(in, key)
			} else {
				values["not"] = not
			}
		default:
			delete(in, key)
		}
	}
	if !isOnly(pattern["source"], string(history.Harness)) { // that names programs
		change(pattern, "name", "name")
	}
	if detail, is := pattern["detail"].(map[string]any); is {
		for _, key := range []string{"group", "nodepool", "node"} {
			change(detail, key, "detail."+key)
		}
	}
}

// isOnly reports whether a value of a pattern is that one only.
func isOnly(values any, one string) bool {
	list, _ := values.([]any)
	return len(list) == 1 && list[0] == one
}
