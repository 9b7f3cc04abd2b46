package crosscheck

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Log is what Cluster Autoscaler says in its log, in the words of all releases from 1.27 on.
type Log struct {
	asked    []logLine // a scale-up of a group is asked of the cloud: to a size
	failed   []logLine // a scale-up that was asked for has failed; the log does not say which
	backoffs []logLine // of a group, with the code of the error
	removing []logLine // a node is about to be removed, or an instance without one
	cleared  []logLine // n instances of a group that could not be created are about to be deleted
	lowered  []logLine // a group's target is lowered, and nothing deleted
	events   []logLine // events that are about to be sent, with their reason
}

// logLine is one of its lines.
type logLine struct {
	at          time.Duration // virtual, since the history's begin
	group, node string
	n           int
	code        string // of an error, or the reason of an event
	text        string // of an event
}

var (
	// line is Lmmdd hh:mm:ss.uuuuuu threadid file:line] msg.
	line         = regexp.MustCompile(`^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d{6})\s+\d+ ([^:\s]+):\d+\] (.*)$`)
	settingSize  = regexp.MustCompile(`^Scale-up: setting group (\S+) size to (\d+)`)
	notScaledUp  = regexp.MustCompile(`^Failed to scale up: failed to increase node group size`)
	disabling    = regexp.MustCompile(`^Disabling scale-up for node group (\S+) until .*errorCode=(\S*)`)
	removingNode = regexp.MustCompile(`^Scale-down: removing (?:empty )?node "?([^", ]+)`)
	unregistered = regexp.MustCompile(`^(?:Marking|Removing) unregistered node (\S+)`)
	notCreated   = regexp.MustCompile(`^Deleting (\d+) from (\S+) node group because of create errors`)
	leastSize    = regexp.MustCompile(`^Error while trying to delete nodes from (\S+): min size reached`)
	lowering     = regexp.MustCompile(`^(?:Decreasing size of|Reverting timed-out scale-up for node group) ([^, ]+)`)
	sending      = regexp.MustCompile(`^Event\(.*\): type: '\w*' reason: '(\w+)' (.*)$`)
)

const (
	// longestLine is more than a line of interest has, in bytes; what is longer is skipped.
	longestLine = 1 << 20
	// sender is the file of the autoscaler that writes a line for each event it sends.
	sender = "event_sink_logging_wrapper.go"
)

// Read adds a log to what was said. Epoch is the time from which the history counts.
func (l *Log) Read(from io.Reader, epoch time.Time) error {
	lines := bufio.NewReaderSize(from, longestLine)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.line(strings.TrimRight(string(text), "\n"), epoch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *Log) line(text string, epoch time.Time) {
	m := line.FindStringSubmatch(text)
	if m == nil {
		return
	}
	at, ok := offset(m[1], epoch)
	if !ok {
		return
	}
	file, message := m[2], m[3]
	if file == sender {
		if m := sending.FindStringSubmatch(message); m != nil {
			l.events = append(l.events, logLine{at: at, code: m[1], text: m[2]})
		}
		return
	}
	for _, words := range []struct {
		pattern *regexp.Regexp
		is      func(m []string)
	}{
		{settingSize, func(m []string) { l.asked = append(l.asked, logLine{at: at, group: m[1], n: number(m[2])}) }},
		{notScaledUp, func([]string) { l.failed = append(l.failed, logLine{at: at}) }},
		{disabling, func(m []string) { l.backoffs = append(l.backoffs, logLine{at: at, group: m[1], code: m[2]}) }},
		{removingNode, func(m []string) { l.removing = append(l.removing, logLine{at: at, node: m[1]}) }},
		{unregistered, func(m []string) { l.removing = append(l.removing, logLine{at: at, node: m[1]}) }},
		{notCreated, func(m []string) { l.cleared = append(l.cleared, logLine{at: at, group: m[2], n: number(m[1])}) }},
		{leastSize, func(m []string) { l.unclear(m[1]) }},
		{lowering, func(m []string) { l.lowered = append(l.lowered, logLine{at: at, group: m[1]}) }},
	} {
		if m := words.pattern.FindStringSubmatch(message); m != nil {
			words.is(m)
			return
		}
	}
}

// unclear takes back that instances of a group are about to be deleted: they stay for the sake of its least size.
func (l *Log) unclear(group string) {
	// mutant: what is not deleted for the sake of the least size is
	if last := len(l.cleared) - 1; last >= 0 && l.cleared[last].group == group {
		l.cleared = l.cleared[:last]
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // digits, by the pattern
	return n
}

// offset is when a line was written. klog writes neither the year nor the zone, which is UTC in a world.
func offset(stamp string, epoch time.Time) (time.Duration, bool) {
	epoch = epoch.UTC()
	at, err := time.Parse("2006 0102 15:04:05.000000", strconv.Itoa(epoch.Year())+" "+stamp)
	if err != nil {
		return 0, false
	}
	if at.Before(epoch.Add(-24 * time.Hour)) { // of the year after
		at = at.AddDate(1, 0, 0)
	}
	return at.Sub(epoch), true
}
