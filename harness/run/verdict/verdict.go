// Package verdict decides what a run has shown: healthy, reproduced, failed or
// inconclusive, and whether that is what the catalogue expects. It is pure: the
// same history gives the same verdict, live or stored.
package verdict

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/oneline"
)

// Verdict is what a run has shown.
type Verdict string

// The verdicts. A feature states the right behaviour, so a bug shows as a Then
// that fails.
const (
	// Healthy: the failure was possible, the target has worked, and every step passed
	// in an undistorted world.
	Healthy Verdict = "healthy"
	// Reproduced: a Then failed or an invariant is broken, and the documented symptom and its trigger are in the
	// history. A symptom without its trigger came about by another mechanism than the
	// documented one, which the record does not describe.
	Reproduced Verdict = "reproduced"
	// Failed: a Then failed or an invariant is broken in another way than documented, or the
	// target died.
	Failed Verdict = "failed"
	// Inconclusive: the rig could not decide. It counts neither as passed nor as
	// failed.
	Inconclusive Verdict = "inconclusive"
)

// Input is all that a verdict depends on.
type Input struct {
	Steps []history.Outcome
	// Symptom is what the checker found of the record's symptom, Trigger of what made
	// it possible.
	Symptom, Trigger checker.Finding
	// Broken are the invariants of the record, and of its catalogue, that do not hold.
	Broken []checker.Finding
	// Always are those of every run that do not hold.
	Always []invariants.Broken
	// Breaks are the invariants that the record's failure breaks: names of those of every
	// run, statements of its own. Known says, of those of every run, which other documented
	// failure breaks it on the target's release.
	Breaks []string
	Known  map[string]string
	// Undocumented says that the scenario has no record: there is no symptom to look for.
	Undocumented bool
	// Idle says in a sentence what the target has not done of the work that the record
	// asks of it, empty if it has.
	Idle string
	// Distortion says in a sentence why the clock spoilt the run, empty if it did
	// not.
	Distortion string
	// Absent says that the target is not in the history, empty if it is.
	Absent string
	// Unjudged says which invariant took too long to judge, empty if none did.
	Unjudged string
	// Poolless says that nothing could launch a machine, empty if something could.
	Poolless string
	// Incomplete says what the history lacks, empty if it is complete.
	Incomplete string
	// FaultsUnmet are the faults that never took effect, Deaths the components of
	// ours that died though nothing was to kill them.
	FaultsUnmet, Deaths []string
	// TargetDeath is how the target died, zero if it did not.
	TargetDeath Death
}

// Death is how a program ended that was not to.
type Death struct {
	Seq  uint64 // of the event that says so
	Text string // its name, exit status or signal, and cause
}

// Judgement is a verdict with the reason and the events that show it.
type Judgement struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // one line
	// Evidence are the Seq of events of the history, in the order of time.
	Evidence []uint64 `json:"evidence,omitempty"`
	// Broken are the names of the invariants of every run that do not hold.
	Broken []string `json:"broken,omitempty"`
}

// Judge decides. All that makes a run inconclusive is in the reason.
func Judge(in Input) Judgement {
	j := decide(in)
	failed := slices.ContainsFunc(in.Steps, func(s history.Outcome) bool { return s.Status == "failed" })
	// mutant: a pod without a machine has no reason
	if failed && in.Poolless != "" && j.Verdict != Reproduced {
		j.Reason += "; " + in.Poolless
	}
	for _, broken := range in.Always {
		j.Broken = append(j.Broken, broken.Name)
		if j.Verdict == Reproduced && !slices.Contains(in.Breaks, broken.Name) {
			j.Reason += fmt.Sprintf("; it breaks %s as well, which the record does not say in breaks: %s (%s)",
				broken.Name, broken.Statement, oneline.Ends(broken.Reason))
		}
	}
	return j
}

