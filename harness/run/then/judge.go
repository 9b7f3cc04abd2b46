package then

import (
	"time"

	"nodestorm/sim/history"
)

// Judge is the judgement of one observation in one run.
type Judge struct {
	Observation
	asked, begun uint64        // Seq of the events from which the phases count
	settled      time.Duration // from when it can be decided
	due          bool          // it has not been looked at since
	end          time.Duration // of the window
}

// NewJudge judges from here on: the last of the events, which are in the order of
// arrival, is of the step before or came after it.
func NewJudge(o Observation, events []history.Entry) *Judge {
	j := &Judge{Observation: o}
	var last history.Role
	for _, r := range events {
		step, ok := history.OutcomeOf(r)
		if !ok {
			continue
		}
		if step.Role == history.When && last != step.Role {
			j.asked = j.begun
		}
		last, j.begun, j.end = step.Role, r.Seq, r.Virtual
	}
	j.settled, j.due = j.end+o.settle, o.settle > 0
	j.end += o.window
	return j
}

// settles reports whether it holds as soon as it can be decided.
func (j *Judge) settles() bool {
	j.due = false
	return j.over() == nil
}

// Add takes in the next event. What happened after the window decides nothing.
func (j *Judge) Add(r history.Entry) (decided bool, err error) {
	if r.Virtual > j.end && j.window > 0 {
		return false, nil
	}
	if j.due && r.Seq >= j.begun && r.Virtual >= j.settled && j.settles() {
		return true, nil
	}
	at := earlier
	switch {
	case r.Seq >= j.begun && !j.due:
		at = begun
	case r.Seq > j.asked:
		at = asked
	}
	return j.see(r, at)
}

// Next is the time, since the start of the run, at which it can be decided without an event, see DecideAt.
func (j *Judge) Next() time.Duration {
	if j.due {
		return j.settled
	}
	return j.end
}

// DecideAt decides without an event, if it can, at a time that was the Next.
func (j *Judge) DecideAt(now time.Duration) (decided bool, err error) {
	switch {
	case j.due:
		return j.settles(), nil
	case now < j.end:
		return false, nil
	}
	return true, j.over()
}
