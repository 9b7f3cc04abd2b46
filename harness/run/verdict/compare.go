package verdict

import "nodestorm/scenarios"

// Outcome is a verdict next to what the catalogue expects.
type Outcome string

// The outcomes.
const (
	AsExpected    Outcome = "expected"
	Regression    Outcome = "regression"
	FixedEarlier  Outcome = "fixed earlier than recorded"
	NotConclusive Outcome = "inconclusive"
	NotAsExpected Outcome = "not as expected"
)

// Statuses are all words for how a run came out: verdicts, and what they are beside
// an expectation.
func Statuses() []string {
	return []string{
		string(Healthy), string(Reproduced), string(Failed), string(Inconclusive),
		string(AsExpected), string(Regression), string(FixedEarlier), string(NotAsExpected),
	}
}

// Compare holds a verdict against the record's expectation for the target. Of a
// target that the catalogue expects nothing of (empty: a branch, say), the right
// behaviour is expected; showing the failure is then "not as expected".
func Compare(expected scenarios.Expectation, got Verdict) Outcome {
	switch {
	case got == Inconclusive:
		return NotConclusive
	case got == "": // it was cut off
	case got == Verdict(expected), expected == "" && got == Healthy:
		return AsExpected
	case expected == scenarios.Healthy && got == Reproduced:
		// mutant: a regression is as expected
		return Regression
	case expected == scenarios.Reproduced && got == Healthy:
		return FixedEarlier
	}
	return NotAsExpected
}

// Exit statuses of a command that judges; 2 is for its wrong use.
const (
	ExitAsExpected    = 0
	ExitNotAsExpected = 1
	ExitInconclusive  = 3
)

// ExitStatus is the command's exit status for the outcomes: one that is not as
// expected outweighs one that is inconclusive. No outcome at all is inconclusive.
func ExitStatus(outcomes ...Outcome) int {
	status := ExitAsExpected
	// mutant: nothing run is as expected
	if len(outcomes) == 0 {
		return ExitInconclusive
	}
	for _, o := range outcomes {
		switch {
		case o == AsExpected:
		case o != NotConclusive:
			return ExitNotAsExpected
		default:
			status = ExitInconclusive
		}
	}
	return status
}
