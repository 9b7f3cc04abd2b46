package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/draft/lines"
	"nodestorm/harness/program"
	"nodestorm/reports/wording"
	"nodestorm/sim/oneline"
)

// log reads an autoscaler's log, as kubectl logs or stern print it, with those of other
// pods between its lines or without. program is the one that wrote it, if its place in the sources shows that.
func (r reader) log(in *lines.File, program string) error {
	logs := newLogReader(r.c, program)
	for line, ok := in.Next(); ok; line, ok = in.Next() {
		logs.line(line)
	}
	r.c.noteMissing(in)
	if err := in.Err(); err != nil {
		return err
	}
	logs.finish(in.Base())
	if logs.lines == 0 {
		return fmt.Errorf("%s is no autoscaler's log: none of its %d lines is of klog (I0102 15:04:05.000000 …) or in JSON; --audit-log takes "+
			"audit logs, --events events", in.Name(), in.Line())
	}
	if logs.facts == 0 {
		return fmt.Errorf("%s: none of its %d lines is of Cluster Autoscaler or Karpenter; take the log of the autoscaler's own pod", in.Name(),
			logs.lines)
	}
	if logs.other > 0 {
		r.c.addNote("%s: %d lines are of other programs, cut off or without a time, and were left out", in.Base(), logs.other)
	}
	return nil
}

// logReader reads lines of one log or of many at once.
type logReader struct {
	c                   *Cluster
	lines, facts, other int
	program             string
	streams             map[string]*stream
	unused              map[string]int // lines of Karpenter's that say nothing that a draft uses, by their message
}

// stream are the lines with one prefix: those of one pod, if the log has many.
type stream struct {
	flags  []flag
	ours   bool           // they are of Cluster Autoscaler
	unused map[string]int // lines that say nothing that a draft uses, by their place in the sources
}

func newLogReader(c *Cluster, program string) *logReader {
	return &logReader{c: c, program: program, streams: map[string]*stream{}, unused: map[string]int{}}
}

var (
	// klogLine is Lmmdd hh:mm:ss.uuuuuu threadid file:line] msg, with anything before it.
	klogLine = regexp.MustCompile(`(?:^|[\s\]|])[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6}\s+\d+ ([^:\s]+):\d+\] (.*)$`)
	// prefixOf is what of a prefix is the same on all lines of a pod: no time.
	prefixOf = regexp.MustCompile(`\[?([A-Za-z0-9][A-Za-z0-9./_-]*[a-z][A-Za-z0-9./_-]*)`)

	flagLine = regexp.MustCompile(`^FLAG: --([a-z0-9-]+)="(.*)"$`)
	release  = regexp.MustCompile(`^Cluster Autoscaler (?:v)?([0-9]+\.[0-9]+\.[0-9]+)`)
	builds   = regexp.MustCompile(`^Building ([a-z]+) cloud provider`)
	noRoom   = regexp.MustCompile(`^Pod ([a-z0-9.-]+)/([a-z0-9.-]+) is unschedulable`)
	noPlace  = regexp.MustCompile(`^failed to find place for ([a-z0-9.-]+)/([a-z0-9.-]+): (.*)`)
	sizeSet  = regexp.MustCompile(`^Set node group (\S+) size from (-?\d+) to (-?\d+), expected delta`)
	found    = regexp.MustCompile(`^discovered node group: (\S+) \(min: (\d+), max: (\d+), replicas: (\d+)\)`)
	atMost   = regexp.MustCompile(`^Skipping node group (\S+) - max size reached`)
	inGroup  = regexp.MustCompile(`^node "?([a-z0-9.-]+)"? is in nodegroup "([^"]+)"`)
	labelled = regexp.MustCompile(`^(\S+) nodegroup labels: map\[(.*)\]`)
	registry = regexp.MustCompile(`^Registering ASG (\S+)`)
	aNode    = regexp.MustCompile(`^(?:Simulating node|Considering node|[Nn]ode) ([a-z0-9.-]+) (?:removal|unremovable:|may be removed|` +
		`is unneeded|was unneeded|- |for standard scale down|is not suitable)`)
)

