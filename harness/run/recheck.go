package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"nodestorm/harness/run/then"
	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/oneline"
)

// mostMemory is what a process that judges stored runs should have at most, in bytes, of the
// 2 GiB that ten million records may take: stacks, and what the kernel has not been given back
// yet, come on top.
const mostMemory = 3 << 29

// LimitMemory has garbage collected more often than usual where a process would have more than
// 1.5 GiB else, unless GOMEMLIMIT says how much it may have.
func LimitMemory() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(mostMemory)
	}
}

// Rechecked is a stored run, judged again.
type Rechecked struct {
	// Run is the run as stored, with the verdict of then.
	Run Run
	// Now is the judgement by today's record and rules.
	Now verdict.Judgement
	// Expected is what today's record expects of the run's target.
	Expected scenarios.Expectation
	// Events are read from the run's folder.
	Events history.Entries
	// Doubts say why nothing may be concluded from the run, a sentence each.
	Doubts []string
	// Changed says that the record is another than the one of then.
	Changed bool
	// Thens says which Thens the history has judged.
	Thens then.Judged
	// OwnLog is what the target's log says today.
	OwnLog *OwnLog
}

// Records finds the record of a run's scenario, of which dir is the folder: see harness/run/kept.
type Records func(r Run, dir string) (scenarios.Record, error)

// Recheck judges the run in dir again: its Thens, as their sentences mean today, and the
// symptom that its record has today. The history is read some times over, and never in memory as a whole.
// The outcome of a Then that no history can judge, and of other steps, is taken as recorded. A run that is not as it was when it
// ended is inconclusive; an error means that dir cannot be judged at all.
func Recheck(ctx context.Context, dir string, recordOf Records) (Rechecked, error) {
	r, err := Load(dir)
	if err != nil {
		return Rechecked{}, err
	}
	record := scenarios.Unrecorded(r.ID, r.Target.Name)
	if r.Unrecorded {
		if bare, err := recordOf(r, dir); err == nil && bare.Bare() {
			record.Invariants = bare.Invariants
		}
	} else {
		if record, err = recordOf(r, dir); err != nil {
			return Rechecked{}, fmt.Errorf("%s: %w; that of a catalogue of one's own is found with --catalogue", dir, err)
		}
	}
	checked := Rechecked{Run: r, Expected: Expects(r.Target, record.Expected(r.Target.Ref.String()))}
	var late history.Lateness
	checked.Doubts, err = r.Read(ctx, dir, nil, late.Add)
	if errors.Is(err, fs.ErrNotExist) {
		return Rechecked{}, fmt.Errorf("%s has no %s: the run cannot be judged again", dir, HistoryFile)
	}
	if err != nil {
		return Rechecked{}, fmt.Errorf("reading a run: %w", err)
	}
	checked.Events = &history.Stored{Path: filepath.Join(dir, HistoryFile), Context: ctx, Late: late.Most}
	checked.Changed = !r.Unrecorded && r.Seal != nil && r.Seal.Record != RecordDigest(record)
	if len(checked.Doubts) > 0 {
		checked.Now = Doubtful(checked.Doubts)
	} else {
		if err := r.HoldAgainstLog(ctx, dir, checked.Events); err != nil {
			return Rechecked{}, err
		}
		checked.OwnLog = r.OwnLog
		checked.Now, checked.Thens = Judge(r, record, checked.Events)
		if err := checked.Events.Err(); err != nil {
			return Rechecked{}, fmt.Errorf("reading a run: %w", err)
		}
	}
	return checked, nil
}

// Differences say how today's judgement differs from that of then, a line each.
// A run that was never judged differs in nothing.
func (r Rechecked) Differences() []string {
	was := r.Run.Judgement
	if was.Verdict == "" {
		return nil
	}
	lines := slices.Clone(r.Thens.Differences)
	if r.Changed {
		lines = append(lines, fmt.Sprintf("the record of %s has changed since the run, which is judged by today's", r.Run.ID))
	}
	if r.Run.Expected != r.Expected {
		lines = append(lines,
			fmt.Sprintf("%q was expected of %s, and today's catalogue expects %q", r.Run.Expected, r.Run.Target.Ref, r.Expected))
	}
	switch {
	case was.Verdict != r.Now.Verdict:
		lines = append(lines, fmt.Sprintf("was %s and is %s by today's rules: %s", was.Verdict, r.Now.Verdict, r.Now.Reason))
	case !slices.Equal(was.Evidence, r.Now.Evidence):
		lines = append(lines, fmt.Sprintf("is still %s; events %v showed it, and today %v do", was.Verdict, was.Evidence, r.Now.Evidence))
	case !slices.Equal(was.Broken, r.Now.Broken):
		lines = append(lines,
			fmt.Sprintf("is still %s; it broke %s, and today it breaks %s", was.Verdict, names(was.Broken), names(r.Now.Broken)))
	case !sameReason(was.Reason, r.Now.Reason):
		lines = append(lines, fmt.Sprintf("is still %s, because: %s", was.Verdict, r.Now.Reason))
	}
	return lines
}

// Judge judges a run by its history and the record of its scenario, the same way
// when it has just ended and when it is rechecked. The Thens are judged by what the
// history says, whatever was recorded of them.
func Judge(r Run, record scenarios.Record, events history.Entries) (verdict.Judgement, then.Judged) {
	if r.Unplayed != "" {
		return verdict.Judgement{Verdict: verdict.Inconclusive, Reason: oneline.Ends(r.Unplayed)}, then.Judged{}
	}
	events, judged := then.Rejudge(events)
	in := verdict.FromHistory(events, record, r.Clock.Distorted())
	in.Always = invariants.Judge(events.Timed(), r.Subject())
	in.Known = record.KnownOn(r.Target.Version)
	return r.Repeats.applyTo(r.OwnLog.applyTo(verdict.Judge(in)), r.Target.Name), judged
}

// names are those of the invariants of every run that are broken.
func names(broken []string) string {
	if len(broken) == 0 {
		return "no invariant of every run"
	}
	return strings.Join(broken, ", ")
}
