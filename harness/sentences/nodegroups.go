package sentences

import (
	"context"
	"errors"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/nodegroups"
)

// groupsCloud is the sentence of a cloud that is nobody's.
const groupsCloud = "a cloud of node groups"

func (s *scenario) registerNodeGroups(on sentences) {
	on.Given(`^`+groupsCloud+`$`, s.cloudOfGroups)
	on.Given(`^calls to the cloud time out after `+span+`$`, s.callsTimeOut)
	on.When(`^the target size of the group `+name+` is set to `+number+` by hand$`, s.setTarget)
	on.When(`^the group `+name+` is removed from the cloud$`, s.removeGroup)
}

var (
	errNoGroups       = errors.New(`there is no cloud of node groups yet: say "` + groupsCloud + `" before`)
	errNoCloudToBreak = errors.New(`there is no cloud yet: say "a Hetzner Cloud project", "` + groupsCloud + `" or "` + instancesCloud + `" before`)
)

func (s *scenario) cloudOfGroups(ctx context.Context) (err error) {
	if s.hasCloud() || s.capi != nil {
		return errors.New("the scenario has a cloud already")
	}
	s.groups, err = nodegroups.Start(ctx, nodegroups.Config{
		World: s.world, Seed: s.rig.World.Seed, Types: s.types, Kubelets: s.serverKubelets, Containers: s.containers, Profile: s.serverProfile,
	})
	return err
}

// callsTimeOut is for releases from 1.29 on: older ones have 5s and no setting.
func (s *scenario) callsTimeOut(timeout string) error {
	if s.groups == nil {
		return errNoGroups
	}
	if _, err := time.ParseDuration(timeout); err != nil {
		return err
	}
	s.callTimeout = timeout
	return nil
}

// cloudGroup is there with its least number of instances, which it waits for.
func (s *scenario) cloudGroup(g nodeGroupRow) error {
	marks, err := labels.ConvertSelectorToLabelsMap(g.labels)
	if err != nil {
		return err
	}
	return s.groups.CreateGroup(fakecloud.Group{
		Meta: fakecloud.Meta{Name: g.name}, Min: g.min, Max: g.max, Target: g.min, Type: g.kind, Location: g.zone,
		NodeLabels: marks, Taints: g.taintList(), Options: g.options,
	})
}

func (s *scenario) setTarget(group, target string) error {
	if s.groups == nil {
		return errNoGroups
	}
	n, err := strconv.Atoi(target)
	if err != nil {
		return err
	}
	return s.groups.SetTarget(group, n)
}

func (s *scenario) removeGroup(group string) error {
	if s.groups == nil {
		return errNoGroups
	}
	return s.groups.RemoveGroup(group)
}
