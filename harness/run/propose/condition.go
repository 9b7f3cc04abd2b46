package propose

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/vocabulary"
)

// condition is one that a pattern has on a field of events.
type condition struct {
	field string // of a pattern, or detail.KEY
	op    string // as in package checker, "" for is
	value any
	rank  int
	// capture is the name of the captured field that the value refers to, empty if it refers to none.
	capture string

	values *checker.Values
}

// Ranks of conditions, in the order in which they are added. What is said of the kind of an event stays; so does what says that
// it is the same object's. Of the rest the last goes first.
const (
	core       = iota // of the kind of event: source, verb, resource, actor, refusal
	same              // of the object: what the scenario named it, or what was captured
	distinct          // what people look for: reason, replicas, grace period, added taints
	state             // what is so of the object, said with each change
	wordy             // texts, which differ from release to release
	needless          // what hardly ever matters
	everything        // more than all
)

// ranked are the details that are no state of their object, by their ranks.
var ranked = map[int][]string{
	same: {"subresource"},
	distinct: {
		"reason", "replicas", "gracePeriodSeconds", "from", "to", "delta", "added", "removed", "failed", "deleting", "exitCode", "code",
		"controller", "effect", "operation",
	},
	wordy:    {"message", "error", "args", "quoted"},
	needless: {"level", "type", "cpu", "container", "program", "capacity", "location"},
}

func rankOf(key string) int {
	for rank, keys := range ranked {
		if slices.Contains(keys, key) {
			return rank
		}
	}
	return state
}

// never are details that say nothing of another run: times, addresses, digests, versions.
var never = []string{
	"agent", "user", "cluster", "delay", "ip", "hourlyEUR", "seconds", "factor", "lagMaxMs", "lagP99Ms", "resourceVersion", "sha256", "port",
	"version", "fault", "call", "text", "step", "of", "at", "source", "again", "adopted",
}

// numbers are details whose numbers say something of another run.
var numbers = []string{"replicas", "gracePeriodSeconds", "from", "to", "delta", "cpu", "code", "exitCode"}

// withValues is a condition with its values. It panics of what is no value, which comes from events that JSON was read of.
func (c condition) withValues() condition {
	of := c.value
	if c.op != "" {
		of = map[string]any{c.op: c.value}
	}
	text, err := json.Marshal(of)
	c.values = new(checker.Values)
	if err == nil {
		err = c.values.UnmarshalJSON(text)
	}
	if err != nil {
		panic(fmt.Sprintf("propose: %s %s: %v", c.field, text, err))
	}
	return c
}

// pattern is one with all conditions up to a rank.
func pattern(conditions []condition, most int) *checker.Pattern {
	p := &checker.Pattern{}
	for _, c := range conditions {
		if c.rank > most {
			continue
		}
		switch c.field {
		case "source":
			p.Source = c.values
		case "verb":
			p.Verb = c.values
		case "resource":
			p.Resource = c.values
		case "namespace":
			p.Namespace = c.values
		case "name":
			p.Name = c.values
		case "actor":
			p.Actor = c.values
		case "code":
			p.Code = c.values
		default:
			if p.Detail == nil {
				p.Detail = map[string]*checker.Values{}
			}
			p.Detail[strings.TrimPrefix(c.field, "detail.")] = c.values
		}
	}
	return p
}

// kind are the conditions on what kind of event it is.
func kind(r *history.Entry) (all []condition) {
	add := func(field string, value any) {
		if value != "" {
			all = append(all, condition{field: field, value: value}.withValues())
		}
	}
	add("source", string(r.Source))
	if r.Source != history.Logged || r.Verb != "log" {
		add("verb", r.Verb)
	}
	add("resource", r.Object.Resource)
	if r.Source != history.Node && (r.Source != history.Cloud || r.Code != 0) {
		add("actor", r.Actor)
	}
	if r.Code >= 400 {
		add("code", r.Code)
	}
	return all
}

