package autoscaler

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/sim/history"
)

// What only the log tells, as verbs of records with the source "log".
const (
	// Loop begins a round of the main loop.
	Loop = "loop"
	// Target is a node group's target size: the object is nodegroups/NAME, details
	// from, to and delta. When the cloud could not be asked, only delta and error
	// are there. A round that leaves everything as it was is not recorded.
	Target = "target"
	// Failed is an error that the autoscaler logged.
	Failed = "error"
)

var (
	// klogLine is Lmmdd hh:mm:ss.uuuuuu threadid file:line] msg.
	klogLine = regexp.MustCompile(`^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6})\s+\d+ ([^:\s]+:\d+)\] (.*)$`)
	// The Hetzner provider's words for a target size, in all versions.
	sizeSet    = regexp.MustCompile(`^Set node group (\S+) size from (-?\d+) to (-?\d+), expected delta (-?\d+)$`)
	sizeUnsure = regexp.MustCompile(`^failed to set node pool (\S+) size, using delta (-?\d+) error: (.*)$`)
)

// logLines turns klog's lines into history, redacted. Other lines, a panic for
// one, stay in the log file only.
func logLines(to history.Recorder, clk clock.PassiveClock, redact *strings.Replacer) func([]byte) {
	return func(line []byte) {
		m := klogLine.FindSubmatch(line)
		if m == nil {
			return
		}
		severity, message := string(m[1]), redact.Replace(string(m[4]))
		e := history.Event{At: stamp(clk.Now(), string(m[2])), Source: history.Logged, Actor: Name}
		switch size, unsure := sizeSet.FindStringSubmatch(message), sizeUnsure.FindStringSubmatch(message); {
		case strings.HasPrefix(message, "Starting main loop"):
			e.Verb = Loop
		case size != nil:
			if size[2] == size[3] && size[4] == "0" {
				return
			}
			e.Verb, e.Object = Target, group(size[1])
			e.Detail = map[string]any{"from": number(size[2]), "to": number(size[3]), "delta": number(size[4])}
		case unsure != nil:
			e.Verb, e.Object = Target, group(unsure[1])
			e.Detail = map[string]any{"delta": number(unsure[2]), "error": short(unsure[3])}
		case severity == "E" || severity == "F":
			e.Verb, e.Detail = Failed, map[string]any{"message": short(message), "at": string(m[3])}
		default:
			return
		}
		to.Record(e)
	}
}

func group(name string) history.Object { return history.Object{Resource: "nodegroups", Name: name} }

func number(text string) int {
	n, _ := strconv.Atoi(text) // digits, by the pattern
	return n
}

// stamp is the time of a line: klog writes neither the year nor the zone, which is
// local. now is not long after it.
func stamp(now time.Time, text string) time.Time {
	local := now.Local()
	at, err := time.ParseInLocation("2006 0102 15:04:05.000000", strconv.Itoa(local.Year())+" "+text, local.Location())
	if err != nil {
		return now
	}
	if at.Sub(now) > 24*time.Hour { // of the year before
		at = at.AddDate(-1, 0, 0)
	}
	return at
}

// short cuts a message to what a history line may hold.
func short(text string) string {
	const most = 300 // bytes
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
