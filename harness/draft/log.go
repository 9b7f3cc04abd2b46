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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/draft/lines"
	"nodestorm/harness/program"
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
	logs.finish()
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
}

// stream are the lines with one prefix: those of one pod, if the log has many.
type stream struct {
	flags []flag
	ours  bool // they are of Cluster Autoscaler
}

func newLogReader(c *Cluster, program string) *logReader {
	return &logReader{c: c, program: program, streams: map[string]*stream{}}
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
		s = &stream{ours: program.Autoscaler(key) == ClusterAutoscaler || l.program == ClusterAutoscaler}
		l.streams[key] = s
	}
	file, message := string(line[m[2]:m[3]]), string(line[m[4]:m[5]])
	if slices.Contains(ourFiles, file) {
		s.ours = true
	}
	if f := flagLine.FindStringSubmatch(message); f != nil {
		if len(s.flags) < 1000 {
			s.flags = append(s.flags, flag{f[1], f[2]})
		}
		return
	}
	if l.message(message) {
		s.ours = true
	} else if !s.ours {
		l.other++
	}
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
		c.group(shortGroup(m[1])).setFirstSize(number(m[2]))
	} else if m := match(found); m != nil {
		g := c.group(shortGroup(m[1]))
		g.bounds(number(m[2]), number(m[3]))
		g.setFirstSize(number(m[4]))
		if c.Provider == "" && strings.Contains(m[1], "Machine") {
			c.Provider = "clusterapi"
		}
	} else if m := match(inGroup); m != nil {
		c.groupOf[m[1]] = shortGroup(m[2])
		l.addNode(m[1])
	} else if m := match(labelled); m != nil {
		g := c.group(shortGroup(m[1]))
		for pair := range strings.FieldsSeq(m[2]) {
			switch key, value, _ := strings.Cut(pair, ":"); key {
			case corev1.LabelInstanceTypeStable, corev1.LabelInstanceType:
				g.kind = value
			case "csi.hetzner.cloud/location":
				g.zone = value
			}
		}
	} else if m := match(atMost); m != nil {
		g := c.group(shortGroup(m[1]))
		if g.sized && g.max < g.size {
			g.max = g.size
		}
	} else if m := match(registry); m != nil {
		c.group(shortGroup(m[1]))
	} else if m := match(aNode); m != nil {
		l.addNode(m[1])
	} else if strings.HasPrefix(message, "Final scale-up plan: ") {
		c.plans(message)
	} else {
		return false
	}
	l.facts++
	c.readAny++
	return true
}

func (l *logReader) addNode(node string) {
	if l.c.nodes[node] == nil {
		l.c.node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	}
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
	switch {
	case e.Message == "found provisionable pod(s)":
		for key := range strings.SplitSeq(e.Pods, ", ") {
			if namespace, name, ok := strings.Cut(key, "/"); ok && podName.MatchString(name) {
				l.c.pod(namespace, name).markUnschedulable(at, "")
			}
		}
	case e.Message == "could not schedule pod":
		if podName.MatchString(e.Pod.Name) {
			l.c.pod(e.Pod.Namespace, e.Pod.Name).markUnschedulable(at, e.Error)
		}
	case strings.Contains(e.Message, "nodeclaim"):
	default:
		known = strings.Contains(string(text), `"controllerGroup":"karpenter.sh"`) || strings.Contains(e.Message, "karpenter")
	}
	if known {
		l.c.runs(Karpenter, "")
		l.facts++
		l.c.readAny++
	}
	return true
}

var podName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// finish takes the flags of those streams that are the autoscaler's: kubelets print theirs
// in the same words.
func (l *logReader) finish() {
	for _, key := range slices.Sorted(maps.Keys(l.streams)) {
		s := l.streams[key]
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
			} else if _, shapes := shaping[f.name]; shapes && f.value != "" && !atDefault(f.name, f.value) {
				l.c.flagged(f.name, f.value)
			}
		}
	}
}
