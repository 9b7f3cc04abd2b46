package scene

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// Cloud is what a scenario's cloud is to sentences that are not about one kind of cloud.
type Cloud interface {
	fault.Injector
	// Group has it have a node group.
	Group(context.Context, *Scene, Group) error
	// Reach is how Cluster Autoscaler gets at it.
	Reach(context.Context, *Scene) (Reach, error)
	// RemoveNodes has the Nodes of its instances that are gone removed.
	RemoveNodes(context.Context, *Scene) error
}

// NoGroups is embedded by clouds that have no node groups, and that Cluster Autoscaler does not know.
type NoGroups struct{}

// Group implements Cloud: there can be none.
func (NoGroups) Group(_ context.Context, _ *Scene, g Group) error {
	if len(g.Options) > 0 {
		return ErrOptions
	}
	return AnyCloud.Missing
}

// Reach implements Cloud: there is no way.
func (NoGroups) Reach(context.Context, *Scene) (Reach, error) { return Reach{}, AnyCloud.Missing }

// RemoveNodes implements Cloud: only steps about Cluster Autoscaler ask for it.
func (NoGroups) RemoveNodes(context.Context, *Scene) error { return AnyCloud.Missing }

// Booter is a cloud that has machines of no group: each becomes a Node of that name.
type Booter interface {
	Boot(*Scene, Node) error
}

// Grouper is a cloud that itself keeps its node groups at their target sizes.
type Grouper interface {
	// SetTarget sets the target size of a group as users do by hand.
	SetTarget(ctx context.Context, group string, target int) error
	// RemoveGroup takes a group away.
	RemoveGroup(ctx context.Context, group string) error
}

// Group is a node group as a feature declares it.
type Group struct {
	Name       string
	Min, Max   int
	Type, Zone string
	Labels     string   // "a=b,c=d"
	Taints     []string // "a=b:NoSchedule"
	Options    map[string]string
}

// Marked reports whether its Nodes have labels or taints.
func (g Group) Marked() bool { return g.Labels != "" || len(g.Taints) > 0 }

// ErrOptions is what clouds say whose node groups have no options.
var ErrOptions = errors.New("options: only a cloud of node groups has them: leave the column out")

// Groups are those that Cluster Autoscaler has to know from the scenario.
type Groups []Group

// Node is one as a feature declares it; Flags are those of its kubelet, each with a space before it.
type Node struct{ Name, Type, Zone, Group, Flags string }

// Reach is how Cluster Autoscaler gets at a cloud.
type Reach struct {
	Provider string
	// Env are the variables that say where it is.
	Env []manifest.Variable
	// Discovery are values of --node-group-auto-discovery; none: the groups are listed, or the cloud lists them.
	Discovery []string
	// CloudConfig is the file of --cloud-config, empty if there is none.
	CloudConfig string
	// Management is the cluster that has the objects of the cloud, nil where they are no objects.
	Management *world.Cluster
}

// Program is one of those that a scenario has beside the control plane.
type Program interface {
	// Way is its way to the API server, nil where that cannot be broken.
	Way() *apifault.Proxy
	// Settings are its command line and its environment.
	Settings() []string
}

// Keeper is a program that has a say in objects that steps put into the cluster.
type Keeper interface {
	// Prepare may change an object before it is put.
	Prepare(*Scene, *unstructured.Unstructured) error
	// Stored is called when all objects of a step are there.
	Stored(context.Context, *unstructured.Unstructured) error
	// Settled waits until the program can go by an object of a Given.
	Settled(context.Context, *unstructured.Unstructured) error
}

// Home is a program whose objects are in a cluster of its own.
type Home interface {
	Management() *world.Cluster
	// Has reports whether objects of a kind are there. Of one without a group its name decides.
	Has(kind schema.GroupKind) bool
}
