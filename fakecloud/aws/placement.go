package aws

import (
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribePlacementGroups asks and answers. There are none yet.
type (
	placementGroupsRequest struct {
		DryRun     bool
		Filters    []listing.Filter `wire:"filter"`
		GroupIDs   []string         `wire:"groupId"`
		GroupNames []string         `wire:"groupName"`
	}
	placementGroupsAnswer struct {
		Groups []placementGroup `wire:"placementGroupSet"`
	}
	placementGroup struct {
		GroupName      string
		GroupID        string `wire:"groupId"`
		State          string
		Strategy       string
		PartitionCount int64
		Tags           []listing.Tag `wire:"tagSet"`
		labels         map[string]string
	}
)

var ofPlacementGroups = listing.Kind[placementGroup]{
	Tags: func(g *placementGroup) map[string]string { return g.labels },
	By: map[string]func(*placementGroup) []string{
		"group-name": listing.One(func(g *placementGroup) string { return g.GroupName }),
		"state":      listing.One(func(g *placementGroup) string { return g.State }),
		"strategy":   listing.One(func(g *placementGroup) string { return g.Strategy }),
	},
}

// placementGroups is the operation by which Karpenter asks for them.
func placementGroups() api.Operation {
	return api.Does("DescribePlacementGroups", describePlacementGroups)
}

func describePlacementGroups(c *api.Call, in *placementGroupsRequest) (*placementGroupsAnswer, error) {
	if in.DryRun {
		return nil, wire.Errorf(wire.DryRun, "Request would have succeeded, but DryRun flag is set.")
	}
	for _, id := range in.GroupIDs {
		return nil, wire.Errorf("InvalidPlacementGroupId.Unknown", "The placement group ID '%.80s' is unknown", id)
	}
	for _, name := range in.GroupNames {
		return nil, wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%.80s' is unknown.", name)
	}
	if _, err := ofPlacementGroups.Filtered(c, nil, in.Filters); err != nil {
		return nil, err
	}
	return &placementGroupsAnswer{Groups: []placementGroup{}}, nil
}
