package sentences

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var groupsSentences = scene.Sentences{
	Worlds: "a cloud of node groups", Records: "the cloud's instances, node groups and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cloud of node groups`, Wants: isOfGroups, Needs: []scene.Need{scene.NoCloud}, Act: cloudOfGroups},
		{Role: scene.Given, Words: `calls to the cloud time out after DURATION`, Needs: []scene.Need{needsGroups}, Act: callsTimeOut},
		{Role: scene.When, Words: `the target size of the group "NAME" is set to N by hand`, Needs: []scene.Need{needsGroups}, Act: setTarget},
		{Role: scene.When, Words: `the group "NAME" is removed from the cloud`, Needs: []scene.Need{needsGroups}, Act: removeGroup},
	},
}

var needsGroups = scene.CloudIs[*groupsCloud](`there is no cloud of node groups yet: say "a cloud of node groups" before`)

func isOfGroups(words.Args) (scene.Wants, error) {
	return scene.Wants{System: nodegroups.Provider}, nil
}

// groupsCloud is a cloud of node groups that is a scenario's.
type groupsCloud struct {
	*nodegroups.Cloud
	callTimeout string // of the autoscaler's calls
}

func cloudOfGroups(ctx context.Context, s *scene.Scene, _ words.Args) error {
	c, err := nodegroups.Start(ctx, nodegroups.Config{
		World: s.World, Seed: s.Rig.World.Seed, Types: s.Settings.Types,
		Kubelets: s.ServerKubelets, Containers: s.Containers, Profile: s.Boots.ServerProfile,
	})
	if err != nil {
		return err
	}
	s.Cloud = &groupsCloud{Cloud: c}
	return nil
}

// Group is there with its least number of instances, which it waits for.
func (c *groupsCloud) Group(_ context.Context, _ *scene.Scene, g scene.Group) error {
	marks, err := labels.ConvertSelectorToLabelsMap(g.Labels)
	if err != nil {
		return err
	}
	return c.CreateGroup(fakecloud.Group{
		Meta: fakecloud.Meta{Name: g.Name}, Min: g.Min, Max: g.Max, Target: g.Min, Type: g.Type, Location: g.Zone,
		NodeLabels: marks, Taints: g.Taints, Options: g.Options,
	})
}

// Boot has a Node on an instance of no group.
func (c *groupsCloud) Boot(_ *scene.Scene, n scene.Node) error {
	if n.Group != "" {
		return fmt.Errorf("group %q: the cloud itself makes the instances of its groups", n.Group)
	}
	return c.CreateInstance(n.Name, cmp.Or(n.Type, "medium"), cmp.Or(n.Zone, "zone-a"), n.Flags)
}

func (c *groupsCloud) Reach(context.Context, *scene.Scene) (scene.Reach, error) {
	config, err := c.CloudConfig(c.callTimeout)
	return scene.Reach{Provider: nodegroups.Provider, CloudConfig: config}, err
}

// RemoveNodes is what a cloud's controller manager does, where the world has none.
func (c *groupsCloud) RemoveNodes(ctx context.Context, s *scene.Scene) error {
	return ccm.RemoveNodes(ctx, s.World, c.Cloud.Cloud)
}

// callsTimeOut is for releases from 1.29 on: older ones have 5s and no setting.
func callsTimeOut(_ context.Context, s *scene.Scene, a words.Args) error {
	scene.CloudOf[*groupsCloud](s).callTimeout = a.Text(0)
	return nil
}

func setTarget(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*groupsCloud](s).SetTarget(a.Text(0), a.Int(1))
}

func removeGroup(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*groupsCloud](s).RemoveGroup(a.Text(0))
}
