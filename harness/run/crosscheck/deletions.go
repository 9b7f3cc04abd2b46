package crosscheck

import (
	"regexp"
	"slices"
	"strings"
)

// deletions: what is said to be removed was, and what was removed was said to be about to.
func (c *checking) deletions() {
	begun, done := map[string]int{}, map[string]int{}
	for _, s := range c.log.removing {
		begun[c.instance(s.node)]++
	}
	cleared := c.afterFailures()
	for _, r := range c.removed {
		if !r.granted {
			continue
		}
		c.counts.Removed++
		done[r.node]++
		switch {
		// mutant: a deletion that the log lacks is no matter
		case r.node == "" || cleared[r.seq] || c.takenBack(r):
		case begun[r.node] > 0:
			begun[r.node]--
		default:
			c.oneSided([]uint64{r.seq}, "the history has the deletion of %s at %s (event %d), and the log none", r.node, r.at, r.seq)
			continue
		}
		c.counts.Deletions++
	}
	lower := c.lowerings()
	gone := 0
	for _, e := range c.events {
		node := removedNode(e)
		if node == "" {
			continue
		}
		owed := !c.cloud || strings.HasPrefix(c.instance(node), placeholder)
		if owed {
			gone++
		}
		// mutant: a removal that is said and not done is no matter
		if !owed && done[c.instance(node)] == 0 || owed && gone > lower {
			c.oneSided([]uint64{e.seq}, "an event says at %s that %s is removed, and the history has no deletion of it", e.at, node)
		}
	}
}

// afterFailures are the deletions of instances that could not be created. The log says how many of a group.
func (c *checking) afterFailures() map[uint64]bool {
	of := map[uint64]bool{}
	for i, s := range c.log.cleared {
		until := c.end + 1
		for _, later := range c.log.cleared[i+1:] {
			if later.group == s.group {
				until = later.at - slack
				break
			}
		}
		found := !c.cloud || c.atEnd(s.at) || slices.ContainsFunc(c.scaled, func(w call) bool {
			return w.group == s.group && w.at >= s.at-slack && w.at < until
		})
		for _, r := range c.removed {
			if r.group == s.group && r.at >= s.at-slack && r.at < until {
				of[r.seq], found = true, true
			}
		}
		if !found {
			c.oneSided(nil, "the log has the deletion of %d instances of the group %s that were not created at %s, and the history none",
				s.n, s.group, s.at)
		}
	}
	return of
}

// takenBack reports whether a deletion is that of an instance whose creation the autoscaler has given up.
func (c *checking) takenBack(r call) bool {
	for _, a := range c.attempts {
		if r.at < a.until && slices.ContainsFunc(a.calls, func(made call) bool { return made.node == r.node && made.at <= r.at }) {
			return true
		}
	}
	return false
}

// lowerings are how many writes there are of sizes that are no scale-up's, each of which needs a node to be removed,
// or a target to be lowered.
func (c *checking) lowerings() int {
	lower := 0
	for _, w := range c.scaled {
		if w.granted {
			lower++
		}
	}
	said := len(c.log.removing) + len(c.log.lowered)
	for _, s := range c.log.cleared {
		said += s.n
	}
	if lower > said {
		c.oneSided(nil, "the history has %d writes of sizes that are no scale-up, and the log causes for %d", lower, said)
	}
	c.counts.Removed += lower
	c.counts.Deletions += min(lower, said)
	return lower
}

// The texts of events that say that an instance is gone, with the node or what it is called without one.
var removals = []*regexp.Regexp{
	regexp.MustCompile(`^Scale-down: empty node (\S+) removed`),
	regexp.MustCompile(`^Scale-down: node (\S+) removed with drain`),
	regexp.MustCompile(`^Removed unregistered node (\S+)`),
}

// removedNode is the node that an event says is removed, or "".
func removedNode(e call) string {
	for _, pattern := range removals {
		if m := pattern.FindStringSubmatch(e.text); m != nil && e.granted {
			return m[1]
		}
	}
	return ""
}
