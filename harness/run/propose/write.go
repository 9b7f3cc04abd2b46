package propose

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// YAML is the symptom as a record has it.
func (p *Proposal) YAML() (string, error) {
	symptom := &yaml.Node{Kind: yaml.MappingNode}
	setKey(symptom, "statement", p.Symptom.Statement)
	sequence := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range p.elements {
		if e.pause != nil {
			sequence.Content = append(sequence.Content, e.pause.node())
		}
		sequence.Content = append(sequence.Content, e.node(p))
	}
	putNode(symptom, "sequence", sequence)
	record := &yaml.Node{Kind: yaml.MappingNode}
	putNode(record, "symptom", symptom)
	var text bytes.Buffer
	to := yaml.NewEncoder(&text)
	to.SetIndent(2)
	if err := to.Encode(record); err != nil {
		return "", fmt.Errorf("writing a symptom: %w", err)
	}
	return text.String(), nil
}

func (e *element) node(p *Proposal) *yaml.Node {
	to := &yaml.Node{Kind: yaml.MappingNode}
	setKey(to, "as", e.as)
	putNode(to, "match", patternNode(e.conditions))
	if len(e.events) > 1 {
		setKey(to, "count", len(e.events))
	}
	capture := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, of := range p.Symptom.Sequence {
		if of.As == e.as {
			for _, name := range slices.Sorted(maps.Keys(of.Capture)) {
				setKey(capture, name, of.Capture[name])
			}
		}
	}
	if len(capture.Content) > 0 {
		putNode(to, "capture", capture)
	}
	if e.within > 0 {
		setKey(to, "within", short(e.within))
	}
	if len(e.absent) > 0 {
		putNode(to, "absent", absentNode(e.absent))
	}
	return to
}

func (p *pause) node() *yaml.Node {
	to := &yaml.Node{Kind: yaml.MappingNode}
	putNode(to, "absent", absentNode([]absence{{conditions: p.conditions}}))
	setKey(to, "for", short(p.length))
	return to
}

func absentNode(all []absence) *yaml.Node {
	to := &yaml.Node{Kind: yaml.SequenceNode}
	for _, a := range all {
		of := patternNode(a.conditions)
		if a.since != "" {
			since := &yaml.Node{Kind: yaml.MappingNode}
			setKey(since, "since", a.since)
			of.Content = append(since.Content, of.Content...)
		}
		to.Content = append(to.Content, of)
	}
	return to
}

// fields are in the order in which patterns have them.
var fields = []string{"source", "verb", "resource", "namespace", "name", "actor", "code"}

func patternNode(conditions []condition) *yaml.Node {
	to := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	value := func(c condition) *yaml.Node {
		of := &yaml.Node{}
		if err := of.Encode(c.value); err != nil {
			panic(fmt.Sprintf("propose: %v", err)) // of texts, numbers and truths none is
		}
		if c.op != "" {
			compared := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
			putNode(compared, c.op, of)
			return compared
		}
		return of
	}
	for _, field := range fields {
		for _, c := range conditions {
			if c.field == field {
				putNode(to, field, value(c))
			}
		}
	}
	detail := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, c := range conditions {
		if key, is := strings.CutPrefix(c.field, "detail."); is {
			putNode(detail, key, value(c))
		}
	}
	if len(detail.Content) > 0 {
		putNode(to, "detail", detail)
	}
	return to
}

func setKey(to *yaml.Node, key string, value any) {
	of := &yaml.Node{}
	if err := of.Encode(value); err != nil {
		panic(fmt.Sprintf("propose: %v", err))
	}
	putNode(to, key, of)
}

func putNode(to *yaml.Node, key string, value *yaml.Node) {
	name := &yaml.Node{}
	name.SetString(key)
	to.Content = append(to.Content, name, value)
}

func short(span time.Duration) string { return strict.Duration(span).Short() }

