package bisect

import (
	"context"
	"fmt"

	"nodestorm/harness/run/verdict"
)

// Played is what one replay has shown.
type Played struct {
	Verdict verdict.Verdict `json:"verdict"`
	Reason  string          `json:"reason"`
	Run     string          `json:"run"` // its folder
	Seconds float64         `json:"seconds"`
}

// Trial is what was learned of one point.
type Trial struct {
	ID   string `json:"id"`   // of the point
	Name string `json:"name"` // what people call it
	// Verdict is what is certain; empty is nothing, and Reason says why.
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	Reason  string          `json:"reason"`
	Target  string          `json:"target,omitempty"` // what was built of it, NAME@VERSION
	Played  []Played        `json:"played,omitempty"`
	// BuildSeconds is what getting the build took, a checkout included.
	BuildSeconds float64 `json:"buildSeconds"`
}

// Run is the folder of the run that shows the verdict, if there is one.
func (t Trial) Run() string {
	for _, p := range t.Played {
		if p.Verdict == t.Verdict {
			return p.Run
		}
	}
	return ""
}

// seconds are those that its runs took.
func (t Trial) seconds() (sum float64) {
	for _, p := range t.Played {
		sum += p.Seconds
	}
	return sum
}

// Rules say when a verdict is certain.
type Rules struct {
	// Healthy is how many healthy runs show that the failure is not there: one, if it
	// always comes where it can. One run that fails shows that it is.
	Healthy int
	// Doubts is how many inconclusive runs are too many.
	Doubts int
}

// Judge plays until the verdict is certain, or there are too many doubts.
func (r Rules) Judge(ctx context.Context, t *Trial, play func(context.Context) (Played, error)) error {
	healthy, doubts := 0, 0
	for {
		p, err := play(ctx)
		if err != nil {
			return err
		}
		t.Played = append(t.Played, p)
		switch p.Verdict {
		case verdict.Inconclusive:
			if doubts++; doubts < r.Doubts {
				continue
			}
			t.Reason = fmt.Sprintf("inconclusive %d times, the last time: %s", doubts, p.Reason)
			return nil
		case verdict.Healthy:
			// mutant: one healthy run is enough where more are asked for
			if healthy++; healthy < r.Healthy {
				continue
			}
		default:
			if healthy > 0 {
				p.Reason = fmt.Sprintf("not in every run (%d were healthy): %s", healthy, p.Reason)
			}
		}
		t.Verdict, t.Reason = p.Verdict, p.Reason
		return nil
	}
}
