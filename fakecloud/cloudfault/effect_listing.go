package cloudfault

import (
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// listsInstances reports whether an operation lists instances.
func listsInstances(operation string) bool {
	return operation == "GET /servers" || operation == "NodeGroupNodes" || operation == "DescribeInstances"
}

// listsMore reports that, or whether it lists groups or actions: GET /actions, GET /servers/actions, GET
// /servers/{id}/actions and so on. Other listings show what is there, whatever the faults.
func listsMore(operation string) bool {
	return listsInstances(operation) || operation == "NodeGroups" ||
		strings.HasPrefix(operation, "GET ") && strings.HasSuffix(operation, "/actions")
}

// Stale means that the listing of instances shows what was true earlier.
type Stale struct {
	// By is how old the listing is; never older than the fault is active. Zero means that it
	// stays as it was when the fault became active.
	By strict.Duration `json:"by"`
}

var _ = lists.Add("stale", Stale{},
	fault.Say("gets a list that is DURATION old", "by"), fault.Say("gets a list that is frozen from the start of the fault"))

// Lists implements Lister.
func (Stale) Lists(operation string) bool { return listsInstances(operation) }

// ListingTime implements Stales.
func (e Stale) ListingTime(now, from time.Time) time.Time {
	if at := now.Add(-time.Duration(e.By)); e.By > 0 && at.After(from) {
		return at
	}
	return from
}

// Lag implements Stales.
func (e Stale) Lag() time.Duration { return time.Duration(e.By) }

// Partial means that the listing ends early, as if there were no more.
type Partial struct {
	// Keep is how many entries are left, zero or more.
	Keep int `json:"keep"`
}

var _ = lists.Add("partial", Partial{}, fault.Say("gets a list of the first N only", "keep"))

// Check implements fault.Checker.
func (e Partial) Check(fault.Fault) error {
	if e.Keep < 0 {
		return fmt.Errorf("field partial.keep is %d: want zero or more", e.Keep)
	}
	return nil
}

// Lists implements Lister.
func (Partial) Lists(operation string) bool { return listsMore(operation) }

// Shorten implements Shortener.
func (e Partial) Shorten(entries int) int { return min(entries, e.Keep) }

// Missing means that entries which Match fits are left out of the listing.
type Missing struct {
	// For is how long after its creation an entry is missing. Zero means as long as the
	// fault is active.
	For strict.Duration `json:"for"`
}

var _ = lists.Add("missing", Missing{},
	fault.Say("gets an empty list"), fault.Say("gets a list without those that are younger than DURATION", "for"))

// Lists implements Lister.
func (Missing) Lists(operation string) bool { return listsMore(operation) }

// Hides implements Hider.
func (e Missing) Hides(created, now time.Time) bool {
	return e.For == 0 || now.Before(created.Add(time.Duration(e.For)))
}
