package acts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/machine/cloudinit"
)

// readTable reads a table whose first row says which columns there are: of these, the first so
// many at least.
func readTable(table [][]string, needed int, columns ...string) (rows []map[string]string, err error) {
	if len(table) < 2 {
		return nil, fmt.Errorf("want a table below the step: | %s |, and a row for each", strings.Join(columns[:needed], " | "))
	}
	var has []string
	for _, cell := range table[0] {
		if !slices.Contains(columns, cell) || slices.Contains(has, cell) {
			return nil, fmt.Errorf("column %q: want each of %s once at most", cell, strings.Join(columns, ", "))
		}
		has = append(has, cell)
	}
	for _, column := range columns[:needed] {
		if !slices.Contains(has, column) {
			return nil, fmt.Errorf("the column %s is missing", column)
		}
	}
	names := map[string]bool{}
	for i, row := range table[1:] {
		cells := map[string]string{}
		for i, cell := range row { // Gherkin has as many in each row
			cells[has[i]] = cell
		}
		switch name := cells["name"]; {
		case name == "":
			return nil, fmt.Errorf("row %d has no name", i+1)
		case names[name]:
			return nil, fmt.Errorf("row %d: %s is there twice", i+1, name)
		default:
			names[name] = true
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// groupsOf reads the table of node groups.
func groupsOf(table [][]string) (all []scene.Group, err error) {
	rows, err := readTable(table, 3, "name", "min", "max", "type", "zone", "labels", "taints", "options")
	if err != nil {
		return nil, err
	}
	for _, cells := range rows {
		g, err := groupOf(cells)
		if err != nil {
			return nil, fmt.Errorf("node group %q: %w", g.Name, err)
		}
		all = append(all, g)
	}
	return all, nil
}

func groupOf(cell map[string]string) (g scene.Group, err error) {
	g = scene.Group{Name: cell["name"], Type: cell["type"], Zone: cell["zone"], Labels: cell["labels"]}
	if cell["taints"] != "" {
		g.Taints = strings.Split(cell["taints"], ",")
	}
	if wrong := validation.IsDNS1123Label(g.Name); len(wrong) > 0 {
		return g, fmt.Errorf("its machines are named after it: %s", wrong[0])
	}
	var errMin, errMax error
	g.Min, errMin = strconv.Atoi(cell["min"])
	g.Max, errMax = strconv.Atoi(cell["max"])
	if errMin != nil || errMax != nil || g.Min < 0 || g.Max < max(1, g.Min) {
		return g, fmt.Errorf("from %q to %q: want whole numbers, 0 <= min <= max, and max above 0", cell["min"], cell["max"])
	}
	if _, err := labels.ConvertSelectorToLabelsMap(g.Labels); err != nil {
		return g, fmt.Errorf("labels: %w", err)
	}
	if g.Options, err = labels.ConvertSelectorToLabelsMap(cell["options"]); err != nil {
		return g, fmt.Errorf("options: %w", err)
	}
	if err := externalgrpc.CheckOptions(g.Options); err != nil {
		return g, fmt.Errorf("options: %w", err)
	}
	for _, taint := range g.Taints {
		if _, err := cloudinit.ParseTaint(taint); err != nil {
			return g, fmt.Errorf("taints: %w", err)
		}
	}
	return g, nil
}

// typesOf reads the table of instance types: with whole processors, gigabytes, what one
// costs a month, and the zones that have it. Which cloud it is for is not known yet.
func typesOf(table [][]string) (all []fakecloud.ServerType, err error) {
	rows, err := readTable(table, 3, "name", "cpu", "memory", "price", "zones")
	if err != nil {
		return nil, err
	}
	for i, cell := range rows {
		t, err := typeOf(cell)
		if err != nil {
			return nil, fmt.Errorf("instance type %q: %w", cell["name"], err)
		}
		t.ID = int64(10_000 + i)
		all = append(all, t)
	}
	return all, nil
}

func typeOf(cell map[string]string) (t fakecloud.ServerType, err error) {
	var names, zones []string
	for _, k := range clouds.Kinds {
		if k.Catalogue != nil {
			zones = append(zones, k.Zones...)
			for _, l := range k.Catalogue().Locations {
				names = append(names, l.Name)
			}
		}
	}
	t = fakecloud.ServerType{Name: cell["name"], DiskGB: 80, CPUType: "shared", Architecture: "x86", Category: "Cost-Optimized"}
	if t.Cores, err = strconv.Atoi(cell["cpu"]); err != nil || t.Cores < 1 {
		return t, fmt.Errorf("cpu: %q: want whole processors, such as 4", cell["cpu"])
	}
	memory, err := strconv.ParseFloat(cell["memory"], 32)
	if err != nil || !(memory > 0) {
		return t, fmt.Errorf("memory: %q: want gigabytes, such as 16", cell["memory"])
	}
	t.MemoryGB = float32(memory)
	price, err := strconv.ParseFloat(cmp.Or(cell["price"], "1"), 64)
	if err != nil || !(price > 0) {
		return t, fmt.Errorf("price: %q: want that of a month, such as 12.50", cell["price"])
	}
	for _, zone := range strings.Split(cmp.Or(cell["zones"], strings.Join(zones, ",")), ",") {
		if !slices.Contains(names, zone) {
			return t, fmt.Errorf("zones: there is no %q (there is %s)", zone, strings.Join(names, ", "))
		}
		t.Prices = append(t.Prices, fakecloud.Price{Location: zone, Monthly: price, TrafficTB: 20, PerTB: 1})
	}
	return t, nil
}

// nodeRow is a row of the table of nodes.
type nodeRow struct {
	name, kind, zone, group string
	labels                  map[string]string
	marks                   string // labels as they were given
	taints                  []corev1.Taint
}

// nodesOf reads the table of nodes: all but the name may be left out.
func nodesOf(table [][]string) (all []nodeRow, err error) {
	rows, err := readTable(table, 1, "name", "type", "zone", "group", "labels", "taints")
	if err != nil {
		return nil, err
	}
	for _, cell := range rows {
		n := nodeRow{name: cell["name"], kind: cell["type"], zone: cell["zone"], group: cell["group"], marks: cell["labels"]}
		if wrong := validation.IsDNS1123Subdomain(n.name); len(wrong) > 0 {
			return nil, fmt.Errorf("node %q: %s", n.name, wrong[0])
		}
		if n.labels, err = labels.ConvertSelectorToLabelsMap(n.marks); err != nil {
			return nil, fmt.Errorf("node %q: labels: %w", n.name, err)
		}
		for text := range strings.SplitSeq(cell["taints"], ",") {
			if text == "" {
				continue
			}
			t, err := cloudinit.ParseTaint(text)
			if err != nil {
				return nil, fmt.Errorf("node %q: taints: %w", n.name, err)
			}
			n.taints = append(n.taints, t)
		}
		all = append(all, n)
	}
	return all, nil
}

// flags are those of its kubelet, each with a space before it.
func (n nodeRow) flags() string {
	flags := ""
	if n.marks != "" {
		flags += " --node-labels=" + n.marks
	}
	if len(n.taints) > 0 {
		var texts []string
		for _, t := range n.taints {
			texts = append(texts, t.ToString())
		}
		flags += " --register-with-taints=" + strings.Join(texts, ",")
	}
	return flags
}
