package rest

import "strings"

// WordsOf says what a call does, and to what.
func WordsOf(name string) string {
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
