package sentences

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/cucumber/messages/go/v21"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/machines"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
)

const nodesWords = "these nodes:"

// nodeRow is a row of the table of nodes.
type nodeRow struct {
	name, kind, zone, group string
	labels                  map[string]string
	marks                   string // labels as they were given
	taints                  []corev1.Taint
}

// nodesOf reads the table of nodes: all but the name may be left out.
func nodesOf(table *messages.PickleTable) (all []nodeRow, err error) {
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

// nodes are there and Ready, each on a machine of a type of the cloud: on a server of
// the Hetzner Cloud if there is a project, an instance of a cloud of node groups, else on a simulated machine that no cloud has.
func (s *scenario) nodes(ctx context.Context, table *godog.Table) error {
	all, err := nodesOf(table)
	if err != nil {
		return err
	}
	if s.world == nil {
		return errNoCluster
	}
	before := s.seq()
	for _, n := range all {
		switch {
		case s.hetzner != nil:
			err = s.bootServer(n)
		case s.groups != nil:
			err = s.bootInstance(n)
		default:
			err = s.bootMachine(n)
		}
		if err != nil {
			return fmt.Errorf("node %q: %w", n.name, err)
		}
	}
	for _, n := range all {
		if err := s.nodeReady(ctx, n.name, 5*time.Minute, before); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) bootServer(n nodeRow) error {
	return s.hetzner.CreateServer(n.name, n.group, cmp.Or(n.kind, "cx22"), cmp.Or(n.zone, "fsn1"), n.flags())
}

func (s *scenario) bootInstance(n nodeRow) error {
	if n.group != "" {
		return fmt.Errorf("group %q: the cloud itself makes the instances of its groups", n.group)
	}
	return s.groups.CreateInstance(n.name, cmp.Or(n.kind, "medium"), cmp.Or(n.zone, "zone-a"), n.flags())
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

func (s *scenario) bootMachine(n nodeRow) error {
	if n.group != "" {
		return fmt.Errorf("group %q: only servers of the Hetzner Cloud are put into a group by hand", n.group)
	}
	profile := s.profile
	profile.BootDelay = 0
	spec := node.Spec{Name: n.name, Labels: n.labels, Taints: n.taints, Profile: profile}
	if spec.Labels == nil {
		spec.Labels = map[string]string{}
	}
	if n.zone != "" {
		spec.Labels[corev1.LabelTopologyZone] = n.zone
	}
	if n.kind != "" {
		offer := fakecloud.Hetzner()
		if err := offer.Add(s.types...); err != nil {
			return err
		}
		t := offer.ServerType(n.kind)
		if t == nil {
			return fmt.Errorf(`there is no instance type %q: say "%s" before`, n.kind, typesWords)
		}
		var err error
		if spec.Capacity, spec.Allocatable, err = machines.Resources(t, nil); err != nil {
			return err
		}
		spec.Labels[corev1.LabelInstanceTypeStable] = n.kind
	}
	return s.world.Fleet().Boot(spec)
}
