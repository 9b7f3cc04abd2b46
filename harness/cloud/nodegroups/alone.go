package nodegroups

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/table"
	"nodestorm/harness/cloud/live"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

var alone = &live.Standalone{
	Command: Provider,
	Short:   "Serve node groups to Cluster Autoscaler's provider externalgrpc",
	Long: `Serve a cloud of node groups on loopback, in real time, until Ctrl-C: Cluster
Autoscaler with --cloud-provider=externalgrpc is its client. It has instance types
tiny, small, medium, large and huge, with 1 to 16 processors, in the zones zone-a,
zone-b and zone-c. Connections are in clear.

--groups is a file in YAML with the node groups to begin with, but for those that
--state has:

` + groupsExample + `
Status 3: a fault made no difference.`,
	Example: `  nodestorm cloud externalgrpc --groups groups.yaml --listen 127.0.0.1:8086
  nodestorm cloud externalgrpc --state cloud.json --faults faults.yaml`,
	What: "instance(s)",
	New: func(flags *pflag.FlagSet) live.Serving {
		g := &groups{}
		flags.StringVar(&g.file, "groups", "", "`FILE` with the node groups to begin with")
		return g
	},
}

// groups is a cloud that is served alone, and the groups that it begins with.
type groups struct {
	file  string
	first []firstGroup
}

func (g *groups) Check(read func(string) ([]byte, error), _ bool) (err error) {
	g.first, err = readGroups(g.file, read)
	return err
}

func (g *groups) Config() fakecloud.Config { return config() }

func (g *groups) Begin() func(*fakecloud.Tx) error {
	return func(tx *fakecloud.Tx) error { return createGroups(tx, g.first) }
}

func (g *groups) Serve(ctx context.Context, c *fakecloud.Cloud, l net.Listener, o live.Options) (live.Served, error) {
	s, err := externalgrpc.Serve(ctx, externalgrpc.Config{Cloud: c, Listener: l, Everywhere: o.Everywhere})
	if err != nil {
		return live.Served{}, err
	}
	return live.Served{
		Closer: s, Endpoint: s.Addr(),
		Says: "The cloud is up. Run Cluster Autoscaler with --cloud-provider=externalgrpc and a file for --cloud-config that says\n\n" +
			"  address: " + s.Addr(),
	}, nil
}

const groupsExample = `  groups:
  - {name: a, min: 0, max: 5, target: 1, type: medium, zone: zone-a}
  - {name: b, min: 0, max: 5, labels: {pool: b}, taints: ["pool=b:NoSchedule"],
     options: {scaleDownUnneededTime: 5m}}
`

// firstGroup is a node group as --groups has it.
type firstGroup struct {
	Name    string            `json:"name"`
	Min     int               `json:"min"`
	Max     int               `json:"max"`
	Target  int               `json:"target"`
	Type    string            `json:"type"`
	Zone    string            `json:"zone"`
	Labels  map[string]string `json:"labels"`
	Taints  []string          `json:"taints"`
	Options map[string]string `json:"options"`
}

func readGroups(file string, read func(string) ([]byte, error)) ([]firstGroup, error) {
	if file == "" {
		return nil, nil
	}
	var list struct {
		Groups []firstGroup `json:"groups"`
	}
	text, err := read(file)
	if err == nil {
		err = strict.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("--groups %s: %w", file, err)
	}
	names := map[string]bool{}
	for _, g := range list.Groups {
		switch {
		case names[g.Name]:
			return nil, fmt.Errorf("--groups %s: group %q is there twice", file, g.Name)
		case g.Target > g.Max:
			return nil, fmt.Errorf("--groups %s: group %q: a target of %d is above its maximum of %d", file, g.Name, g.Target, g.Max)
		}
		names[g.Name] = true
		if _, err := labels.Set(g.Labels).AsValidatedSelector(); err != nil {
			return nil, fmt.Errorf("--groups %s: group %q: labels: %s", file, g.Name, oneline.Of(err.Error()))
		}
		for _, taint := range g.Taints {
			if _, err := cloudinit.ParseTaint(taint); err != nil {
				return nil, fmt.Errorf("--groups %s: group %q: %w", file, g.Name, err)
			}
		}
		if err := externalgrpc.CheckOptions(g.Options); err != nil {
			return nil, fmt.Errorf("--groups %s: group %q: %w", file, g.Name, err)
		}
	}
	return list.Groups, nil
}

// createGroups creates those that are not there.
func createGroups(tx *fakecloud.Tx, all []firstGroup) error {
	for _, g := range all {
		if tx.Groups.Named(g.Name) != nil {
			continue
		}
		if _, err := tx.CreateGroup(Group(fakecloud.Group{
			Meta: table.Meta{Name: g.Name}, Min: g.Min, Max: g.Max, Target: g.Target, Type: g.Type, Location: g.Zone,
			NodeLabels: g.Labels, Taints: g.Taints, Options: g.Options,
		})); err != nil {
			return fmt.Errorf("--groups: %w", err)
		}
	}
	return nil
}
