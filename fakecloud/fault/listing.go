package fault

import (
	"fmt"
	"strings"

	"nodestorm/sim/time/lapse"
)

// Stale means that the listing shows what was true earlier.
type Stale struct {
	// By is how old the listing is; never older than the fault is active. Zero means that it
	// stays as it was when the fault became active.
	By lapse.Duration `json:"by"`
}

// Partial means that the listing ends early, as if there were no more.
type Partial struct {
	// Keep is how many entries are left, zero or more.
	Keep int `json:"keep"`
}

// Missing means that entries which Match fits are left out of the listing.
type Missing struct {
	// For is how long after its creation an entry is missing. Zero means as long as the
	// fault is active.
	For lapse.Duration `json:"for"`
}

func (Stale) String() string   { return "stale" }
func (Partial) String() string { return "partial" }
func (Missing) String() string { return "missing" }

// listed reports whether an effect in the listing acts on a call. Those lists are GET /servers, NodeGroupNodes and DescribeInstances, and for
// Partial and Missing NodeGroups and the ones of actions: GET /actions, GET /servers/actions, GET /servers/{id}/actions
// and so on. Others show what is there, whatever the faults.
func listed(e Effect, operation string) bool {
	_, stale := e.(Stale)
	switch {
	case operation == "GET /servers" || operation == "NodeGroupNodes" || operation == "DescribeInstances":
		return true
	case stale:
		return false
	}
	return operation == "NodeGroups" || strings.HasPrefix(operation, "GET ") && strings.HasSuffix(operation, "/actions")
}

// Point implements Effect.
func (Stale) Point() Point { return Listing }

// Point implements Effect.
func (Partial) Point() Point { return Listing }

// Point implements Effect.
func (Missing) Point() Point { return Listing }

func (e Stale) check(Fault) error { return lapse.NotNegative("stale.by", e.By) }

func (e Partial) check(Fault) error {
	if e.Keep < 0 {
		return fmt.Errorf("field partial.keep is %d: want zero or more", e.Keep)
	}
	return nil
}

func (e Missing) check(Fault) error { return lapse.NotNegative("missing.for", e.For) }
