package nodegroups

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/fakecloud/table"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// Kind is that of a cloud of node groups.
var Kind = live.Register(&live.Kind{
	Facts: cloud.Named(Provider), Sentences: sentences,
	Calls: externalgrpc.Calls, Operations: externalgrpc.Operations, Call: externalgrpc.Call,
	Examples:  "of a cloud of node groups increase groups, delete instances, list instances",
	Catalogue: fakecloud.Plain, Alone: alone,
})

var sentences = scene.Sentences{
	Worlds: "a cloud of node groups", Records: "the cloud's instances, node groups and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cloud of node groups`, Wants: isOfGroups, Needs: []scene.Need{scene.NoCloud}, Act: cloudOfGroups},
		{Role: scene.Given, Words: `a cloud of node groups with the types and prices of a cloud of instances`, Wants: isOfGroups,
			Needs: []scene.Need{scene.NoCloud}, Check: launchesAlike, Act: cloudAlike},
		{Role: scene.Given, Words: `calls to the cloud time out after DURATION`, Needs: []scene.Need{needed}, Act: callsTimeOut},
		{Role: scene.When, Words: `the target size of the group "NAME" is set to N by hand`, Needs: []scene.Need{grouper}, Act: setTarget},
		{Role: scene.When, Words: `the group "NAME" is removed from the cloud`, Needs: []scene.Need{grouper}, Act: removeGroup},
	},
}

var needed = scene.CloudIs[*Cloud](`there is no cloud of node groups yet: say "a cloud of node groups" before`)

var grouper = scene.CloudIs[scene.Grouper](`there is no cloud of node groups yet: say "a cloud of node groups" or "an AWS region" before`)

func isOfGroups(words.Args) (scene.Wants, error) {
	return scene.Wants{System: Provider}, nil
}

func cloudOfGroups(ctx context.Context, s *scene.Scene, _ words.Args) error {
	c, err := Start(ctx, s.Setting())
	if err != nil {
		return err
	}
	s.Cloud = c
	return nil
}

// launchesAlike has "machines that register …" be about its instances.
func launchesAlike(f *scene.Feature, _ words.Args) error {
	f.Launches = true
	return nil
}

func cloudAlike(ctx context.Context, s *scene.Scene, _ words.Args) error {
	if len(s.Settings.Types) > 0 {
		return errors.New("a cloud of instances has types of its own: those of Karpenter's provider kwok")
	}
	c, err := StartAlike(ctx, s.LaunchSetting(2*instanceapi.LaunchTakes))
	if err != nil {
		return err
	}
	s.Cloud = c
	return nil
}

// Group is there with its least number of instances, which it waits for.
func (c *Cloud) Group(_ context.Context, _ *scene.Scene, g scene.Group) error {
	marks, err := labels.ConvertSelectorToLabelsMap(g.Labels)
	if err != nil {
		return err
	}
	return c.CreateGroup(fakecloud.Group{
		Meta: table.Meta{Name: g.Name}, Min: g.Min, Max: g.Max, Target: g.Min, Type: g.Type, Location: g.Zone,
		NodeLabels: marks, Taints: g.Taints, Options: g.Options,
	})
}

// Boot has a Node on an instance of no group.
func (c *Cloud) Boot(_ *scene.Scene, n scene.Node) error {
	if n.Group != "" {
		return fmt.Errorf("group %q: the cloud itself makes the instances of its groups", n.Group)
	}
	return c.CreateInstance(n.Name, cmp.Or(n.Type, c.kind), cmp.Or(n.Zone, c.zone), n.Flags)
}

func (c *Cloud) Reach(context.Context, *scene.Scene) (scene.Reach, error) {
	config, err := c.cloudConfig()
	return scene.Reach{Provider: Provider, CloudConfig: config}, err
}

// RemoveNodes is what a cloud's controller manager does, where the world has none.
func (c *Cloud) RemoveNodes(ctx context.Context, s *scene.Scene) error {
	return machines.RemoveNodes(ctx, s.World, c.Cloud)
}

// callsTimeOut is for releases from 1.29 on: older ones have 5s and no setting.
func callsTimeOut(_ context.Context, s *scene.Scene, a words.Args) error {
	scene.CloudOf[*Cloud](s).callTimeout = a.Text(0)
	return nil
}

func setTarget(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[scene.Grouper](s).SetTarget(ctx, a.Text(0), a.Int(1))
}

func removeGroup(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[scene.Grouper](s).RemoveGroup(ctx, a.Text(0))
}
