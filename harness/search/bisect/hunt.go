package bisect

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
)

// Hunt asks points until it is known where the verdict changes.
type Hunt struct {
	// Try builds and plays a point. Its error ends the hunt; a trial without a verdict
	// is one that could not be decided.
	Try func(context.Context, Point) (Trial, error)
	// Known are the trials there are, by the IDs of their points.
	Known map[string]Trial
	// Learned is called with each new trial, before the next one begins.
	Learned func(Trial) error
	// Progress is called before each with what is left.
	Progress func(p Point, left, steps int)
	// Old and New are the verdicts of both ends, see Ends.
	Old, New verdict.Verdict
}

// SidesError says that the ends are not what they were said to be.
type SidesError struct {
	Text string
	// Swapped: the good one shows the failure, and the bad one does not.
	Swapped bool
	// Undecided: what one of them shows is not known.
	Undecided bool
}

func (e *SidesError) Error() string { return e.Text }

// status is the exit status of a command that has asked for it.
func (e *SidesError) status() int {
	switch {
	case e.Swapped:
		return exit.Usage
	case e.Undecided:
		return exit.Inconclusive
	}
	return exit.NotAsExpected
}

// Ends asks the good and the bad end, and notes which verdicts the older one and the
// newer one have. An error is a *SidesError if there is nothing to find between them.
func (h *Hunt) Ends(ctx context.Context, good, bad Point, goodIsOlder bool) error {
	var trials [2]Trial
	for i, end := range []struct {
		flag string
		Point
	}{{"good", good}, {"bad", bad}} {
		t, err := h.runTrial(ctx, end.Point, 0, 0)
		if err != nil {
			return err
		}
		if t.Verdict == "" {
			return &SidesError{Undecided: true, Text: fmt.Sprintf("--%s %s has no verdict: %s", end.flag, t.Name, t.Reason)}
		}
		trials[i] = t
	}
	g, b := trials[0], trials[1]
	switch {
	// mutant: good and bad the wrong way round are searched
	case g.Verdict != verdict.Healthy && b.Verdict == verdict.Healthy:
		return &SidesError{Swapped: true,
			Text: fmt.Sprintf("--good %s is %s and --bad %s is healthy: they are the wrong way round; good is the one without the failure, also "+
				"where it is the newer one", g.Name, g.Verdict, b.Name)}
	case g.Verdict == b.Verdict:
		return &SidesError{Text: fmt.Sprintf("--good %s and --bad %s are both %s: nothing changes between them (%s)", g.Name, b.Name, g.Verdict,
			b.Reason)}
	case g.Verdict != verdict.Healthy:
		return &SidesError{Text: fmt.Sprintf("--good %s is not healthy but %s: %s", g.Name, g.Verdict, g.Reason)}
	}
	if h.Old, h.New = g.Verdict, b.Verdict; !goodIsOlder {
		h.Old, h.New = h.New, h.Old
	}
	return nil
}

// State is on which side of the change a trial is. One that fails in another way than the
// ends is on neither.
func (h *Hunt) State(t Trial) State {
	switch t.Verdict {
	case "":
		return Skipped
	case h.Old:
		return Old
	case h.New:
		return New
	}
	// mutant: what fails in another way is on a side
	return Skipped
}

// FindFirstNew finds the first point that is New, see NewSearch for their order. More than one
// is returned where some could not be decided.
func (h *Hunt) FindFirstNew(ctx context.Context, points []Point) (first []string, err error) {
	if len(points) == 0 {
		return nil, nil
	}
	s := NewSearch(points)
	for _, p := range points[1:] { // the newest first: of several changes the last one is followed
		if t, known := h.Known[p.ID]; known {
			s.Learn(p.ID, h.State(t))
		}
	}
	for {
		p, more := s.Next()
		if !more {
			return s.First(), nil
		}
		left, steps := s.Remaining()
		t, err := h.runTrial(ctx, p, left, steps)
		if err != nil {
			return nil, err
		}
		s.Learn(p.ID, h.State(t))
	}
}

// TryAll asks all points, the oldest first.
func (h *Hunt) TryAll(ctx context.Context, points []Point) error {
	for i, p := range slices.Backward(points) {
		if _, err := h.runTrial(ctx, p, i+1, i+1); err != nil {
			return err
		}
	}
	return nil
}

// RunTrial is the trial of one point.
func (h *Hunt) RunTrial(ctx context.Context, p Point) (Trial, error) { return h.runTrial(ctx, p, 0, 0) }

func (h *Hunt) runTrial(ctx context.Context, p Point, left, steps int) (Trial, error) {
	if t, known := h.Known[p.ID]; known {
		return t, nil
	}
	if h.Progress != nil {
		h.Progress(p, left, steps)
	}
	t, err := h.Try(ctx, p)
	if err != nil {
		return t, err
	}
	t.ID = p.ID
	h.Known[p.ID] = t
	if h.Learned != nil {
		err = h.Learned(t)
	}
	return t, err
}

// Changes is how often the verdict changes from one trial to the next; those of neither
// verdict are passed over. More than once is no single change to find.
func (h *Hunt) Changes(trials []Trial) (n int) {
	last := Unknown
	for _, t := range trials {
		state := h.State(t)
		if state == Skipped {
			continue
		}
		if last != Unknown && state != last {
			n++
		}
		last = state
	}
	return n
}
