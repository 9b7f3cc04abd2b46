package issue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nodestorm/harness/draft"
	"nodestorm/harness/world/objects"
)

// column is one of a table that kubectl printed: from where on it is in a line.
type column struct {
	name string
	at   int
}

var (
	tableHead  = regexp.MustCompile(`^\s*(?:NAMESPACE +)?NAME {2,}[A-Z]`)
	headWord   = regexp.MustCompile(`\S+(?: \S+)*`)
	objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$`)
	chartField = regexp.MustCompile(`(?m)^\s*(?:extraArgs|autoscalingGroups|autoDiscovery|cloudProvider|settings|image):`)
	kindField  = regexp.MustCompile(`(?m)^\s*(?:- )?kind: *\S`)
)

func isTable(line string) bool { return tableHead.MatchString(line) }

func columnsOf(line string) (all []column) {
	for _, at := range headWord.FindAllStringIndex(line, 40) {
		all = append(all, column{line[at[0]:at[1]], at[0]})
	}
	return all
}

// row takes a line of kubectl get nodes, pods, nodeclaims or machinedeployments as the object that it is of.
func (t *text) row(columns []column, line string) {
	cells := map[string]string{}
	for i, col := range columns {
		end := len(line)
		if i+1 < len(columns) {
			end = min(end, columns[i+1].at)
		}
		cells[col.name] = ""
		if col.at < end {
			cells[col.name] = strings.TrimSpace(line[col.at:end])
		}
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, is := cells[name]; return !is })
	}
	name := cells["NAME"]
	if !objectName.MatchString(name) {
		return
	}
	metadata := map[string]any{"name": name, "namespace": cells["NAMESPACE"]}
	switch {
	case has("CLUSTER", "DESIRED") || has("CLUSTER", "REPLICAS"):
		t.mentions[ClusterAPI]++
		if n, err := strconv.Atoi(cmp.Or(cells["DESIRED"], cells["REPLICAS"])); err == nil && len(t.groups) < mostKept {
			t.groups = append(t.groups, group{name, n})
		}
	case has("STATUS", "ROLES", "VERSION"):
		state := map[bool]string{true: "True", false: "Unknown"}[strings.HasPrefix(cells["STATUS"], "Ready")]
		t.objects = append(t.objects, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": state, "reason": "KubeletSilent"}}}})
	case has("READY", "STATUS", "RESTARTS") && cells["STATUS"] == "Pending":
		t.objects = append(t.objects, pendingPod(metadata, nil))
	}
}

// pendingPod is a pod that has no node.
func pendingPod(metadata map[string]any, spec any) map[string]any {
	o := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": map[string]any{"phase": "Pending",
		"conditions": []any{map[string]any{"type": "PodScheduled", "status": "False"}}}}
	if spec != nil {
		o["spec"] = spec
	}
	return o
}

// document takes objects and the values of charts.
func (t *text) document(p piece, all []string) {
	whole := strings.Join(all, "\n")
	switch {
	case kindField.MatchString(whole) && strings.Contains(whole, "apiVersion:"):
		for i, line := range all { // what a page begins with before its first object
			if p.fenced || strings.HasPrefix(line, "apiVersion:") || strings.HasPrefix(line, "kind:") {
				whole = strings.Join(all[i:], "\n")
				break
			}
		}
		for document := range strings.SplitSeq("\n"+whole, "\n---") {
			t.object(p, document)
		}
	case chartField.MatchString(whole):
		if values, err := mapping(whole); err != nil {
			t.addNote("the values from line %d on are left out: %v", p.line, err)
		} else {
			t.values(values)
		}
	}
}

func mapping(document string) (o map[string]any, err error) {
	asJSON, err := objects.JSON([]byte(document))
	if err != nil || !bytes.HasPrefix(asJSON, []byte("{")) {
		return nil, err
	}
	return o, json.Unmarshal(asJSON, &o)
}

// workloads are the kinds whose pods want nodes.
var workloads = []string{"Deployment", "StatefulSet", "ReplicaSet", "Job"}

// object takes a document. What is no object by itself, such as a list that is cut off, is for package draft.
func (t *text) object(p piece, document string) {
	if strings.TrimSpace(document) == "" {
		return
	}
	o, err := mapping(document)
	if err != nil || o == nil || o["items"] != nil {
		t.source(draft.Dump, p, []string{document})
		return
	}
	metadata, _ := o["metadata"].(map[string]any)
	spec, _ := o["spec"].(map[string]any)
	name, _ := metadata["name"].(string)
	version, _ := o["apiVersion"].(string)
	switch kind, _ := o["kind"].(string); {
	case kind == "MachineHealthCheck" && len(t.checks) < mostKept:
		t.checks = append(t.checks, o)
	case kind == "MachineDeployment" && strings.HasPrefix(version, "cluster.x-k8s.io/") && objectName.MatchString(name):
		replicas, _ := spec["replicas"].(float64)
		if len(t.groups) < mostKept {
			t.groups = append(t.groups, group{name, int(min(replicas, 1000))})
		}
		t.objects = append(t.objects, o)
	case kind == "Pod" && o["status"] == nil && metadata != nil: // as it was applied
		t.objects = append(t.objects, pendingPod(metadata, spec))
	case slices.Contains(workloads, kind) && !image.MatchString(document) && objectName.MatchString(name):
		t.workload(name, metadata["namespace"], spec)
	default:
		t.objects = append(t.objects, o)
	}
}

// workload takes the pods of what a reporter applied: who pastes it had no room for them.
func (t *text) workload(name string, namespace any, spec map[string]any) {
	template, _ := spec["template"].(map[string]any)
	labels, _ := template["metadata"].(map[string]any)
	count := 1
	if n, is := spec["replicas"].(float64); is {
		count = int(min(max(n, 0), mostKept))
	}
	for i := range count {
		metadata := map[string]any{"name": fmt.Sprintf("%s-%d", name, i+1), "namespace": namespace, "labels": labels["labels"]}
		t.objects = append(t.objects, pendingPod(metadata, template["spec"]))
	}
}

// values takes what a chart's values say: flags, groups and settings.
func (t *text) values(all map[string]any) {
	for _, of := range []string{"cluster-autoscaler", "karpenter"} { // of a chart that has it as a part
		if below, is := all[of].(map[string]any); is {
			all = below
		}
	}
	if tag, is := fieldAt(all, "image", "tag").(string); is {
		if m := release.FindStringSubmatch(tag); m != nil && t.program() != "" {
			t.releases[t.program()] = m[1]
		}
	}
	extra, _ := all["extraArgs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if value := plain(extra[name]); value != "" && draft.Shapes(name) {
			t.flags = append(t.flags, "--"+name+"="+value)
		}
	}
	if provider := plain(all["cloudProvider"]); provider != "" {
		t.flags = append(t.flags, "--cloud-provider="+provider)
	}
	groups, _ := all["autoscalingGroups"].([]any)
	for _, one := range groups[:min(len(groups), mostKept)] {
		g, _ := one.(map[string]any)
		t.flags = append(t.flags, fmt.Sprintf("--nodes=%s:%s:%s", plain(g["minSize"]), plain(g["maxSize"]), plain(g["name"])))
	}
	settings, _ := all["settings"].(map[string]any)
	for name, value := range settings {
		gates, is := value.(map[string]any)
		for gate, on := range gates {
			t.settings[name+"."+gate] = plain(on)
		}
		if !is {
			t.settings[name] = plain(value)
		}
	}
}

// fieldAt is what is below keys; nil if there is nothing.
func fieldAt(o map[string]any, keys ...string) (value any) {
	value = o
	for _, key := range keys {
		below, _ := value.(map[string]any)
		value = below[key]
	}
	return value
}

// plain is a value as an argument has it; empty if it is a list or a mapping.
func plain(value any) string {
	switch value.(type) {
	case string, bool, float64:
		return fmt.Sprint(value)
	}
	return ""
}
