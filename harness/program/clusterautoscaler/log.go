package clusterautoscaler

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/harness/program/deploy"
	"nodestorm/sim/history"
)

// What only the log reports, as verbs of records with the source "log".
const (
	// Loop begins a round of the main loop. Detail idle is true if the round before
	// found no pod that needs a node.
	Loop = "loop"
	// Target is a node group's target size: the object is nodegroups/NAME, details
	// from, to and delta. When the cloud could not be asked, only delta and error
	// are there. A round that leaves everything as it was is not recorded.
	Target = "target"
	// Plan is a scale-up that the autoscaler is about to ask the cloud for: the object
	// is nodegroups/NAME, details from and to, and Pods, the pods that no node has
	// room for, as far as the log names them: "default/a, default/b".
	Plan = "plan"
	// Kept is a node group, as nodegroups/NAME, of which instances without a Node are not deleted,
	// as it is no larger than its minimum.
	Kept = "kept"
	// Failed is an error that the autoscaler logged.
	Failed = "error"
)

var (
	// klogLine is Lmmdd hh:mm:ss.uuuuuu threadid file:line] msg.
	klogLine = regexp.MustCompile(`^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6})\s+\d+ ([^:\s]+:\d+)\] (.*)$`)
	// The Hetzner provider's words for a target size, in all versions.
	sizeSet = regexp.MustCompile(`^Set node group (\S+) size from (-?\d+) to (-?\d+), expected delta (-?\d+)$`)
	// What the autoscaler plans and for whom, in the words of all versions from 1.27 on;
	// klog's quota leaves some pods out where there are many.
	noRoom     = regexp.MustCompile(`^Pod (\S+/\S+) is unschedulable$`)
	planned    = regexp.MustCompile(`\{(\S+) (\d+)->(\d+) \(max: (\d+)\)\}`)
	atMinimum  = regexp.MustCompile(`^Node group (\S+) min size reached, skipping removal of \d+ unregistered nodes$`)
	sizeUnsure = regexp.MustCompile(`^failed to set node pool (\S+) size, using delta (-?\d+) error: (.*)$`)
)

// logLines turns a process's lines of klog into history, redacted. Other lines, a panic for
// one, stay in the log file only.
func logLines(to history.Recorder, clk clock.PassiveClock, redact *strings.Replacer, process string, leader *deploy.Leader) func([]byte) {
	var pods []string // without room, in this round
	idle := false     // no pod needs a node, in this round
	record := func(e history.Event) {
		if process != Name {
			if e.Detail == nil {
				e.Detail = history.Detail{}
			}
			e.Detail["replica"] = process
		}
		to.Record(e)
	}
	return func(line []byte) {
		m := klogLine.FindSubmatch(line)
		if m == nil {
			return
		}
		severity, message := string(m[1]), redact.Replace(string(m[4]))
		leader.Logged(process, line)
		e := history.Event{At: stamp(clk.Now(), string(m[2])), Source: history.Logged, Actor: Name}
		switch size, unsure := sizeSet.FindStringSubmatch(message), sizeUnsure.FindStringSubmatch(message); {
		case strings.HasPrefix(message, "Starting main loop"):
			e.Verb = Loop
			if idle {
				e.Detail = map[string]any{"idle": true}
			}
			pods, idle = nil, false
		case message == "No unschedulable pods": // in all versions from 1.27 on
			idle = true
			return
		case size != nil:
			if size[2] == size[3] && size[4] == "0" {
				return
			}
			e.Verb, e.Object = Target, group(size[1])
			e.Detail = map[string]any{"from": number(size[2]), "to": number(size[3]), "delta": number(size[4])}
		case unsure != nil:
			e.Verb, e.Object = Target, group(unsure[1])
			e.Detail = map[string]any{"delta": number(unsure[2]), "error": history.Short(unsure[3])}
		case noRoom.MatchString(message):
			if len(pods) < mostPods {
				pods = append(pods, noRoom.FindStringSubmatch(message)[1])
			}
			return
		case strings.HasPrefix(message, "Final scale-up plan: "):
			for _, p := range planned.FindAllStringSubmatch(message, mostGroups) {
				record(history.Event{At: e.At, Source: e.Source, Actor: e.Actor, Verb: Plan, Object: group(p[1]), Detail: map[string]any{
					"message": fmt.Sprintf("plans to scale %s from %s to %s, of %s at most", p[1], p[2], p[3], p[4]),
					"from":    number(p[2]), "to": number(p[3]), "Pods": strings.Join(pods, ", "),
				}})
			}
			return
		case atMinimum.MatchString(message):
			e.Verb, e.Object = Kept, group(atMinimum.FindStringSubmatch(message)[1])
		case severity == "E" || severity == "F":
			e.Verb, e.Detail = Failed, map[string]any{"message": history.Short(message), "at": string(m[3])}
		default:
			return
		}
		record(e)
	}
}

const (
	// mostPods bounds how many pods a plan names, mostGroups how many groups one plan
	// has: those that are alike are scaled together.
	mostPods   = 50
	mostGroups = 20
)

func group(name string) history.Object { return history.Object{Resource: "nodegroups", Name: name} }

func number(text string) int {
	n, _ := strconv.Atoi(text) // digits, by the pattern
	return n
}

// stamp is the time of a line: klog writes neither the year nor the zone, which is
// UTC in a world. now is not long after it.
func stamp(now time.Time, text string) time.Time {
	at, err := time.Parse("2006 0102 15:04:05.000000", strconv.Itoa(now.UTC().Year())+" "+text)
	if err != nil {
		return now
	}
	if at.Sub(now) > 24*time.Hour { // of the year before
		at = at.AddDate(-1, 0, 0)
	}
	return at
}
