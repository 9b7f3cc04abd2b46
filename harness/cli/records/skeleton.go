package records

import (
	"embed"
	"fmt"
	"strings"

	"nodestorm/scenarios"
)

// What nodestorm new writes: a feature and a record for each system, of which SCENARIO-ID
// becomes the ID. What all of them say is in comments.txt.
//
//go:embed new
var skeletons embed.FS

// skeleton is a pair of files in new, named by what people start with.
type skeleton struct{ name, about, target string }

// systems are those that new has a pair for, the one first that is written if none is named. Each target shows the failure.
var systems = []skeleton{
	{"karpenter", "Karpenter on kwok, which never fails", "karpenter@v1.6.4"},
	{"instances", "Karpenter on a cloud that can fail", "karpenter@v1.6.4"},
	{"aws", "Karpenter on AWS", "karpenter-aws@v1.12.1"},
	{"hetzner", "Cluster Autoscaler on Hetzner Cloud", "cluster-autoscaler@1.33.0"},
	{"clusterapi", "Cluster Autoscaler on Cluster API", "cluster-autoscaler@1.36.1"},
	{"externalgrpc", "Cluster Autoscaler on any node groups", "cluster-autoscaler@1.28.2"},
	{"cluster-api", "Cluster API by itself", "cluster-api@v1.12.0"},
	{"bootstrap", "nodes and a cloud controller manager", "cluster-autoscaler@1.33.0"},
	{"kubespray", "an installation by Kubespray", "kubespray@v2.24.0"},
}

// control is the pair of a control case, which is healthy on its target, and the system that it is about.
var control = struct {
	skeleton
	of string
}{skeleton{"control", "a rule that must hold", "karpenter@v1.6.4"}, "karpenter"}

func systemNames() (names []string) {
	for _, s := range systems {
		names = append(names, s.name)
	}
	return names
}

// systemTable is the help's list of systems.
func systemTable() string {
	var rows []string
	for _, s := range systems {
		rows = append(rows, fmt.Sprintf("  %-12s  %-36s  %s", s.name, s.about, s.target))
	}
	return strings.Join(rows, "\n")
}

// files are the texts of the feature and of the record, with the comments that all have.
func (s skeleton) files(id string) (feature, record string, err error) {
	text, err := skeletons.ReadFile("new/comments.txt")
	if err != nil {
		return "", "", err
	}
	comments := commentsOf(string(text))
	read := func(kind string) string {
		text, broken := skeletons.ReadFile("new/" + s.name + kind)
		if broken != nil {
			err = broken
		}
		return commented(string(text), comments)
	}
	feature, record = read(".feature"), read(".yaml")
	named := strings.NewReplacer("SCENARIO-ID", id, "SCENARIO-TARGET", s.target, "ALL-SYSTEMS", strings.Join(scenarios.Systems, ", "),
		"ALL-PROGRAMS", strings.Join(scenarios.Autoscalers, ", "))
	return named.Replace(feature), named.Replace(record), err
}

// comment is what stands above or, with an "after", behind a line that begins with a text.
type comment struct {
	before, text string
	after        bool
}

// commentsOf reads blocks that begin with "== LINE" or "== after LINE".
func commentsOf(text string) (all []comment) {
	for block := range strings.SplitSeq(text, "== ") {
		line, rest, _ := strings.Cut(block, "\n")
		if line == "" {
			continue
		}
		before, after := strings.CutPrefix(line, "after ")
		all = append(all, comment{before: before, text: rest, after: after})
	}
	return all
}

// commented puts each comment at the first line that it is of.
func commented(text string, comments []comment) string {
	var b strings.Builder
	used := map[comment]bool{}
	for line := range strings.Lines(text) {
		behind := ""
		for _, c := range comments {
			if trimmed := strings.TrimLeft(line, " "); !strings.HasPrefix(trimmed, c.before) || used[c] {
				continue
			}
			used[c] = true
			switch indent := line[:len(line)-len(strings.TrimLeft(line, " "))]; {
			case c.after && strings.HasPrefix(c.text, " "): // on the same line
				line = strings.TrimRight(line, "\n") + c.text
			case c.after:
				behind = c.text
			default:
				for of := range strings.Lines(c.text) {
					b.WriteString(strings.TrimRight(indent+of, " \n") + "\n")
				}
			}
		}
		b.WriteString(line + behind)
	}
	return b.String()
}
