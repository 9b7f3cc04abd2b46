package clock

import (
	"fmt"
	"time"
)

// Budget is the lag at p99 beyond which a run is distorted: a quarter of a
// second, a fortieth of the shortest interval that the failures are made of
// (Karpenter's 10 s batch, Cluster Autoscaler's 10 s scan).
const Budget = 250 * time.Millisecond

// Figures say how a world's time passed since its driver was made or Restart.
type Figures struct {
	Mode    string        `json:"mode"`
	Virtual time.Duration `json:"virtual"` // ns in JSON, as is Wall
	Wall    time.Duration `json:"wall"`
	Mean    float64       `json:"meanFactor"` // Virtual / Wall
	Max     float64       `json:"maxFactor"`  // of the windows
	Lag     Lag           `json:"lag"`
	// Shares of wall time by factor, over windows of 100 ms.
	Shares []Share `json:"shares"`
}

// Share is the part of wall time that passed at less than Below times real time
// (and at no less than the share before it); Below 0 means no bound.
type Share struct {
	Below float64 `json:"below"`
	Part  float64 `json:"part"` // 0 to 1
}

// Distorted says in a sentence why nothing may be concluded from the run, or "".
func (f Figures) Distorted() string {
	if f.Lag.P99 > Budget {
		return fmt.Sprintf("the clock was distorted: timers fired %s late at p99, and the budget is %s of virtual time; try a lower --clock factor, or a quieter machine", f.Lag.P99.Round(time.Millisecond), Budget)
	}
	return ""
}
