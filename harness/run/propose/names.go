package propose

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// names are those of a run's objects: made by its scenario, which have them in each of its runs, or by programs, which make
// another one each time.
type names struct {
	made   map[string]bool
	others map[string]bool
	hidden func(text string) bool
}

var (
	word = regexp.MustCompile(`[A-Za-z0-9]+(?:[-.][A-Za-z0-9]+)*`)
	// piece is a part of a text that may be a name.
	piece = regexp.MustCompile(`[A-Za-z0-9]+(?:[-._][A-Za-z0-9]+)*`)
)

// makers are the actors of what a scenario makes itself.
var makers = []string{history.People, "nodestorm", "kubernetes-admin"}

// generated are resources whose names are made up by what creates one.
var generated = []string{"events", "leases", "secrets", "certificatesigningrequests", "bindings"}

func namesOf(events []history.Entry) names {
	n := names{made: map[string]bool{}, others: map[string]bool{}}
	for _, r := range events {
		role := history.Role(r.Detail.Text("kind"))
		switch {
		case r.Source == history.Step && role != history.Then:
			for _, text := range []string{r.Detail.Text("text"), r.Detail.Text("quoted")} {
				for _, found := range word.FindAllString(text, -1) {
					n.made[found] = true
				}
			}
		case r.Source == history.API && r.Verb == "create" && slices.Contains(makers, r.Actor) && !slices.Contains(generated, r.Object.Resource):
			n.made[r.Object.Name] = true
		}
	}
	delete(n.made, "")
	for _, r := range events {
		if name := r.Object.Name; len(name) > 2 && !n.made[name] {
			n.others[name] = true
		}
	}
	return n
}

// links reports whether a text identifies something that the scenario did not name.
func (n *names) links(key, text string) bool {
	switch {
	case key == "namespace" || len(text) < 3 || n.made[text] || strings.ContainsFunc(text, unicode.IsSpace):
		return false
	case key == "providerID" || key == "id":
		return true
	}
	return n.others[text]
}

// stable reports whether a text is the same in each run of the scenario, as far as its form says: it has no numbers and no
// names that the scenario did not make.
func (n *names) stable(text string) bool {
	if text == "" || n.hidden != nil && n.hidden(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	for _, found := range piece.FindAllString(text, -1) {
		switch {
		case n.made[found]:
		case strings.ContainsFunc(found, unicode.IsDigit), n.others[found] && strings.ContainsAny(found, "-_"):
			return false
		}
	}
	return true
}

// mostFragment bounds a part of a message, in bytes.
const mostFragment = 70

// fragment is the longest part of a text that is stable, of whole words; empty if it says nothing.
func (n *names) fragment(text string) string {
	best, begin, end := "", -1, -1
	take := func() {
		if begin >= 0 {
			if part := strings.Trim(text[begin:end], " ,.:;"); len(part) > len(best) {
				best = part
			}
		}
		begin = -1
	}
	for at := 0; at < len(text); {
		next := strings.IndexFunc(text[at:], unicode.IsSpace)
		if next < 0 {
			next = len(text) - at
		}
		token := text[at : at+next]
		switch {
		case token == "":
		case !n.stable(token), strings.ContainsAny(token, `"\`), begin >= 0 && at+next-begin > mostFragment:
			take()
		default:
			if begin < 0 {
				begin = at
			}
			end = at + next
		}
		at += next + 1
	}
	if take(); len(best) < 8 {
		return ""
	}
	return best
}

// namespace reports whether events may name it: the scenario makes it, or every world has it.
func (n *names) namespace(name string) bool {
	return n.made[name] || slices.Contains(vocabulary.Namespaces(), name)
}
