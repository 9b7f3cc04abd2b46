package sentences

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/sim/machine/cloudinit"
)

const groupsWords = "these node groups:"

// nodeGroupRow is a row of the table of node groups.
type nodeGroupRow struct {
	name           string
	min, max       int
	kind, zone     string
	labels, taints string
	options        map[string]string
}

// readTable reads a table whose first row says which columns there are: of these, the first so
// many at least.
func readTable(table *messages.PickleTable, needed int, columns ...string) (rows []map[string]string, err error) {
	if table == nil || len(table.Rows) < 2 {
		return nil, fmt.Errorf("want a table below the step: | %s |, and a row for each", strings.Join(columns[:needed], " | "))
	}
	var has []string
	for _, cell := range table.Rows[0].Cells {
		if !slices.Contains(columns, cell.Value) || slices.Contains(has, cell.Value) {
			return nil, fmt.Errorf("column %q: want each of %s once at most", cell.Value, strings.Join(columns, ", "))
		}
		has = append(has, cell.Value)
	}
	for _, column := range columns[:needed] {
		if !slices.Contains(has, column) {
			return nil, fmt.Errorf("the column %s is missing", column)
		}
	}
	names := map[string]bool{}
	for i, row := range table.Rows[1:] {
		cells := map[string]string{}
		for i, cell := range row.Cells { // Gherkin has as many in each row
			cells[has[i]] = cell.Value
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
func groupsOf(table *messages.PickleTable) (all []nodeGroupRow, err error) {
	rows, err := readTable(table, 3, "name", "min", "max", "type", "zone", "labels", "taints", "options")
	if err != nil {
		return nil, err
	}
	for _, cells := range rows {
		g, err := groupOf(cells)
		if err != nil {
			return nil, fmt.Errorf("node group %q: %w", g.name, err)
		}
		all = append(all, g)
	}
	return all, nil
}

func groupOf(cell map[string]string) (g nodeGroupRow, err error) {
	g = nodeGroupRow{name: cell["name"], kind: cell["type"], zone: cell["zone"], labels: cell["labels"], taints: cell["taints"]}
	if wrong := validation.IsDNS1123Label(g.name); len(wrong) > 0 {
		return g, fmt.Errorf("its machines are named after it: %s", wrong[0])
	}
	var errMin, errMax error
	g.min, errMin = strconv.Atoi(cell["min"])
	g.max, errMax = strconv.Atoi(cell["max"])
	if errMin != nil || errMax != nil || g.min < 0 || g.max < max(1, g.min) {
		return g, fmt.Errorf("from %q to %q: want whole numbers, 0 <= min <= max, and max above 0", cell["min"], cell["max"])
	}
	if _, err := labels.ConvertSelectorToLabelsMap(g.labels); err != nil {
		return g, fmt.Errorf("labels: %w", err)
	}
	if g.options, err = labels.ConvertSelectorToLabelsMap(cell["options"]); err != nil {
		return g, fmt.Errorf("options: %w", err)
	}
	if err := externalgrpc.CheckOptions(g.options); err != nil {
		return g, fmt.Errorf("options: %w", err)
	}
	for _, taint := range g.taintList() {
		if _, err := cloudinit.ParseTaint(taint); err != nil {
			return g, fmt.Errorf("taints: %w", err)
		}
	}
	return g, nil
}

const typesWords = "the cloud also has these instance types:"

// typesOf reads the table of instance types: with whole processors, gigabytes, what one
// costs a month, and the zones that have it. Which cloud it is for is not known yet.
func typesOf(table *messages.PickleTable) (all []fakecloud.ServerType, err error) {
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
	var names []string
	for _, l := range slices.Concat(fakecloud.Hetzner().Locations, fakecloud.Plain().Locations) {
		names = append(names, l.Name)
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
	chosen := strings.Split(cmp.Or(cell["zones"], "fsn1,nbg1,hel1,zone-a,zone-b,zone-c"), ",")
	for _, zone := range chosen {
		if !slices.Contains(names, zone) {
			return t, fmt.Errorf("zones: there is no %q (there is %s)", zone, strings.Join(names, ", "))
		}
		t.Prices = append(t.Prices, fakecloud.Price{Location: zone, Monthly: price, TrafficTB: 20, PerTB: 1})
	}
	return t, nil
}

func (s *scenario) instanceTypes(table *godog.Table) (err error) {
	if s.hasCloud() || s.capi != nil {
		return errors.New("the cloud is there already: say before it what it has")
	}
	s.types, err = typesOf(table)
	return err
}

func (g nodeGroupRow) taintList() []string {
	if g.taints == "" {
		return nil
	}
	return strings.Split(g.taints, ",")
}

func (g nodeGroupRow) marked() bool { return g.labels != "" || g.taints != "" }

// nodeGroups are there with their least number of nodes where the cloud has them without
// an autoscaler.
func (s *scenario) nodeGroups(ctx context.Context, table *godog.Table) error {
	all, err := groupsOf(table)
	if err != nil {
		return err
	}
	for _, g := range all {
		switch {
		case s.groups != nil:
			err = s.cloudGroup(g)
		case len(g.options) > 0:
			err = errors.New("options: only a cloud of node groups has them: leave the column out")
		case s.hetzner != nil:
			err = s.serverGroup(g)
		case s.capi != nil:
			err = s.machineGroup(ctx, g)
		default:
			return errNoCloud
		}
		if err != nil {
			return fmt.Errorf("node group %q: %w", g.name, err)
		}
	}
	return nil
}

func (s *scenario) serverGroup(g nodeGroupRow) error {
	group := clusterautoscaler.Group{Name: g.name, Min: g.min, Max: g.max, Type: cmp.Or(g.kind, "cx22"), Location: cmp.Or(g.zone, "fsn1")}
	if s.hetzner.Catalogue().ServerType(group.Type) == nil {
		return fmt.Errorf("there is no server type %q", group.Type)
	}
	s.intent.Groups = append(s.intent.Groups, group)
	if g.marked() {
		if s.marked == nil {
			s.marked = map[string]hetzner.NodeConfig{}
		}
		config, err := hetzner.ConfigOf(g.labels, g.taintList())
		if err != nil {
			return err
		}
		s.marked[g.name] = config
	}
	return nil
}

// machineGroup says by annotations what a machine of a group has that may have none:
// releases differ in whether they can read its template.
func (s *scenario) machineGroup(ctx context.Context, g nodeGroupRow) error {
	marks := g.labels
	if g.zone != "" { // as a cloud controller manager would label the node
		marks = strings.TrimSuffix(corev1.LabelTopologyZone+"="+g.zone+","+g.labels, ",")
	}
	shape, err := s.capi.Shape(g.kind)
	if err != nil {
		return err
	}
	annotations := clusterapi.Bounds(g.min, g.max)
	if g.min == 0 {
		maps.Copy(annotations, shape)
		if marks != "" {
			annotations[clusterapi.LabelsAnnotation] = marks
		}
		if g.taints != "" {
			annotations[clusterapi.TaintsAnnotation] = g.taints
		}
	}
	err = s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{
		Name: g.name, Replicas: int64(g.min), InstanceType: g.kind, Annotations: annotations, NodeLabels: marks, Taints: g.taints, Zone: g.zone,
	})
	if err != nil {
		return err
	}
	_, err = s.capi.AwaitRunning(ctx, g.name, g.min, 10*time.Minute)
	return err
}