func decide(in Input) Judgement {
	var spoilt []string
	for _, death := range in.Deaths {
		spoilt = append(spoilt, "a component died: "+death)
	}
	// mutant: whatever step fails beside a death fails of it
	failedThen, problem := judgeSteps(in.Steps, in.documentsDeath())
	// The world ends with its target: no step and no fault after that says anything.
	died := in.TargetDeath.Text != "" && !in.documentsDeath()
	for _, text := range []string{problem, in.Distortion, in.Incomplete, in.Unjudged} {
		if text != "" && (!died || text != problem) {
			spoilt = append(spoilt, text)
		}
	}
	if !died {
		for _, fault := range in.FaultsUnmet {
			spoilt = append(spoilt, "a fault never took effect: "+fault)
		}
		if len(in.FaultsUnmet) > 0 {
			spoilt = append(spoilt, `if they may miss, say "faults need not take effect"`)
		}
	}
	if len(spoilt) > 0 {
		return inconclusive(strings.Join(spoilt, "; "))
	}
	if died {
		return Judgement{Verdict: Failed, Reason: "the target died: " + in.TargetDeath.Text, Evidence: []uint64{in.TargetDeath.Seq}}
	}
	// mutant: a broken invariant does not count
	if failedThen == nil && len(in.Broken) == 0 {
		return withoutFailure(in).judgeInvariants(in)
	}
	failure := in.failure(failedThen)
	if in.Absent != "" {
		return inconclusive(failure + "; nothing was put to the test: " + in.Absent)
	}
	if in.Undocumented {
		return Judgement{Verdict: Failed, Reason: failure + "; " + undocumented, Evidence: in.breaking()}
	}
	for _, broken := range in.Broken {
		if !in.documents(broken) {
			return Judgement{Verdict: Failed, Reason: failure + "; not as documented, " + in.undocumented(broken), Evidence: broken.Evidence}
		}
	}
	switch in.Symptom.Result {
	case checker.Valid:
		if untested := in.untested(); untested != "" {
			return inconclusive(failure + "; the symptom is in the history, and nothing was put to the test: " + untested)
		}
		reason := failure + "; the symptom is in the history: " + in.Symptom.Statement
		return Judgement{Verdict: Reproduced, Reason: reason, Evidence: in.Symptom.Evidence}
	case checker.Invalid:
		return Judgement{Verdict: Failed, Reason: failure + "; not as documented, the symptom is not in the history: " + in.Symptom.Reason}
	}
	return inconclusive(failure + "; cannot determine whether the documented symptom is in the history: " + in.Symptom.Reason)
}

// judgeInvariants judges a run that is healthy but for the invariants of every run. One that a
// known failure breaks leaves it healthy.
func (j Judgement) judgeInvariants(in Input) Judgement {
	if j.Verdict != Healthy {
		return j
	}
	for _, broken := range in.Always {
		// mutant: an invariant of every run leaves a run healthy
		because, known := in.Known[broken.Name]
		if !known {
			reason := fmt.Sprintf("%s is broken: %s (%s)", broken.Name, broken.Statement, oneline.Ends(broken.Reason))
			return Judgement{Verdict: Failed, Reason: reason, Evidence: broken.Evidence}
		}
		j.Reason += fmt.Sprintf("; %s is broken, which is known: %s", broken.Name, because)
	}
	return j
}

// failure names the Then that failed, if any, and the invariants that are broken.
func (in *Input) failure(failedThen *history.Outcome) string {
	var all []string
	if failedThen != nil {
		all = append(all, "failed: "+line(failedThen))
	}
	for _, broken := range in.Broken {
		all = append(all, fmt.Sprintf("an invariant is broken: %s (%s)", broken.Statement, oneline.Ends(broken.Reason)))
	}
	return strings.Join(all, "; ")
}

// documents reports whether the record says that its failure breaks the invariant, and what
// does, the last of its evidence, is part of the symptom.
func (in *Input) documents(broken checker.Finding) bool {
	n := len(broken.Evidence)
	// mutant: any symptom documents a broken invariant
	shown := n > 0 && slices.Contains(in.Symptom.Evidence, broken.Evidence[n-1])
	// mutant: whatever a record does not name it may break
	return slices.Contains(in.Breaks, broken.Statement) && in.Symptom.Result == checker.Valid && shown
}

