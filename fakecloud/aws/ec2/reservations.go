package ec2

import (
	"fmt"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What DescribeCapacityReservations asks and answers.
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
		ARN                    string `wire:"capacityReservationArn"`
		OwnerID                string `wire:"ownerId"`
		InstanceType           string
		InstancePlatform       string
		AvailabilityZone       string
		AvailabilityZoneID     string `wire:"availabilityZoneId"`
		Tenancy                string
		InstanceMatchCriteria  string
		ReservationType        string
		Interruptible          bool
		State                  string
		TotalInstanceCount     int64
		AvailableInstanceCount int64
		EBSOptimized           bool `wire:"ebsOptimized"`
		EphemeralStorage       bool
		CreateDate             time.Time
		StartDate              time.Time
		EndDate                *time.Time
		EndDateType            string
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
		"instance-platform":       listing.One(func(r *capacityReservation) string { return r.InstancePlatform }),
		"availability-zone":       listing.One(func(r *capacityReservation) string { return r.AvailabilityZone }),
		"availability-zone-id":    listing.One(func(r *capacityReservation) string { return r.AvailabilityZoneID }),
		"tenancy":                 listing.One(func(r *capacityReservation) string { return r.Tenancy }),
		"end-date-type":           listing.One(func(r *capacityReservation) string { return r.EndDateType }),
		"instance-match-criteria": listing.One(func(r *capacityReservation) string { return r.InstanceMatchCriteria }),
	},
}

// reserved is what is said of a reservation.
func (s *Service) reserved(tx *fakecloud.Tx, r *fakecloud.Reservation) *capacityReservation {
	is := &capacityReservation{
		ID: r.Name, ARN: "arn:aws:ec2:" + s.Region + ":" + s.Account + ":capacity-reservation/" + r.Name, OwnerID: s.Account,
		InstanceType: r.Type, InstancePlatform: linux, AvailabilityZone: r.Location, AvailabilityZoneID: s.zoneID(r.Location),
		Tenancy: "default", InstanceMatchCriteria: "open", ReservationType: "default", State: "active", TotalInstanceCount: int64(r.Count),
		AvailableInstanceCount: int64(tx.Room(r)), CreateDate: r.Created, StartDate: r.Created, EndDateType: "unlimited",
		Tags: listing.Tags(r.Labels), labels: r.Labels,
	}
	if r.Targeted {
		is.InstanceMatchCriteria = "targeted"
	}
	if !r.Ends.IsZero() {
		is.EndDate, is.EndDateType = &r.Ends, "limited"
	}
	if r.Over {
		is.State = "expired"
	}
	return is
}

func (s *Service) describeReservations(c *api.Call, in *reservationsRequest) (*reservationsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.ReservationIDs, "capacityReservationIds"); err != nil {
		return nil, err
	}
	var all []*capacityReservation
	for _, r := range c.Tx.Reservations.All() {
		all = append(all, s.reserved(c.Tx, r))
	}
	all, err := listing.Chosen(all, in.ReservationIDs, func(r *capacityReservation) string { return r.ID }, noReservation)
	if err == nil {
		all, err = ofReservations.Filtered(c, all, in.Filters)
	}
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &reservationsAnswer{Reservations: []capacityReservation{}, NextToken: next}
	for _, r := range some {
		out.Reservations = append(out.Reservations, *r)
	}
	return out, nil
}

func noReservation(id string) error {
	return wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%.80s' does not exist", id)
}

// AddReservation reserves capacity for so many instances of a type in a zone, and calls that name by its tag.
func (s *Service) AddReservation(name, typeName, zone string, count int, targeted bool) error {
	return s.Cloud.Update(func(tx *fakecloud.Tx) error {
		if reservationCalled(tx, name) != nil {
			return fmt.Errorf("there is a capacity reservation %q already", name)
		}
		r := fakecloud.Reservation{Type: typeName, Location: zone, Count: count, Targeted: targeted}
		r.Name, r.Labels = "cr-"+tx.Hex(17), map[string]string{"Name": name}
		if _, err := tx.AddReservation(r); err != nil {
			return fmt.Errorf("capacity reservation %q: %w", name, err)
		}
		return nil
	})
}

// EndReservation has the capacity reservation that is called name by its tag end after a time. AWS ends one within an hour of when it
// is said to end, here it is at once.
func (s *Service) EndReservation(name string, after time.Duration) error {
	return s.Cloud.Update(func(tx *fakecloud.Tx) error {
		r := reservationCalled(tx, name)
		if r == nil {
			return fmt.Errorf("there is no capacity reservation %q", name)
		}
		tx.EndReservation(r.ID, tx.Now().Add(after))
		return nil
	})
}

// reservationCalled is the reservation with that name as its tag, or nil.
func reservationCalled(tx *fakecloud.Tx, name string) *fakecloud.Reservation {
	for _, r := range tx.Reservations.All() {
		if r.Labels["Name"] == name {
			return r
		}
	}
	return nil
}

// Preferences of instances for capacity reservations. Without one it is open.
const (
	onlyReserved = "capacity-reservations-only"
	openReserved = "open"
	noneReserved = "none"
)

// check finds what of a specification does not go together ("RunInstances, CapacityReservationSpecification").
func (r *reservationSpec) check() error {
	if r == nil || r.Target == nil || r.Preference == "" || r.Preference == onlyReserved {
		return nil
	}
	return wire.Errorf("InvalidParameterCombination", "A capacity reservation target cannot be used with the preference '%s'", r.Preference)
}

// matching is which reservations an instance may fill. One that names a reservation is launched there or not at all.
func (r *reservationSpec) matching(tx *fakecloud.Tx) (m fakecloud.Matching, err error) {
	if r == nil {
		return m, nil
	}
	m.None, m.Only = r.Preference == noneReserved, r.Preference == onlyReserved || r.Target != nil
	if r.Target != nil {
		of := tx.Reservations.Named(r.Target.ID)
		if of == nil {
			return m, noReservation(r.Target.ID)
		}
		m.Reservation = of.ID
	}
	return m, nil
}

// describeReservation says which reservation an instance fills, and which it may.
func (is *instance) describeReservation(tx *fakecloud.Tx, i *fakecloud.Instance) {
	if r := tx.Reservations.Get(i.Reservation); r != nil {
		is.CapacityReservationID = r.Name
	}
	may := &reservationOf{CapacityReservationPreference: openReserved}
	switch {
	case i.Matching.None:
		may.CapacityReservationPreference = noneReserved
	case i.Matching.Only:
		may.CapacityReservationPreference = onlyReserved
	}
	if r := tx.Reservations.Get(i.Matching.Reservation); r != nil {
		may.Target = &reservationTarget{r.Name}
	}
	is.CapacityReservation = may
}