// ourFiles are of Cluster Autoscaler alone.
var ourFiles = []string{"static_autoscaler.go", "orchestrator.go", "scale_up.go", "scale_down.go", "clusterstate.go",
	"cloud_provider_builder.go", "static_autoscaler_test.go", "eligibility.go", "filter_out_schedulable.go"}

func (l *logReader) line(line []byte) {
	m := klogLine.FindSubmatchIndex(line)
	if m == nil {
		at := strings.Index(string(line), "{")
		if at >= 0 && l.json(line[at:]) {
			return
		}
		if len(strings.TrimSpace(string(line))) > 0 {
			l.other++
		}
		return
	}
	l.lines++
	key := ""
	if p := prefixOf.FindSubmatch(line[:m[0]]); p != nil {
		key = string(p[1])
	}
	s := l.streams[key]
	if s == nil {
		if len(l.streams) == 1000 {
			l.other++
			return
		}
		// mutant: a draft has the flags of any program
		s = &stream{ours: program.Autoscaler(key) == ClusterAutoscaler || l.program == ClusterAutoscaler, unused: map[string]int{}}
		l.streams[key] = s
	}
	file, message := string(line[m[2]:m[3]]), string(line[m[4]:m[5]])
	if slices.Contains(ourFiles, file) {
		s.ours = true
	}
	for _, provider := range []string{"clusterapi", "hetzner"} {
		if l.c.Provider == "" && strings.HasPrefix(file, provider+"_") {
			l.c.Provider, s.ours = provider, true
		}
	}
	if f := flagLine.FindStringSubmatch(message); f != nil {
		if len(s.flags) < 1000 {
			s.flags = append(s.flags, flag{f[1], f[2]})
		}
		return
	}
	if l.message(message) {
		s.ours = true
		return
	}
	count(s.unused, file, 1)
}

// message takes a message of Cluster Autoscaler's, in the words of all versions from
// 1.27 on, and reports whether it is one that no other program writes.
func (l *logReader) message(message string) bool {
	c := l.c
	match := func(r *regexp.Regexp) []string { return r.FindStringSubmatch(message) }
	if m := match(release); m != nil {
		c.runs(ClusterAutoscaler, m[1])
	} else if m := match(builds); m != nil {
		if c.Provider == "" {
			c.Provider = m[1]
		}
	} else if m := match(noRoom); m != nil {
		c.pod(m[1], m[2]).markUnschedulable(time.Time{}, "")
	} else if m := match(noPlace); m != nil {
		c.pod(m[1], m[2]).markUnschedulable(time.Time{}, "")
	} else if m := match(sizeSet); m != nil {
		g := c.groupCalled(m[1])
		g.setFirstSize(number(m[2]))
		if to := number(m[3]); !g.bounded && to < 100_000 {
			g.max = max(g.max, to)
		}
	} else if m := match(found); m != nil {
		g := c.groupCalled(m[1])
		g.bounds(number(m[2]), number(m[3]))
		g.setFirstSize(number(m[4]))
	} else if m := match(inGroup); m != nil {
		c.groupOf[m[1]] = c.groupCalled(m[2]).name
		c.hears(m[1])
	} else if m := match(labelled); m != nil {
		g := c.groupCalled(m[1])
		for pair := range strings.FieldsSeq(m[2]) {
			switch key, value, _ := strings.Cut(pair, ":"); key {
			case corev1.LabelInstanceTypeStable, corev1.LabelInstanceType:
				g.kind = value
			case "csi.hetzner.cloud/location":
				g.zone = value
			}
		}
	} else if m := match(atMost); m != nil {
		g := c.groupCalled(m[1])
		if g.sized && g.max < g.size {
			g.max = g.size
		}
	} else if m := match(registry); m != nil {
		c.groupCalled(m[1])
	} else if m := match(aNode); m != nil {
		c.hears(m[1])
	} else if strings.HasPrefix(message, "Final scale-up plan: ") {
		c.plans(message)
	} else if !c.scalesDown(message) {
		return false
	}
	l.facts++
	c.readAny++
	return true
}

