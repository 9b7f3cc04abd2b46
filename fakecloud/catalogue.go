package fakecloud

import (
	"fmt"
	"time"

	"nodestorm/fakecloud/catalogue"
	"nodestorm/fakecloud/cloudfault"
)

// What a cloud offers, see package catalogue.
type (
	Catalogue        = catalogue.Catalogue
	ServerType       = catalogue.ServerType
	Price            = catalogue.Price
	Location         = catalogue.Location
	LoadBalancerType = catalogue.LoadBalancerType
	ISO              = catalogue.ISO
	Image            = catalogue.Image
)

// PlainImage is the only image that Plain has.
const PlainImage = catalogue.PlainImage

// Hetzner is what the Hetzner Cloud offers.
func Hetzner() *Catalogue { return catalogue.Hetzner() }

// Plain is what a cloud of no real provider offers.
func Plain() *Catalogue { return catalogue.Plain() }

// Supply is whether a server type can be had in a location.
type Supply struct {
	Available bool
	// RetiredSince is zero for a type that is not withdrawn.
	RetiredSince time.Time
}

// Supply says whether a type can be had in a location now, and notes that faults which make a
// difference to it have been seen.
func (tx *Tx) Supply(t *ServerType, location string) Supply { return tx.supply(t, location, false) }

func (tx *Tx) supply(t *ServerType, location string, spot bool) Supply {
	s := Supply{Available: true}
	for _, hit := range tx.c.faults.Active(cloudfault.Supply) {
		e := hit.Effect.(cloudfault.Supplier)
		if !e.Lacks(t.Name, location, CapacityType(spot)) {
			continue
		}
		if e.Withdrawn() {
			s.RetiredSince = hit.From
		}
		s.Available = false
		hit.Effective()
	}
	return s
}

// CapacityType is what Kubernetes' autoscalers call capacity that the cloud may take back, and other.
func CapacityType(spot bool) string {
	if spot {
		return "spot"
	}
	return "on-demand"
}

// checkSupply finds what keeps an instance from being had. Of what is reserved there is enough.
func (tx *Tx) checkSupply(spec Spec, reserved bool) error {
	if price, ok := spec.Type.PriceIn(spec.Location); !ok || spec.Spot && price.Spot == 0 {
		return Errorf("invalid_input", "unsupported location for server type")
	}
	// mutant: what is reserved is out of stock
	if reserved {
		return nil
	}
	switch s := tx.supply(spec.Type, spec.Location, spec.Spot); {
	case !s.RetiredSince.IsZero():
		return Errorf("invalid_input", "server type %d is deprecated", spec.Type.ID)
	case !s.Available:
		return Errorf("resource_unavailable", "we are unable to provision servers for this location, try with a different location or try later")
	}
	if spec.PlacementGroup == 0 {
		return nil
	}
	if n := len(tx.Members(spec.PlacementGroup)); n >= MaxSpread {
		return Errorf("placement_error", "placement group %d holds %d servers already", spec.PlacementGroup, n)
	}
	return nil
}

// Members returns the IDs of the instances in a placement group.
func (tx *Tx) Members(placementGroup int64) []int64 {
	var ids []int64
	for _, i := range tx.Instances.All() {
		if i.PlacementGroup == placementGroup {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

func (tx *Tx) seedImages() {
	for _, i := range tx.c.cfg.Catalogue.Images {
		tx.Images.Put(i)
	}
}

// Money is a price as the API writes it.
func Money(amount float64) string { return fmt.Sprintf("%.10f", amount) }
