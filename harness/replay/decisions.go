package replay

import (
	"fmt"
	"time"

	"nodestorm/sim/history"
)

// Decision is something that an autoscaler did to its machines. Names that are
// made up at random are replaced by their order of appearance.
type Decision struct {
	At   time.Duration `json:"at"` // virtual, since the run's start
	What string        `json:"what"`
}

// Decisions are the NodeClaims and Nodes created and deleted, and the instances of
// a cloud, in order.
func Decisions(records []history.Record) []Decision {
	var decisions []Decision
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
			decisions = append(decisions, Decision{r.Virtual, what})
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

// FirstDifference is the index at which two lists decide differently, or -1.
// When something was decided may differ: at 1x the machine's own speed shows.
func FirstDifference(a, b []Decision) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].What != b[i].What {
			return i
		}
	}
	return -1
}
