package draft

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"nodestorm/harness/draft/lines"
	"nodestorm/harness/program"
)

// happening is an event, from whichever form of it.
type happening struct {
	kind, namespace, name string
	at                    time.Time
	reason, message, by   string
}

var (
	// scaledUp is in events and logs of Cluster Autoscaler: {GROUP 1->2 (max: 3)}.
	scaledUp = regexp.MustCompile(`\{([^\s{}]+) (\d+)->(\d+) \(max: (\d+)\)\}`)
	assigned = regexp.MustCompile(`^Successfully assigned (?:([a-z0-9.-]+)/)?([a-z0-9.-]+) to ([a-z0-9.-]+)`)
)

func (c *Cluster) recordHappening(h happening) {
	c.readAny++
	if by := program.Autoscaler(h.by); by != "" {
		c.runs(by, "")
	}
	used := false
	switch strings.ToLower(h.kind) {
	case "pod", "pods", "po":
		used = c.podEvent(h)
	case "node", "nodes", "no":
		c.hears(h.name)
		if h.reason == "ScaleDown" {
			c.runs(ClusterAutoscaler, "")
			c.removes(h.name)
			used = true
		}
	case "configmap", "configmaps", "cm":
		used = c.scalesDown(h.message)
	case "nodepool", "nodeclaim", "nodepools", "nodeclaims":
		c.runs(Karpenter, "")
	}
	if !used {
		count(c.unused, cmp.Or(h.reason, "without a reason"), 1)
	}
}

// podEvent takes an event about a pod, and reports whether a draft uses it.
func (c *Cluster) podEvent(h happening) bool {
	switch h.reason {
	case "FailedScheduling":
		c.pod(h.namespace, h.name).markUnschedulable(h.at, h.message)
	case "NotTriggerScaleUp", "TriggeredScaleUp":
		c.runs(ClusterAutoscaler, "")
		c.pod(h.namespace, h.name).markUnschedulable(h.at, "")
		c.plans(h.message)
	case "Nominated":
		c.pod(h.namespace, h.name).markUnschedulable(h.at, "")
	case "Scheduled":
		if m := assigned.FindStringSubmatch(h.message); m != nil {
			p := c.pod(h.namespace, h.name)
			p.node = m[3]
			c.hears(p.node)
		}
	default:
		return false
	}
	return true
}

// plans reads which groups are to be scaled, and what they had.
func (c *Cluster) plans(message string) {
	for _, m := range scaledUp.FindAllStringSubmatch(message, 50) {
		g := c.groupCalled(m[1])
		g.setFirstSize(number(m[2]))
		g.max, g.topped = max(g.max, number(m[4])), true
	}
}

// row is a line of what `kubectl get events` prints, with -A or without, wide or not.
var row = regexp.MustCompile(`^\s*(?:([a-z0-9][a-z0-9-]*)\s+)?(?:<unknown>|<invalid>|` +
	`[0-9][0-9dhmsy]*)(?:\s+\(x\d+ over [^)]*\))?\s+(?:Normal|Warning)\s+(\S+)\s+([A-Za-z.]+)/(\S+)\s*(.*)$`)

// events reads what `kubectl get events` prints: as a table, or with -o yaml or json.
func (r reader) events(in *lines.File) error {
	begin := in.Begin(64 << 10)
	var err error
	switch first := firstLine(begin); {
	case bytes.HasPrefix(first, []byte("{")), bytes.HasPrefix(first, []byte("[")):
		err = r.json(in)
	case yamlLine.Match(begin) && !rowIn(begin):
		err = r.yaml(in)
	default:
		err = r.table(in)
	}
	if err == nil && r.c.readAny == 0 {
		err = fmt.Errorf("%s has no events; want what `kubectl get events -A` prints, as a table or with -o yaml or json", in.Name())
	}
	return err
}

var yamlLine = regexp.MustCompile(`(?m)^[> ]*(?:- )?(?:apiVersion|kind|items|reason|involvedObject|metadata):`)

func rowIn(text []byte) bool {
	for line := range bytes.Lines(text) {
		if row.Match(lines.Clean(line)) {
			return true
		}
	}
	return false
}

// firstLine is the first that is more than space, a fence, or a command that was copied along.
func firstLine(text []byte) []byte {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(lines.Clean(line))
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("```")) && line[0] != '$' && line[0] != '#' {
			return line
		}
	}
	return nil
}

func (r reader) table(in *lines.File) error {
	rows, other := 0, 0
	for line, ok := in.Next(); ok; line, ok = in.Next() {
		m := row.FindStringSubmatch(string(line))
		if m == nil {
			if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && !bytes.Contains(trimmed, []byte("REASON")) {
				other++
			}
			continue
		}
		rows++
		r.c.recordHappening(happening{
			kind: m[3], namespace: m[1], name: m[4], reason: m[2], message: strings.TrimSpace(m[5]), by: program.Autoscaler(m[5]),
		})
	}
	if rows == 0 {
		return fmt.Errorf("%s has no events; want what `kubectl get events -A` prints, as a table or with -o yaml or json", in.Name())
	}
	if other > 0 {
		r.c.addNote("%s: %d lines are no events, cut off or of another kind, and were left out", in.Base(), other)
	}
	r.c.noteMissing(in)
	return in.Err()
}
