package rest

import (
	"net/http"
	"strings"

	"nodestorm/fakecloud"
)

// router finds the operation of a request. http.ServeMux cannot: it sees a conflict between
// /servers/actions/{id} and /servers/{id}/actions, which the API has both.
type router map[int][]route // by number of segments

type route struct {
	method   string
	segments []string
	Operation
}

// unknown and unallowed are for requests that no operation is for.
var (
	Unknown   = refusal("unknown", fakecloud.Errorf("not_found", "route not found"))
	unallowed = refusal("unknown", fakecloud.Errorf("method_not_allowed", "method not allowed"))
)

func refusal(name string, err *fakecloud.Error) Operation {
	return Operation{Name: name, handle: func(*Call) (int, any, error) { return 0, nil, err }}
}

func NewRouter(all []Operation) router {
	r := router{}
	for _, op := range all {
		method, path, _ := strings.Cut(op.Name, " ")
		segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
		r[len(segments)] = append(r[len(segments)], route{method, segments, op})
	}
	return r
}

// Find returns the request's operation; the request has the values of its path then. Words go
// before wildcards.
func (r router) Find(req *http.Request) Operation {
	path, ok := strings.CutPrefix(req.URL.Path, Prefix+"/")
	if !ok {
		return Unknown
	}
	segments := strings.Split(path, "/")
	var best *route
	found := Unknown
	for k := range r[len(segments)] {
		candidate := &r[len(segments)][k]
		switch {
		case !candidate.matches(segments):
		case candidate.method != req.Method:
			found = unallowed
		case best == nil || candidate.moreSpecificThan(best):
			best = candidate
		}
	}
	if best == nil {
		return found
	}
	for k, segment := range best.segments {
		if isWildcard(segment) {
			req.SetPathValue(strings.Trim(segment, "{}"), segments[k])
		}
	}
	return best.Operation
}

func isWildcard(segment string) bool { return segment[0] == '{' }

func (r *route) matches(segments []string) bool {
	for k, segment := range r.segments {
		if !isWildcard(segment) && segment != segments[k] {
			return false
		}
	}
	return true
}

// moreSpecificThan reports whether r has a word where other has its first wildcard of the two.
func (r *route) moreSpecificThan(other *route) bool {
	for k := range r.segments {
		if a, b := isWildcard(r.segments[k]), isWildcard(other.segments[k]); a != b {
			return b
		}
	}
	return false
}
