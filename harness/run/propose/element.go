package propose

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/vocabulary"
)

// element is one of the sequence: events that are alike and follow each other among the chosen ones.
type element struct {
	as         string
	events     []history.Entry
	conditions []condition
	captures   map[string]string // fields, by the names that they are captured as
	within     time.Duration     // zero: any time may pass
	pause      *pause            // before it
	absent     []absence
}

// absence is what does not happen before an element.
type absence struct {
	since      string // the earlier element's name, empty for the one before
	conditions []condition
}

// pause is a time in which nothing like the element happens.
type pause struct {
	conditions []condition
	length     time.Duration
}

func (e *element) last() *history.Entry { return &e.events[len(e.events)-1] }

// elementsOf are the chosen events with all that may distinguish them from others.
func elementsOf(events []history.Entry, n *names) (all []*element) {
	for i, r := range events {
		if i > 0 && sameKind(&events[i-1], &r, n) && !recurs(events, i-1, n) && !recurs(events, i, n) {
			before := all[len(all)-1]
			before.events = append(before.events, r)
			continue
		}
		all = append(all, &element{events: []history.Entry{r}, captures: map[string]string{}})
	}
	taken := map[string]bool{}
	for _, e := range all {
		e.as = free(taken, label(&e.events[0]), elementName)
		e.conditions = kind(&e.events[0])
		for _, f := range factsOf(&e.events[0]) {
			c, ok := n.literal(&e.events[0], f)
			with := pattern(append(kind(&e.events[0]), c), everything)
			if ok && !slices.ContainsFunc(e.events[1:], func(r history.Entry) bool { return !with.Matches(r) }) {
				e.conditions = append(e.conditions, c)
			}
		}
	}
	link(all, n)
	return all
}

// sameKind reports whether two events are of a kind, and may be counted.
func sameKind(a, b *history.Entry, n *names) bool {
	if a.Object.Name != b.Object.Name && (n.made[a.Object.Name] || n.made[b.Object.Name]) {
		return false
	}
	return reflect.DeepEqual(pattern(kind(a), core), pattern(kind(b), core)) && a.Detail["subresource"] == b.Detail["subresource"] &&
		(a.Source != history.Logged || a.Detail["message"] == b.Detail["message"])
}

// recurs reports whether something that an event identifies is in another of the events.
func recurs(events []history.Entry, i int, n *names) bool {
	for _, f := range factsOf(&events[i]) {
		if text := f.text(); n.links(f.key, text) {
			for j := range events {
				of := func(g fact) bool {
					at := strings.Index(g.text(), text)
					return at >= 0 && !insideWord(g.text(), at, len(text))
				}
				if j != i && slices.ContainsFunc(factsOf(&events[j]), of) {
					return true
				}
			}
		}
	}
	return false
}

// link captures what identifies an object and recurs.
func link(all []*element, n *names) {
	taken, known := map[string]bool{}, map[string]bool{}
	for i, e := range all {
		if len(e.events) > 1 {
			continue
		}
		for _, f := range factsOf(&e.events[0]) {
			text := f.text()
			if !n.links(f.key, text) || known[text] || f.key == "message" || f.key == "error" {
				continue
			}
			name := free(taken, variable(&e.events[0], f), numbered)
			used := false
			for _, later := range all[i+1:] {
				used = later.refer(n, name, text) || used
			}
			if !used {
				delete(taken, name)
				continue
			}
			known[text] = true
			e.captures[name] = f.path
		}
	}
	for _, e := range all {
		named := slices.ContainsFunc(e.conditions, func(c condition) bool { return c.field == "name" })
		for i, c := range e.conditions {
			if named && c.capture != "" && c.field != "name" {
				e.conditions[i].rank = needless // the name says the same
			}
		}
	}
}

// refer adds conditions that the element is about what was captured.
func (e *element) refer(n *names, name, text string) (used bool) {
	if len(e.events) > 1 {
		return false
	}
	var loose []condition
	for _, f := range factsOf(&e.events[0]) {
		c, ok := n.aboutSame(&e.events[0], f, name, text)
		switch {
		case !ok, slices.ContainsFunc(e.conditions, func(has condition) bool { return has.field == c.field && has.capture != "" }):
		case c.op == "contains":
			loose = append(loose, c)
		default:
			e.set(c)
			used = true
		}
	}
	if !used && len(loose) > 0 {
		e.set(loose[0])
		used = true
	}
	return used
}

// set adds a condition in place of one on the same field.
func (e *element) set(c condition) {
	e.conditions = slices.DeleteFunc(e.conditions, func(has condition) bool { return has.field == c.field })
	e.conditions = append(e.conditions, c)
}

// free is a name that is not taken yet.
func free(taken map[string]bool, name string, further func(name string, n int) string) string {
	of := name
	for n := 2; taken[of]; n++ {
		of = further(name, n)
	}
	taken[of] = true
	return of
}

// numbered is a further name for a captured field.
func numbered(name string, n int) string { return fmt.Sprint(name, n) }

// elementName is what an element is called after others of its name.
func elementName(name string, n int) string {
	if words := []string{"second", "third", "fourth", "fifth"}; n-2 < len(words) {
		return words[n-2] + " " + name
	}
	return fmt.Sprint(name, " ", n)
}

// variable is what a captured field is called.
func variable(r *history.Entry, f fact) string {
	resource := r.Object.Resource
	switch {
	case f.key != "name" && f.key != "Node" && f.key != "NodeClaim" && f.key != "NodePool":
		return f.key
	case f.key != "name":
		resource = vocabulary.Meant(f.key)
	}
	name := strings.TrimSuffix(resource, "s")
	switch resource {
	case vocabulary.NodeClaims:
		name = "claim"
	case "":
		name = "name"
	}
	return name
}

// statement is the sequence with the conditions up to a rank; with those of the core alone it has no spans and no absences either.
func (d *Draft) statement(most int) checker.Statement {
	s := checker.Statement{Statement: "a proposal"}
	used := map[string]bool{}
	use := func(conditions []condition) {
		for _, c := range conditions {
			if c.capture != "" && c.rank <= most {
				used[c.capture] = true
			}
		}
	}
	for _, e := range d.elements {
		use(e.conditions)
		for _, a := range e.absent {
			use(a.conditions)
		}
		if e.pause != nil {
			use(e.pause.conditions)
		}
	}
	for _, e := range d.elements {
		if p := e.pause; p != nil && most > core {
			absent := []checker.Absence{{Pattern: *pattern(p.conditions, most)}}
			s.Sequence = append(s.Sequence, checker.Element{Absent: absent, For: checker.Duration(p.length)})
		}
		to := checker.Element{As: e.as, Match: pattern(e.conditions, most)}
		if len(e.events) > 1 {
			to.Count = len(e.events)
		}
		for name, path := range e.captures {
			if used[name] {
				if to.Capture == nil {
					to.Capture = map[string]string{}
				}
				to.Capture[name] = path
			}
		}
		if most > core {
			to.Within = checker.Duration(e.within)
			for _, a := range e.absent {
				to.Absent = append(to.Absent, checker.Absence{Since: a.since, Pattern: *pattern(a.conditions, most)})
			}
		}
		s.Sequence = append(s.Sequence, to)
	}
	return s
}
