// Package crosscheck holds what Cluster Autoscaler says of itself, in its log and in its events, against what the
// history has of it, which comes from others: the cloud, and kube-apiserver's audit log. Scale-ups, back-offs and
// deletions are counted both ways. Where both do not agree, one of our instruments may lie, or the autoscaler
// does; the latter is for a record to document.
//
// It knows the log's words, and nothing of what a run ought to show.
package crosscheck

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// Program is what Cluster Autoscaler is called, as a target, an actor and a component.
const Program = "cluster-autoscaler"

// Counts are how many of each kind the log has, and how many the history.
type Counts struct {
	// ScaleUps are those that were asked for. Asked are those of which the history has a call or a write, Given those that the
	// log itself has given up before any.
	ScaleUps int `json:"scaleUps"`
	Asked    int `json:"asked"`
	Given    int `json:"givenUp"`
	// Backoffs are back-offs, Causes what the history has of their causes.
	Backoffs int `json:"backoffs"`
	Causes   int `json:"causes"`
	// Deletions are the deletions in the history of which the log has the cause, Removed all of them.
	Deletions int `json:"deletions"`
	Removed   int `json:"removed"`
	// Events are those that were sent, Written those in the audit log.
	Events  int `json:"events"`
	Written int `json:"written"`
}

// Add adds others.
func (c *Counts) Add(o Counts) {
	c.ScaleUps, c.Asked, c.Given = c.ScaleUps+o.ScaleUps, c.Asked+o.Asked, c.Given+o.Given
	c.Backoffs, c.Causes = c.Backoffs+o.Backoffs, c.Causes+o.Causes
	c.Deletions, c.Removed = c.Deletions+o.Deletions, c.Removed+o.Removed
	c.Events, c.Written = c.Events+o.Events, c.Written+o.Written
}

// String is a line.
func (c Counts) String() string {
	return fmt.Sprintf("%d scale-ups (%d in the history, %d given up before any call), %d back-offs (%d causes in the history), "+
		"%d of %d deletions, %d events (%d in the history)",
		c.ScaleUps, c.Asked, c.Given, c.Backoffs, c.Causes, c.Deletions, c.Removed, c.Events, c.Written)
}

// Disagreement is something of which log and history say different things.
type Disagreement struct {
	// Lost says that one of both does not have it at all: an instrument may lie, and nothing can be concluded. Otherwise both
	// have it, and the autoscaler says something else of how it ended.
	Lost bool   `json:"lost,omitempty"`
	Text string `json:"text"`
	// Evidence are the events about it, by their Seq: a record that documents it has one of them in its symptom.
	Evidence []uint64 `json:"evidence,omitempty"`
}

// slack is how much earlier than its cause an event may be: clocks of programs are read at their beginning
// and end.
const slack = 10 * time.Millisecond

// lastWords is how long before and after its end the autoscaler may log what it then no longer does.
const lastWords = 2 * time.Second

// Check compares a log with a history, whose events are in the order of time.
func Check(events iter.Seq[history.Entry], log *Log) (Counts, []Disagreement) {
	c := &checking{facts: factsOf(events), log: log, refused: map[string][]attempt{}}
	for _, all := range [][]logLine{log.asked, log.failed, log.backoffs, log.removing, log.cleared, log.lowered, log.events} {
		slices.SortStableFunc(all, func(a, b logLine) int { return cmp.Compare(a.at, b.at) }) // of several logs
	}
	c.sent()
	c.scaleUps()
	c.backedOff()
	c.deletions()
	return c.counts, c.found
}

type checking struct {
	facts
	log    *Log
	counts Counts
	found  []Disagreement
	// attempts are what was asked for, with the calls that followed.
	attempts []attempt
	refused  map[string][]attempt // by group: of which the log has no failure
}

// oneSided notes what only one of both has.
func (c *checking) oneSided(evidence []uint64, format string, args ...any) {
	c.found = append(c.found, Disagreement{true, fmt.Sprintf(format, args...), evidence})
}

