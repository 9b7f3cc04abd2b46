package reports

// Program is how late one program was. Durations are in milliseconds of virtual time.
type Program struct {
	Name    string  `json:"name"`
	Vital   bool    `json:"vital,omitempty"` // its maxima are judged as well
	Timers  uint64  `json:"timers"`          // how many fired
	P99     float64 `json:"p99"`             // how late
	Max     float64 `json:"max"`
	Stopped float64 `json:"stopped"` // the longest that it was stopped
	Disk    float64 `json:"disk"`    // the longest that one of its threads waited for a disk
	// Distorted says how it was later than it may be.
	Distorted string `json:"distorted,omitempty"`
}
