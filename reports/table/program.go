package table

import (
	"time"

	"nodestorm/sim/time/lag"
)

// Program is how late one program was. Durations are in milliseconds of virtual time.
type Program struct {
	Name    string  `json:"name"`
	Timers  uint64  `json:"timers"` // how many fired
	P99     float64 `json:"p99"`    // how late
	Max     float64 `json:"max"`
	Stopped float64 `json:"stopped"` // the longest that it was stopped
	Disk    float64 `json:"disk"`    // the longest that one of its threads waited for a disk
	// Distorted says how it was later than it may be.
	Distorted string `json:"distorted,omitempty"`
}

// Lateness is how late each program of the run was, for reports.
func Lateness(f lag.Figures) []Program {
	var programs []Program
	for _, p := range f.Programs {
		programs = append(programs, Program{
			Name: p.Name, Timers: p.Lag.Timers, P99: Millis(p.Lag.P99), Max: Millis(p.Lag.Max),
			Stopped: Millis(p.Stopped), Disk: Millis(p.Disk), Distorted: p.Distorted(),
		})
	}
	return programs
}

// Millis is a duration as reports have it.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
