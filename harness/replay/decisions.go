package replay

import (
	"fmt"

	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

// Decisions are the NodeClaims and Nodes created and deleted, and the instances of
// a cloud, in order. No story has told them, so their Event is 0.
func Decisions(records []history.Record) []story.Decision {
	var decisions []story.Decision
	number := map[string]int{} // how many of a resource have been seen
	name := map[string]string{}
	done := map[string]bool{}
	for _, r := range records {
		resource := r.Object.Resource
		verb, ok := decided(r)
		if !ok {
			continue
		}
		key := r.Object.String()
		if name[key] == "" {
			number[resource]++
			name[key] = fmt.Sprintf("%s %d", resource[:len(resource)-1], number[resource])
		}
		if what := verb + " " + name[key]; !done[what] {
			done[what] = true
			decisions = append(decisions, story.Decision{At: r.Virtual, What: what})
		}
	}
	return decisions
}

// decided tells whether a record is a decision, and which.
func decided(r history.Record) (verb string, ok bool) {
	switch resource := r.Object.Resource; {
	case r.Source == history.Cloud && resource == "instances":
		verb, ok = map[string]string{"created": "create", "deleting": "delete"}[r.Verb]
	case r.Source == history.API && r.Code < 300 && (resource == "nodeclaims" || resource == "nodes") && r.Detail["subresource"] == nil:
		verb, ok = r.Verb, r.Verb == "create" || r.Verb == "delete"
	}
	return verb, ok
}