// pasts are what became of an object, by the verbs of calls to the API server and the parts that they are about.
var pasts = map[string]string{
	"create": "created", "delete": "deleted", "patch": "changed", "update": "changed", "deletecollection": "deleted", "binding": "bound",
	"eviction": "evicted", "scale": "scaled", "status": "reported",
}

// label is what an element is called.
func label(r *history.Entry) string {
	kind := vocabulary.Kind(r.Object.Resource)
	if kind == "" {
		kind = r.Object.Resource
	}
	switch {
	case r.Source == history.Logged, r.Object.Resource == "events":
		return "said"
	case r.Source == history.Fault:
		return "the fault"
	case r.Source == history.API && r.Code >= 400:
		return kind + " refused"
	case r.Source == history.API:
		return kind + " " + act(r, pasts)
	case r.Source == history.Harness:
		return strings.TrimSpace(r.Actor + " " + r.Verb)
	}
	if strings.Contains(r.Verb, " ") || r.Code != 0 {
		return r.Verb
	}
	return strings.TrimSpace(kind + " " + r.Verb)
}

// act is a word for what a call does.
func act(r *history.Entry, words map[string]string) string {
	return cmp.Or(words[r.Detail.Text("subresource")], words[r.Verb], r.Verb)
}

// sentence says what happens, an element after the other.
func (d *Draft) sentence() string {
	var clauses []string
	for _, e := range d.elements {
		clause := e.clause()
		if n := len(clauses); n > 0 && clauses[n-1] == clause {
			continue
		}
		clauses = append(clauses, clause)
	}
	return upper(strings.Join(clauses, ", then "))
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// clause is about one element.
func (e *element) clause() string {
	r := &e.events[0]
	what := vocabulary.Kind(r.Object.Resource)
	if what == "" {
		what = "one of " + r.Object.Resource
	} else {
		what = "the " + what
	}
	for _, c := range e.conditions {
		if text, is := c.value.(string); c.field == "name" && is && c.capture == "" {
			what = strings.TrimPrefix(what, "one of ") + " " + text
		}
	}
	if n := len(e.events); n > 1 {
		what = fmt.Sprintf("%d of %s", n, r.Object.Resource)
	}
	switch {
	case r.Source == history.Logged, r.Object.Resource == "events":
		return r.Actor + e.message()
	case r.Source == history.API && r.Code >= 400:
		return fmt.Sprintf("%s may not %s %s (%d)", r.Actor, act(r, verbs), what, r.Code)
	case r.Source == history.API:
		return fmt.Sprintf("%s %s %s", r.Actor, act(r, thirds), what)
	case r.Source == history.Harness && r.Verb == history.Died:
		return r.Actor + " dies"
	case r.Source == history.Harness:
		return fmt.Sprintf("%s of %s by %s", r.Verb, what, r.Actor)
	case r.Source == history.Fault:
		return "the fault on " + r.Actor + " takes effect"
	case r.Source == history.Cloud && r.Code != 0:
		return fmt.Sprintf("%s calls %s", r.Actor, r.Verb)
	}
	return what + " is " + r.Verb
}

// verbs are what calls to the API server do, by their verbs and the parts that they are about, and thirds what one does who makes them.
var (
	verbs = map[string]string{
		"create": "create", "delete": "delete", "patch": "change", "update": "change", "deletecollection": "delete", "binding": "bind",
		"eviction": "evict", "scale": "scale", "status": "report on",
	}
	thirds = map[string]string{
		"create": "creates", "delete": "deletes", "patch": "changes", "update": "changes", "deletecollection": "deletes", "binding": "binds",
		"eviction": "evicts", "scale": "scales", "status": "reports on",
	}
)

// message is what a line of a log or an event says.
func (e *element) message() string {
	for _, field := range []string{"detail.message", "detail.reason"} {
		for _, c := range e.conditions {
			if c.field == field && c.capture == "" {
				return fmt.Sprintf(" says %q", c.value)
			}
		}
	}
	return " says something"
}
