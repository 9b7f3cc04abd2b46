package aws

import (
	"fmt"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// shifts is what ARC zonal shift knows: the account's cluster is its only resource, and takes part. It is used within the cloud's
// Update only.
type shifts struct {
	cloud    *fakecloud.Cloud
	resource string // the cluster's ARN
	name     string
	now      *shift // nil: there is none
}

// shift is a zonal shift that a customer started. A resource has one at a time; those of AWS's own, which autoshift and practice runs
// start, are not modelled.
type shift struct {
	id, zone       string
	began, expires time.Time
}

// What GetManagedResource asks and answers.
type (
	managedRequest struct {
		ResourceIdentifier string `wire:"resourceIdentifier,path,required,min=8,max=1024"`
	}
	managedAnswer struct {
		Arn                  string             `wire:"arn"`
		Name                 string             `wire:"name"`
		AppliedWeights       map[string]float64 `wire:"appliedWeights"`
		ZonalShifts          []zonalShift       `wire:"zonalShifts"`
		Autoshifts           []struct{}         `wire:"autoshifts"`
		ZonalAutoshiftStatus string             `wire:"zonalAutoshiftStatus"`
	}
	zonalShift struct {
		ZonalShiftID       string    `wire:"zonalShiftId"`
		ResourceIdentifier string    `wire:"resourceIdentifier"`
		AwayFrom           string    `wire:"awayFrom"`
		AppliedStatus      string    `wire:"appliedStatus"`
		ShiftType          string    `wire:"shiftType"`
		Comment            string    `wire:"comment"`
		StartTime          time.Time `wire:"startTime"`
		ExpiryTime         time.Time `wire:"expiryTime"`
	}
)

// operations are those that a program calls. Shifts are started and cancelled by people.
func (s *shifts) operations() []api.Operation {
	op := api.Does("GetManagedResource", s.describe)
	op.Method, op.Path = "GET", "/managedresources/{resourceIdentifier}"
	return []api.Operation{op}
}

// describe says which shift is active, by the ID of its zone, and how much each zone weighs.
func (s *shifts) describe(c *api.Call, in *managedRequest) (*managedAnswer, error) {
	if in.ResourceIdentifier != s.resource {
		return nil, wire.Errorf("ResourceNotFoundException", "The resource %.80s was not found.", in.ResourceIdentifier)
	}
	out := &managedAnswer{
		Arn: s.resource, Name: s.name, AppliedWeights: map[string]float64{}, ZonalShifts: []zonalShift{}, Autoshifts: []struct{}{},
		ZonalAutoshiftStatus: "DISABLED",
	}
	is := s.active(c.Tx.Now())
	for _, l := range s.cloud.Catalogue().Locations {
		out.AppliedWeights[l.Datacenter] = 1
		if is != nil && is.zone == l.Name {
			c.Note("location", l.Name)
			out.AppliedWeights[l.Datacenter] = 0
			out.ZonalShifts = append(out.ZonalShifts, zonalShift{
				ZonalShiftID: is.id, ResourceIdentifier: s.resource, AwayFrom: l.Datacenter, AppliedStatus: "APPLIED", ShiftType: "ZONAL_SHIFT",
				Comment: "nodestorm", StartTime: is.began, ExpiryTime: is.expires,
			})
		}
	}
	return out, nil
}

// active is the shift that is neither cancelled nor expired, or nil.
func (s *shifts) active(now time.Time) *shift {
	// mutant: a zonal shift never expires
	if s.now != nil && !now.Before(s.now.expires) {
		s.now = nil
	}
	return s.now
}

// The shortest and the longest zonal shift ("StartZonalShift, expiresIn": in minutes or hours, up to three days).
const (
	shortestShift = time.Minute
	longestShift  = 72 * time.Hour
)

// ShiftAway starts a zonal shift of the cluster away from a zone, which expires after a time.
func (s *Server) ShiftAway(zone string, expires time.Duration) error {
	return s.shifts.cloud.Update(func(tx *fakecloud.Tx) error {
		is := s.shifts.active(tx.Now())
		switch {
		case s.shifts.cloud.Catalogue().Location(zone) == nil:
			return fmt.Errorf("there is no zone %q", zone)
		case expires < shortestShift || expires > longestShift || expires%time.Minute != 0:
			return fmt.Errorf("a zonal shift cannot last %s: want whole minutes, 72h at most", expires)
		case is != nil:
			return fmt.Errorf("there is a zonal shift away from %q, and a cluster has one at a time", is.zone)
		}
		id := fmt.Sprintf("%s-%s-%s-%s-%s", tx.Hex(8), tx.Hex(4), tx.Hex(4), tx.Hex(4), tx.Hex(12))
		s.shifts.now = &shift{id: id, zone: zone, began: tx.Now(), expires: tx.Now().Add(expires)}
		return nil
	})
}

// CancelShift ends the zonal shift away from a zone.
func (s *Server) CancelShift(zone string) error {
	return s.shifts.cloud.Update(func(tx *fakecloud.Tx) error {
		if is := s.shifts.active(tx.Now()); is == nil || is.zone != zone {
			return fmt.Errorf("there is no zonal shift away from %q", zone)
		}
		s.shifts.now = nil
		return nil
	})
}
