package draft

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud"
	"nodestorm/harness/draft/shapes"
	"nodestorm/reports/redact"
	"nodestorm/sim/oneline"
)

// Draft is a feature that runs as it is, and what it was made of.
type Draft struct {
	// Feature is the text.
	Feature string `json:"feature"`
	// Autoscaler is the program, Version its release as far as known, Provider its cloud.
	Autoscaler string `json:"autoscaler"`
	Version    string `json:"version,omitempty"`
	Provider   string `json:"provider,omitempty"`
	// Target is a build to run it on.
	Target string `json:"target"`
	// Pods, Nodes, Groups and Flags are how many of them the feature has.
	Pods   int `json:"pods"`
	Nodes  int `json:"nodes"`
	Groups int `json:"groups"`
	Flags  int `json:"flags"`
	// Notes are what is not in the sources, or what the world cannot have.
	Notes []string `json:"notes,omitempty"`
}

// What a draft has at most: it is for people to go on with.
const (
	mostDraftNodes  = 50
	mostDraftGroups = 30
	mostDraftPods   = 20
)

// Write makes a draft about a program: Karpenter or ClusterAutoscaler; empty means the one
// that the sources name.
func Write(c *Cluster, program string) Draft {
	w := &writer{c: c, program: cmp.Or(program, c.Autoscaler), types: shapes.Types{Cloud: fakecloud.Hetzner()}, full: map[string]bool{}}
	w.notes = slices.Clone(c.notes)
	if w.program == "" {
		w.program = Karpenter
		w.addNote("no source says which autoscaler this is; assuming Karpenter, use --autoscaler %s for the other", ClusterAutoscaler)
	}
	w.feature()
	d := Draft{
		Autoscaler: w.program, Version: c.Version, Provider: c.Provider, Target: w.target(),
		Pods: w.pods, Nodes: w.nodes, Groups: w.groups, Flags: w.flags,
	}
	r := Redactor()
	// mutant: a draft keeps credentials
	d.Feature = r.Text(w.head() + w.text.String())
	for _, note := range w.notes {
		d.Notes = append(d.Notes, r.Text(note))
	}
	return d
}

// Redactor removes what looks like a credential, and those of this machine.
func Redactor() *redact.Redactor {
	r := &redact.Redactor{Texts: map[string]string{}} // of this machine a draft has nothing
	for _, secret := range redact.Secrets(os.Environ()) {
		r.Texts[secret] = redact.Removed
	}
	return r
}

type writer struct {
	c       *Cluster
	program string
	types   shapes.Types
	text    strings.Builder
	notes   []string
	full    map[string]bool // nodes that have no room

	pods, nodes, groups, flags int
}

// addNote is for the whole draft; it is at its head.
func (w *writer) addNote(format string, args ...any) {
	if text := oneline.Cut(fmt.Sprintf(format, args...), 300); !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

// step writes a step, and comments above it.
func (w *writer) step(text string, comments ...string) {
	for _, comment := range comments {
		w.comment(comment)
	}
	fmt.Fprintf(&w.text, "    %s\n", text)
}

func (w *writer) comment(text string) { fmt.Fprintf(&w.text, "    # %s\n", oneline.Cut(text, 300)) }

// table writes rows of equal length, of which columns that are empty throughout are left
// out.
func (w *writer) table(rows ...[]string) {
	widths := make([]int, len(rows[0]))
	for i := range widths {
		for n, row := range rows {
			if n > 0 && row[i] != "" || n > 0 && i == 0 {
				widths[i] = max(widths[i], len(row[i]), len(rows[0][i]))
			}
		}
	}
	for _, row := range rows {
		w.text.WriteString("      |")
		for i, cell := range row {
			if widths[i] > 0 {
				fmt.Fprintf(&w.text, " %-*s |", widths[i], cell)
			}
		}
		w.text.WriteByte('\n')
	}
}

// quote writes objects in YAML below a step.
func (w *writer) quote(all ...map[string]any) {
	w.text.WriteString("      \"\"\"\n")
	for i, o := range all {
		if i > 0 {
			w.text.WriteString("      ---\n")
		}
		text, err := yaml.Marshal(o)
		if err != nil {
			continue // maps of strings and numbers have a YAML
		}
		// Gherkin takes a backslash before anything for an escape.
		escaped := strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(string(text))
		for line := range strings.Lines(escaped) {
			w.text.WriteString("      " + line)
		}
	}
	w.text.WriteString("      \"\"\"\n")
}

// target is a build to run the draft on.
func (w *writer) target() string {
	switch {
	case w.program == w.c.Autoscaler && w.c.Version != "" && w.program == Karpenter:
		return Karpenter + "@v" + w.c.Version
	case w.program == w.c.Autoscaler && w.c.Version != "":
		return ClusterAutoscaler + "@" + w.c.Version
	case w.program == Karpenter:
		return Karpenter + "@v1.7.0"
	}
	return ClusterAutoscaler + "@1.33.0"
}

// head is what the draft begins with: where it is from, and what is not known.
func (w *writer) head() string {
	var head strings.Builder
	line := func(format string, args ...any) {
		head.WriteString(strings.TrimRight("# "+fmt.Sprintf(format, args...), " ") + "\n")
	}
	line("A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:")
	line("go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.")
	line("")
	line("  nodestorm lint THIS.feature; %s", oneline.Command("nodestorm", "run", "THIS.feature", "--target", w.target()))
	line("")
	for _, source := range w.c.sources {
		line("From %s", oneline.Cut(source, 200))
	}
	if len(w.notes) > 0 {
		line("")
		line("Not known, or not as it was:")
		for _, note := range w.notes {
			line("- %s", note)
		}
	}
	head.WriteByte('\n')
	return head.String()
}

func (w *writer) feature() {
	pods := w.c.pending()
	what := "A pod finds a node"
	switch gone := len(w.c.removed); {
	case w.scaleDown() && gone == 1:
		what = "A node that is not needed is removed"
	case w.scaleDown():
		what = fmt.Sprintf("%d nodes that are not needed are removed", gone)
	case len(pods) > 1:
		what = fmt.Sprintf("%d pods find a node", len(pods))
	}
	w.noteRemoved()
	w.intoGroups()
	name := map[string]string{Karpenter: "Karpenter", ClusterAutoscaler: "Cluster Autoscaler"}[w.program]
	fmt.Fprintf(&w.text, "Feature: %s\n\n  Scenario: %s with %s", what, what, name)
	if w.program == w.c.Autoscaler && w.c.Version != "" {
		fmt.Fprintf(&w.text, " %s", w.c.Version)
	}
	w.text.WriteString("\n    Given a cluster\n")
	switch {
	case w.program == Karpenter:
		w.karpenter(pods)
		w.demand(pods)
	case w.c.Provider == "clusterapi":
		w.clusterAPI(pods)
	default:
		w.hetzner(pods)
	}
}

// split are the nodes that were there at the begin, and those that came later: for the
// latter the autoscaler is to care.
func (w *writer) split() (first, later []*corev1.Node) {
	began := w.c.began()
	for _, name := range slices.Sorted(maps.Keys(w.c.nodes)) {
		n := w.c.nodes[name]
		// mutant: a node that came later was there
		if at := n.CreationTimestamp.Time; !began.IsZero() && !at.IsZero() && at.After(began) {
			later = append(later, n)
		} else {
			first = append(first, n)
		}
	}
	return first, later
}

// typeTable writes the instance types, which have to be known before the cloud is there.
func (w *writer) typeTable() {
	if len(w.types.Own) == 0 {
		return
	}
	rows := [][]string{{"name", "cpu", "memory"}}
	for _, s := range w.types.Own {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Cores), s.Gigabytes()})
	}
	w.step("And the cloud also has these instance types:", "Nominal sizes: an operating system takes 5 % of the memory of each.")
	w.table(rows...)
}

