package ec2

import (
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribeCapacityReservations asks and answers. There are none yet.
type (
	reservationsRequest struct {
		DryRun         bool
		Filters        []listing.Filter `wire:"filter"`
		ReservationIDs []string         `wire:"capacityReservationId"`
		MaxResults     *int64           `wire:",min=1,max=1000"`
		NextToken      string
	}
	reservationsAnswer struct {
		Reservations []capacityReservation `wire:"capacityReservationSet"`
		NextToken    string
	}
	capacityReservation struct {
		ID                     string `wire:"capacityReservationId"`
		OwnerID                string `wire:"ownerId"`
		InstanceType           string
		AvailabilityZone       string
		AvailabilityZoneID     string `wire:"availabilityZoneId"`
		InstanceMatchCriteria  string
		State                  string
		TotalInstanceCount     int64
		AvailableInstanceCount int64
		CreateDate             time.Time
		Tags                   []listing.Tag `wire:"tagSet"`
		labels                 map[string]string
	}
)

var ofReservations = listing.Kind[capacityReservation]{
	Tags: func(r *capacityReservation) map[string]string { return r.labels },
	By: map[string]func(*capacityReservation) []string{
		"state":                   listing.One(func(r *capacityReservation) string { return r.State }),
		"owner-id":                listing.One(func(r *capacityReservation) string { return r.OwnerID }),
		"instance-type":           listing.One(func(r *capacityReservation) string { return r.InstanceType }),
		"availability-zone":       listing.One(func(r *capacityReservation) string { return r.AvailabilityZone }),
		"instance-match-criteria": listing.One(func(r *capacityReservation) string { return r.InstanceMatchCriteria }),
	},
}

func (s *Service) describeReservations(c *api.Call, in *reservationsRequest) (*reservationsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.ReservationIDs, "capacityReservationIds"); err != nil {
		return nil, err
	}
	var all []*capacityReservation
	for _, id := range in.ReservationIDs {
		return nil, wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%.80s' does not exist", id)
	}
	if _, err := ofReservations.Filtered(c, all, in.Filters); err != nil {
		return nil, err
	}
	return &reservationsAnswer{Reservations: []capacityReservation{}}, nil
}

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

func (s *Service) describePlacementGroups(c *api.Call, in *placementGroupsRequest) (*placementGroupsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
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