// untrue notes what both have otherwise.
func (c *checking) untrue(evidence []uint64, format string, args ...any) {
	c.found = append(c.found, Disagreement{false, fmt.Sprintf(format, args...), evidence})
}

// sent: each event that the log has is in the audit log, and the other way round. Calls that were refused are
// tried again, and say of no reason.
func (c *checking) sent() {
	if len(c.log.events) == 0 {
		return // a log of less detail
	}
	sent, last, written := map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range c.log.events {
		sent[e.code]++
		if c.atEnd(e.at) {
			last[e.code]++
		}
	}
	refused := 0
	for _, e := range c.events {
		if e.granted {
			written[e.code]++
		} else {
			refused++
		}
	}
	for _, reason := range reasons(sent, written) {
		c.counts.Events += sent[reason]
		c.counts.Written += written[reason]
		if more := sent[reason] - written[reason]; more < 0 || more > last[reason]+refused {
			c.oneSided(nil, "the log has %d events %s, and the history %d", sent[reason], reason, written[reason])
		}
	}
}

func reasons(of ...map[string]int) (all []string) {
	for _, m := range of {
		for reason := range m {
			if !slices.Contains(all, reason) {
				all = append(all, reason)
			}
		}
	}
	slices.Sort(all)
	return all
}

// attempt is a scale-up that was asked for.
type attempt struct {
	logLine
	until  time.Duration // the next one of the group
	failed bool          // as the log says
	calls  []call
}

func (a attempt) granted() bool {
	return slices.ContainsFunc(a.calls, func(c call) bool { return c.granted })
}

func (a attempt) seqs() (all []uint64) {
	for _, c := range a.calls {
		all = append(all, c.seq)
	}
	return all
}

// scaleUps: what was asked for is in the history, and what is in the history was asked for.
func (c *checking) scaleUps() {
	c.counts.ScaleUps = len(c.log.asked)
	for i, s := range c.log.asked {
		a := attempt{logLine: s, until: c.end + 1}
		next := c.end + 1
		for _, later := range c.log.asked[i+1:] {
			next = min(next, later.at)
			if later.group == s.group {
				a.until = later.at - slack
				break
			}
		}
		a.failed = slices.ContainsFunc(c.log.failed, func(f logLine) bool { return f.at >= s.at && f.at < next })
		c.attempts = append(c.attempts, a)
	}
	for _, r := range c.raised {
		k := c.attemptOf(r)
		if k < 0 {
			c.counts.Asked++
			c.oneSided([]uint64{r.seq}, "the history has a scale-up of the group %s at %s (event %d), and the log none", r.group, r.at, r.seq)
			continue
		}
		c.attempts[k].calls = append(c.attempts[k].calls, r)
	}
	var rest []call
	for _, w := range c.scaled {
		k := c.attemptOf(w)
		if k >= 0 && (!w.granted || w.n < 0 || w.n == c.attempts[k].n) && !c.attempts[k].granted() {
			c.attempts[k].calls = append(c.attempts[k].calls, w)
			continue
		}
		rest = append(rest, w)
	}
	c.scaled = rest
	for _, a := range c.attempts {
		c.judgeAttempt(a)
	}
	c.swallowed()
}

// attemptOf is the last one of the call's group before it, or -1.
func (c *checking) attemptOf(of call) int {
	for k := len(c.attempts) - 1; k >= 0; k-- {
		a := c.attempts[k]
		if a.group == of.group && of.at >= a.at-slack && of.at < a.until {
			return k
		}
	}
	return -1
}