// undocumented says why what breaks the invariant is not the documented failure.
func (in *Input) undocumented(broken checker.Finding) string {
	if !slices.Contains(in.Breaks, broken.Statement) {
		return fmt.Sprintf("the record does not say in breaks that its failure breaks %q", broken.Statement)
	}
	return "the symptom does not have what breaks the invariant"
}

// breaking are the events that show the first invariant that is broken.
func (in *Input) breaking() []uint64 {
	if len(in.Broken) == 0 {
		return nil
	}
	return in.Broken[0].Evidence
}

const undocumented = "the scenario has no record, so nothing documented was looked for"

// documentsDeath reports whether the symptom is that the target dies.
func (in *Input) documentsDeath() bool {
	return in.Symptom.Result == checker.Valid && slices.Contains(in.Symptom.Evidence, in.TargetDeath.Seq)
}

// untested says what made the failure possible in no part of the run, or "".
func (in *Input) untested() string {
	if in.Trigger.Result == checker.Valid {
		return ""
	}
	return fmt.Sprintf("it cannot be seen that %q (%s)", in.Trigger.Statement, in.Trigger.Reason)
}

// withoutFailure judges a run whose steps all passed.
func withoutFailure(in Input) Judgement {
	switch {
	case in.Undocumented && in.Idle != "":
		return inconclusive("every step passed, but nothing was put to the test: " + in.Idle)
	case in.Undocumented:
		return Judgement{Verdict: Healthy, Reason: "every step passed; " + undocumented}
	}
	switch in.Symptom.Result {
	case checker.Valid:
		j := inconclusive("every step passed, yet the documented symptom is in the history: " + in.Symptom.Statement)
		j.Evidence = in.Symptom.Evidence
		return j
	case checker.Invalid:
		var missing []string
		for _, what := range []string{in.untested(), in.Idle} {
			if what != "" {
				missing = append(missing, what)
			}
		}
		if len(missing) > 0 {
			return inconclusive("every step passed, but nothing was put to the test: " + strings.Join(missing, "; "))
		}
		return Judgement{Verdict: Healthy, Reason: "every step passed"}
	}
	return inconclusive("every step passed, but cannot determine whether the documented symptom is in the history: " + in.Symptom.Reason)
}

// judgeSteps finds the Then that failed, if any, and what makes the steps prove
// nothing, or "". Where the target's death is the failure, any step can fail of it, also
// the one that starts it.
func judgeSteps(steps []history.Outcome, death bool) (failedThen *history.Outcome, problem string) {
	thens := 0
	for i := range steps {
		s := &steps[i]
		switch {
		case s.Status == "passed" && s.Role == history.Then:
			thens++
		case s.Status == "passed":
		case s.Status == "skipped" && failedThen != nil:
		// mutant: a death at the start is no failure
		case s.Status == "failed" && (s.Role == history.Then || death):
			if failedThen == nil {
				failedThen = s
			}
		case s.Status == "failed":
			return nil, "not set up: " + line(s)
		default:
			return nil, fmt.Sprintf("a step is %s: %s", s.Status, line(s))
		}
	}
	switch {
	case len(steps) == 0:
		return nil, "no step ran"
	case thens == 0 && failedThen == nil:
		return nil, "no Then ran"
	}
	return failedThen, ""
}

// line is the step in one line.
func line(s *history.Outcome) string {
	keyword := map[history.Role]string{history.Given: "Given ", history.When: "When ", history.Then: "Then "}[s.Role]
	text := keyword + s.Text
	if s.Error != "" {
		text += " (" + oneline.Ends(s.Error) + ")"
	}
	return text
}

func inconclusive(reason string) Judgement {
	return Judgement{Verdict: Inconclusive, Reason: reason}
}
