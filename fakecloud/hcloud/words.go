package hcloud

import (
	"slices"
	"strings"
)

// Call is the name of the call (see Operations) that is meant by words such as "create
// servers", "delete servers", "list servers", "get servers", "update servers", "poweron
// servers" or "list actions of servers". Known are the words of all calls, for those
// that mean none.
func Call(words string) (name string, known []string) {
	for _, op := range operations() {
		said := wordsOf(op.name)
		if said == words {
			return op.name, nil
		}
		known = append(known, said)
	}
	slices.Sort(known)
	return "", slices.Compact(known)
}

// wordsOf says what a call does, and to what.
func wordsOf(name string) string {
	method, path, _ := strings.Cut(name, " ")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	verb := map[string]string{"POST": "create", "PUT": "update", "DELETE": "delete", "GET": "list"}[method]
	last := parts[len(parts)-1]
	switch {
	case len(parts) == 4 && method == "POST": // servers, {id}, actions, poweron
		return last + " " + parts[0]
	case method == "GET" && strings.HasPrefix(last, "{"):
		verb = "get"
	}
	what := parts[0]
	if len(parts) > 2 { // servers, {id}, actions
		what = parts[2] + " of " + parts[0]
	} else if len(parts) == 2 && !strings.HasPrefix(last, "{") { // servers, actions
		what = "all " + last + " of " + parts[0]
	}
	if len(parts) == 3 && parts[1] == "actions" { // servers, actions, {id}
		what = "any of all actions of " + parts[0]
	}
	return verb + " " + what
}