func (c *checking) judgeAttempt(a attempt) {
	about := fmt.Sprintf("the scale-up of the group %s to %d at %s", a.group, a.n, a.at)
	switch {
	case len(a.calls) > 0:
		c.counts.Asked++
	case a.failed:
		c.counts.Given++
	}
	switch {
	case c.atEnd(a.at) || len(a.calls) == 0 && a.failed:
	// mutant: a scale-up that the history lacks is no matter
	case len(a.calls) == 0:
		c.oneSided(nil, "the log has %s, and the history no call", about)
	case !a.granted() && !a.failed:
		c.refused[a.group] = append(c.refused[a.group], a)
	case a.failed && a.granted() && a.oneCall() && !c.faulty(a.group, a.at-slack, a.until):
		c.untrue(a.seqs(), "the log has %s as failed, and the history as granted, with no fault that hid it", about)
	}
	granted := slices.DeleteFunc(slices.Clone(a.calls), func(r call) bool { return !r.granted })
	if a.oneCall() && len(granted) > 1 {
		c.oneSided(a.seqs(), "the log has %s only, and the history %d from then on", about, len(granted))
	}
}

// swallowed are the scale-ups of which the autoscaler does not say that they were refused, together for each group.
func (c *checking) swallowed() {
	for _, group := range slices.Sorted(maps.Keys(c.refused)) {
		all, seqs := c.refused[group], []uint64(nil)
		for _, a := range all {
			seqs = append(seqs, a.seqs()...)
		}
		c.untrue(seqs, "the log has no failure of %d scale-up(s) of the group %s that were refused, the first at %s", len(all), group, all[0].at)
	}
}

// oneCall reports whether the call says all of the attempt: the Hetzner provider makes one for each server, and
// waits for its actions.
func (a attempt) oneCall() bool {
	return len(a.calls) > 0 && a.calls[0].node == ""
}

// backoff is a reason to leave a group alone: what an event says of it, and the code that the log has for
// it. Another reason is whatever the cloud says of instances that it cannot create.
type backoff struct {
	event *regexp.Regexp // with the group
	code  string
}

var backoffs = []backoff{
	{regexp.MustCompile(`^Scale-up failed for group (\S+):`), "cloudProviderError"},
	{regexp.MustCompile(`^Nodes added to group (\S+) failed to register`), "timeout"},
	{regexp.MustCompile(`^Failed adding \d+ nodes to group (\S+) due to`), ""},
}

// matches reports whether a line of the log is about the back-off.
func (b backoff) matches(s logLine) bool {
	return s.code == b.code || b.code == "" && s.code != backoffs[0].code && s.code != backoffs[1].code
}

// backedOff: each back-off has a cause in the history, and each cause a back-off.
func (c *checking) backedOff() {
	for _, b := range backoffs {
		said, last, causes, seqs := map[string]int{}, map[string]int{}, map[string]int{}, map[string][]uint64{}
		for _, s := range c.log.backoffs {
			if b.matches(s) {
				said[s.group]++
				if c.atEnd(s.at) {
					last[s.group]++
				}
			}
		}
		for _, e := range c.events {
			if m := b.event.FindStringSubmatch(e.text); m != nil && e.granted {
				causes[m[1]]++
				seqs[m[1]] = append(seqs[m[1]], e.seq)
			}
		}
		for _, group := range reasons(said, causes) {
			most := max(causes[group], c.withoutEvent(b, group))
			c.counts.Backoffs += said[group]
			c.counts.Causes += min(most, max(said[group], causes[group]))
			switch {
			// mutant: a back-off needs no cause
			case said[group]-last[group] > most:
				c.oneSided(seqs[group], "the log has %d back-offs of the group %s, and the history %d causes", said[group], group, most)
			case said[group] < causes[group]:
				c.oneSided(seqs[group], "the history has %d causes of back-offs of the group %s, and the log %d back-offs",
					causes[group], group, said[group])
			}
		}
	}
}

// withoutEvent counts the causes in the history that are not events: the autoscaler sends no event that says the
// same as one of the last minutes.
func (c *checking) withoutEvent(b backoff, group string) (n int) {
	switch b.code {
	case "":
		for _, f := range c.failed {
			if f.group == group {
				n++
			}
		}
	case backoffs[0].code:
		for _, a := range c.attempts {
			if a.group == group && a.failed && !a.granted() {
				n++
			}
		}
	}
	return n
}