// fact is a field of an event that may distinguish it from others.
type fact struct {
	key   string // of the detail, "name" or "namespace"
	path  string // as in a capture
	value any
}

// factsOf are those of an event: its name and its details, of mappings each part.
func factsOf(r *history.Entry) (facts []fact) {
	if r.Object.Name != "" {
		facts = append(facts, fact{"name", "name", r.Object.Name})
	}
	if r.Object.Namespace != "" {
		facts = append(facts, fact{"namespace", "namespace", r.Object.Namespace})
	}
	for _, key := range slices.Sorted(maps.Keys(r.Detail)) {
		parts, is := r.Detail[key].(map[string]any)
		if !is {
			facts = append(facts, fact{key, "detail." + key, r.Detail[key]})
			continue
		}
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			facts = append(facts, fact{key, "detail." + key + "." + part, parts[part]})
		}
	}
	return facts
}

// text is a fact as a capture has it, empty of what cannot be captured.
func (f fact) text() string {
	switch value := f.value.(type) {
	case string:
		return value
	case float64:
		return strings.TrimSuffix(fmt.Sprintf("%.0f", value), ".")
	}
	return ""
}

// literal is the condition that a fact is as it is, none if other runs would have another.
func (n *names) literal(r *history.Entry, f fact) (c condition, ok bool) {
	c = condition{field: f.path, rank: rankOf(f.key)}
	switch {
	case f.key == "name":
		c.rank, c.value, ok = same, f.value, n.made[r.Object.Name]
	case f.key == "namespace":
		c.rank, c.value, ok = needless, f.value, n.namespace(r.Object.Namespace)
	case slices.Contains(never, f.key):
	default:
		ok = n.value(&c, f)
	}
	if !ok {
		return c, false
	}
	switch {
	case r.Source == history.Logged && f.key == "message":
		c.rank = core // or the pattern would be of any line
	case r.Object.Resource == "events" && f.key == "reason":
		c.rank = same
	}
	c = c.withValues()
	all := append(kind(r), c)
	return c, pattern(all, everything).Check() == nil
}

// value sets how a detail is compared.
func (n *names) value(c *condition, f fact) bool {
	switch value := f.value.(type) {
	case string:
		if n.links(f.key, value) {
			return false
		}
		if c.value = value; n.stable(value) && len(value) <= mostFragment {
			return true
		}
		part := n.fragment(value)
		c.op, c.value, c.rank = "contains", part, max(c.rank, distinct)
		return part != ""
	case float64:
		c.value = value
		return slices.Contains(numbers, f.key)
	case bool:
		c.value = value
		return true
	case []any:
		for _, item := range value { // the last one is the newest
			if text, is := item.(string); is && n.stable(text) {
				c.op, c.value = "contains", text
			}
		}
		return c.op != ""
	}
	return false
}

// aboutSame are conditions that say that a fact is about what was captured as name with a text.
func (n *names) aboutSame(r *history.Entry, f fact, name, text string) (c condition, ok bool) {
	has := f.text()
	at := strings.Index(has, text)
	switch {
	case at < 0 || slices.Contains(never, f.key):
		return c, false
	case has == text:
		c = condition{field: f.path, value: "$" + name}
	case insideWord(has, at, len(text)):
		return c, false
	case !strings.ContainsAny(has, " \n\t"):
		c = condition{field: f.path, value: strings.Replace(has, text, "${"+name+"}", 1)}
		if !n.stable(strings.Replace(has, text, "", 1)) {
			return c, false
		}
	case vocabulary.FormOf(r.Source, f.key) == vocabulary.Text:
		c = condition{field: f.path, op: "contains", value: "$" + name}
	default:
		return c, false
	}
	c.rank, c.capture = same, name
	return c.withValues(), true
}

// insideWord reports whether the part of a text from at on is only a part of a word of it.
func insideWord(text string, at, length int) bool {
	of := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '-' || text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'z')
	}
	return of(at-1) || of(at+length)
}