// entry is a line of Karpenter's.
type entry struct {
	Level, Time, Message, Logger, Error string

	Pods     string
	Pod      struct{ Name, Namespace string }
	NodePool struct{ Name string }
}

var inJSON = regexp.MustCompile(`"(?:message|msg|Pods)":`)

// json takes a line of Karpenter's, and reports whether it is one of anybody's.
func (l *logReader) json(text []byte) bool {
	if !inJSON.Match(text) {
		return false
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		if wrong := new(json.UnmarshalTypeError); !errors.As(err, &wrong) {
			return false // cut off
		}
	}
	l.lines++
	at, _ := time.Parse(time.RFC3339, e.Time) // without it nothing came later
	known := true
	switch e.Message {
	case "found provisionable pod(s)":
		for key := range strings.SplitSeq(e.Pods, ", ") {
			if namespace, name, ok := strings.Cut(key, "/"); ok && podName.MatchString(name) {
				l.c.pod(namespace, name).markUnschedulable(at, "")
			}
		}
	case "could not schedule pod":
		if podName.MatchString(e.Pod.Name) {
			l.c.pod(e.Pod.Namespace, e.Pod.Name).markUnschedulable(at, e.Error)
		}
	default:
		known = strings.Contains(e.Message, "nodeclaim") || strings.Contains(string(text), `"controllerGroup":"karpenter.sh"`) ||
			strings.Contains(e.Message, "karpenter")
		if known {
			count(l.unused, e.Message, 1)
		}
	}
	if known {
		l.c.runs(Karpenter, "")
		l.facts++
		l.c.readAny++
	}
	return true
}

var podName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// count counts what is left out, of so many kinds at most.
func count(unused map[string]int, what string, times int) {
	if unused[what] > 0 || len(unused) < 1000 {
		unused[what] += times
	}
}

// noteUnused says what of a source the draft does not use, the most frequent first.
func (c *Cluster) noteUnused(from, unit string, unused map[string]int) {
	if len(unused) == 0 {
		return
	}
	kinds, all := slices.Sorted(maps.Keys(unused)), 0
	slices.SortStableFunc(kinds, func(a, b string) int { return unused[b] - unused[a] })
	var most []string
	for _, kind := range kinds {
		if all += unused[kind]; len(most) < 4 {
			most = append(most, fmt.Sprintf("%s (%d)", oneline.Cut(kind, 50), unused[kind]))
		}
	}
	if more := len(kinds) - len(most); more > 0 {
		most = append(most, fmt.Sprintf("and %d more kinds", more))
	}
	// mutant: what a draft does not use is not named
	c.addNote("%s: a draft has no use for %s: %s", from, wording.Counted(all, unit), strings.Join(most, ", "))
}

// finish takes the flags of those streams that are the autoscaler's: kubelets print theirs
// in the same words. It notes what is not used of the file.
func (l *logReader) finish(file string) {
	unused := map[string]int{}
	defer func() {
		l.c.noteUnused(file, "Cluster Autoscaler line", unused)
		l.c.noteUnused(file, "Karpenter line", l.unused)
	}()
	for _, key := range slices.Sorted(maps.Keys(l.streams)) {
		s := l.streams[key]
		for file, times := range s.unused {
			if s.ours {
				count(unused, file, times)
			} else {
				l.other += times
			}
		}
		if !s.ours {
			continue
		}
		l.c.runs(ClusterAutoscaler, "")
		l.facts++
		l.c.readAny++
		l.c.printed = l.c.printed || len(s.flags) > 0
		for _, f := range s.flags {
			if f.name == "nodes" || f.name == "cloud-provider" {
				l.c.flagged(f.name, f.value)
			} else if _, decides := shaping[f.name]; decides && f.value != "" && !atDefault(f.name, f.value) {
				l.c.flagged(f.name, f.value)
			}
		}
	}
}
