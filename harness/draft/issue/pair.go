package issue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/harness/draft"
)

// Pair is a feature and a record.
type Pair struct {
	draft.Draft
	// Record is the text of the record. It lints; what the issue does not say has TODO in a comment or a text.
	Record string
}

// Draft makes a pair with an ID out of the text of an issue. about is the program that fails, empty for the one that the
// text is about.
func Draft(ctx context.Context, path, id, about string) (Pair, error) {
	t, err := read(ctx, path)
	if err != nil {
		return Pair{}, fmt.Errorf("--from: %w", err)
	}
	if about = cmp.Or(about, t.program()); about == "" {
		return Pair{}, fmt.Errorf("--from: %s names none of %s; say with --system which it is about", path, strings.Join(Programs(), ", "))
	}
	var d draft.Draft
	if about == ClusterAPI {
		d = t.clusterAPIStory()
	} else if d, err = t.draft(ctx, about); err != nil {
		return Pair{}, err
	}
	d.Feature = strings.Replace(d.Feature, "by nodestorm draft", "by nodestorm new --from", 1)
	d.Feature = strings.Replace(d.Feature, "\n  Scenario: ", "\n  @"+id+"\n  Scenario: ", 1)
	return Pair{Draft: d, Record: draft.Redactor().Text(t.record(id, d))}, nil
}

// draft is a draft about an autoscaler, whose release and flags are those of a pod that is made up for them.
func (t *text) draft(ctx context.Context, about string) (draft.Draft, error) {
	container := map[string]any{"name": about, "image": about}
	if v := t.releases[about]; v != "" {
		container["image"] = container["image"].(string) + ":v" + v
	}
	if about == draft.ClusterAutoscaler {
		container["args"] = append([]string{}, t.flags...)
	}
	all := append([]map[string]any{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": about},
		"spec": map[string]any{"containers": []any{container}}}}, t.objects...)
	var text strings.Builder
	for _, o := range all {
		line, err := json.Marshal(o)
		if err != nil {
			return draft.Draft{}, err
		}
		text.Write(append(line, '\n'))
	}
	sources := append([]draft.Source{{Kind: draft.Dump, Path: "what the text says", Text: text.String()}}, t.sources...)
	c, err := draft.Read(ctx, sources, func(string) {})
	if c == nil {
		return draft.Draft{}, err
	}
	if err != nil { // one piece takes no other with it
		for line := range strings.SplitSeq(err.Error(), "\n") {
			t.addNote("left out: %s", line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.settings)) {
		t.addNote("the chart's setting %s is not in the draft: say \"the target has the environment variables:\"", name)
	}
	for _, note := range t.notes {
		c.AddNote(note)
	}
	return draft.Write(c, about), nil
}

// clusterAPIStory is a story about Cluster API, without an autoscaler and without pods.
func (t *text) clusterAPIStory() draft.Draft {
	version := t.releases[ClusterAPI]
	d := draft.Draft{Autoscaler: ClusterAPI, Version: version, Target: ClusterAPI + "@v" + cmp.Or(version, "1.12.0")}
	groups := t.groups
	if len(groups) == 0 {
		t.addNote("no object and no table has a MachineDeployment: one of 1 machine is assumed")
		groups = []group{{"workers", 1}}
	}
	t.addNote("what went wrong is in no source: the When and the Then are an example")
	var steps, head strings.Builder
	step := func(format string, args ...any) { fmt.Fprintf(&steps, "    "+format+"\n", args...) }
	step("Given a cluster\n    And Cluster API")
	step("# A fault comes before what it breaks: nodestorm sentences machine, nodestorm sentences simulated node")
	seen := map[string]bool{}
	for _, g := range groups {
		if seen[g.name] {
			continue
		}
		seen[g.name] = true
		d.Groups++
		step(`And a MachineDeployment "%s" with %s`, g.name, machines(g.replicas))
	}
	t.healthChecks(step, groups[0].name)
	more := max(1, min(groups[0].replicas, mostKept)) + 1
	step(`When "MachineDeployment/%s" is scaled to %d`, groups[0].name, more)
	step(`Then the MachineDeployment "%s" has %s within 15m`, groups[0].name, machines(more))
	line := func(format string, args ...any) { fmt.Fprintf(&head, "# "+format+"\n", args...) }
	line("A draft by nodestorm draft. It runs as it is, but has only what there was, not what went wrong:")
	line("go on with the Whens and Thens, with the faults that you suspect, and with what is noted here.")
	head.WriteString("#\n")
	line("Not known, or not as it was:")
	d.Notes = t.notes
	for _, note := range t.notes {
		line("- %s", note)
	}
	const feature = "\nFeature: Machines come and go as they are asked for\n\n  Scenario: A MachineDeployment is scaled\n"
	d.Feature = draft.Redactor().Text(head.String() + feature + steps.String())
	return d
}

func machines(n int) string {
	if n = max(1, min(n, mostKept)); n == 1 {
		return "1 Running machine"
	}
	return fmt.Sprintf("%d Running machines", n)
}

// checked are the fields of a MachineHealthCheck that are the same here.
var checked = []string{"unhealthyConditions", "maxUnhealthy", "nodeStartupTimeout"}

// healthChecks are those of the issue, for the cluster and the group that there are here.
func (t *text) healthChecks(step func(string, ...any), group string) {
	if len(t.checks) == 0 {
		return
	}
	step("And these objects:\n      \"\"\"")
	for i, o := range t.checks {
		if i > 0 {
			step("  ---")
		}
		name, _ := fieldAt(o, "metadata", "name").(string)
		if !objectName.MatchString(name) {
			name = fmt.Sprintf("check-%d", i+1)
		}
		step("  apiVersion: cluster.x-k8s.io/v1beta1\n      kind: MachineHealthCheck\n      metadata: {name: %s, namespace: default}", name)
		step("  spec:\n        clusterName: storm\n        selector: {matchLabels: {cluster.x-k8s.io/deployment-name: %s}}", group)
		spec, _ := o["spec"].(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(spec)) {
			value, err := json.Marshal(spec[field])
			switch {
			case !slices.Contains(checked, field) || err != nil || strings.Contains(string(value), `\`):
				if field != "clusterName" && field != "selector" {
					t.addNote("the field %s of a MachineHealthCheck is left out", field)
				}
			default:
				step("    %s: %s", field, value)
			}
		}
	}
	step("  \"\"\"")
}