// nodeRows are rows of the table of nodes, and the Nodes that they are of.
func (w *writer) nodeRows(nodes []*corev1.Node, group func(*corev1.Node) string, zone func(*corev1.Node) string) [][]string {
	rows := [][]string{{"name", "type", "zone", "group", "labels", "taints"}}
	for _, n := range nodes {
		if len(rows) > mostDraftNodes {
			w.addNote("%d nodes are more than a draft has; the first %d are in it", len(nodes), mostDraftNodes)
			break
		}
		if !podName.MatchString(n.Name) || len(n.Name) > 253 {
			continue
		}
		kind := w.types.Of(n)
		if g := w.c.groups[w.c.groupOfNode(n)]; g != nil && kind == "" && group(n) != "" {
			kind = w.groupType(g)
		}
		if kind == "" {
			w.addNote("what node %s has is not known: 4 CPUs and 16 GiB are taken", n.Name)
			if w.program != Karpenter && w.c.Provider != "clusterapi" {
				kind = "cx42"
			}
		}
		taints, gone := shapes.Taints(n.Spec.Taints)
		if len(gone) > 0 {
			w.addNote("node %s was tainted %s; here it is not", n.Name, strings.Join(gone, ", "))
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type == corev1.NodeReady && cond.Status != corev1.ConditionTrue {
				w.addNote("node %s was not Ready (%s); here it is: EVERY-NODE and the like of nodestorm sentences fault break it", n.Name, cond.Reason)
			}
		}
		rows = append(rows, []string{n.Name, kind, zone(n), group(n), shapes.Labels(n.Labels), taints})
	}
	w.nodes = len(rows) - 1
	return rows
}

// inUse stands for what ran on the nodes of the table: a pod each.
func (w *writer) inUse(rows [][]string) {
	var all []map[string]any
	for _, row := range rows[1:] {
		used, pods := w.c.used(w.c.nodes[row[0]])
		if w.full[row[0]] {
			used, pods = w.allButHalf(row[1]), 1
		}
		if len(used) == 0 {
			continue
		}
		if w.scaleDown() && slices.Contains(w.c.removed, row[0]) {
			w.addNote("what ran on %s is left out, since it was removed", row[0])
			continue
		}
		all = append(all, map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"name": row[0] + "-in-use", "annotations": map[string]any{"pods": fmt.Sprint(pods)}},
			"spec": map[string]any{
				"nodeName":    row[0],
				"tolerations": []any{map[string]any{"operator": "Exists"}},
				"containers":  []any{map[string]any{"name": "app", "image": "app", "resources": map[string]any{"requests": shapes.List(used)}}},
			},
		})
	}
	if len(all) > 0 {
		w.step("And these objects:", "What the pods on each node request together. A pod without an owner keeps its node from being removed.")
		w.quote(all...)
	}
}
