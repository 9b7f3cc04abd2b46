package queue

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Load is what one job has asked of the machine while it was played alone.
type Load struct {
	// Processors are those that this process may use, Used how many of them the job has
	// kept busy, Idle how many of the machine's no process uses, both on average.
	Processors int
	Used, Idle float64
}

// spare is the part of the idle processors that stays idle: worlds begin with more work than
// they have on average.
const spare = 0.2

// AtOnce is how many jobs like it the machine bears at a time: each has as many processors as
// this one has had, none takes another's.
func (l Load) AtOnce() int {
	if l.Used <= 0 {
		return 1
	}
	// mutant: at a time, as many as the machine has idle processors, without regard to who may use them
	free := min(l.Idle, float64(l.Processors)-l.Used) * (1 - spare)
	return 1 + int(max(0, free)/l.Used)
}

func (l Load) String() string {
	return fmt.Sprintf("%.1f of %d processors busy, and %.1f idle", l.Used, l.Processors, l.Idle)
}

// Meter measures a Load from when it was made.
type Meter struct {
	began      time.Time
	used, idle time.Duration
}

// NewMeter begins to measure.
func NewMeter() (m Meter, err error) {
	m.began, m.used = time.Now(), ownTime()
	m.idle, err = idleTime()
	return m, err
}

// Load is that since the meter was made.
func (m Meter) Load() (Load, error) {
	idle, err := idleTime()
	wall := time.Since(m.began).Seconds()
	if err != nil || wall <= 0 {
		return Load{}, err
	}
	return Load{Processors: runtime.GOMAXPROCS(0), Used: (ownTime() - m.used).Seconds() / wall, Idle: (idle - m.idle).Seconds() / wall}, nil
}

// ownTime is the processor time of this process and of all that it has started and that
// have ended.
func ownTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil { // neither fails
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return sum
}

// idleTime is how long the machine's processors have been idle since it began, from the first
// line of /proc/stat; see proc_stat(5).
func idleTime() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading how idle the machine is: %w", err)
	}
	return parseStat(text)
}

func parseStat(text []byte) (idle time.Duration, err error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 6 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	const tick = time.Second / 100      // USER_HZ, the same on all Linux
	for _, field := range fields[4:6] { // idle, and waiting for a disk
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat begins with %q", line)
		}
		idle += time.Duration(n) * tick
	}
	return idle, nil
}
