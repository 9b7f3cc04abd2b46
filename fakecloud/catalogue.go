package fakecloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/fakecloud/cloudfault"
)

// Catalogue is what a cloud offers. It does not change; faults say what cannot be had.
type Catalogue struct {
	ServerTypes       []ServerType
	Images            []Image
	Locations         []Location
	LoadBalancerTypes []LoadBalancerType
	ISOs              []ISO
	// Currency of all prices; VATRate is in per cent.
	Currency string
	VATRate  float64
	// Billed is the span that is billed as a whole, however little of it an instance was there: an hour at Hetzner. Zero:
	// what is used is billed, by the second.
	Billed time.Duration
	// Prices per month, net: an image's or a volume's GB, addresses.
	ImageGB, VolumeGB, PrimaryIPv4, FloatingIPv4, FloatingIPv6 float64
}

// ServerType is a size of instances.
type ServerType struct {
	ID           int64
	Name         string
	Cores        int
	MemoryGB     float32
	DiskGB       int
	CPUType      string // "shared" or "dedicated"
	Architecture string // "x86" or "arm"
	Category     string
	Prices       []Price // by location: where there is none, the type is not offered
}

// Price is what a type costs in a location, net.
type Price struct {
	Location string
	Monthly  float64
	// TrafficTB is how much traffic is free a month; PerTB is the price beyond.
	TrafficTB int
	PerTB     float64
	// Spot is the monthly price of capacity that the cloud may take back. Zero: there is none.
	Spot float64
}

// hoursPerMonth is how many hours a month costs as much as the month does: Hetzner's prices
// by the hour are the monthly ones over 624.
const hoursPerMonth = 624

// Hourly is the price by the hour.
func (p Price) Hourly() float64 { return p.Monthly / hoursPerMonth }

// SpotHourly is the price by the hour of capacity that the cloud may take back.
func (p Price) SpotHourly() float64 { return p.Spot / hoursPerMonth }

// Location is where instances can be. Its data centre is one, as at Hetzner.
type Location struct {
	ID                               int64
	Name, Description, Country, City string
	Latitude, Longitude              float64
	NetworkZone                      string
	DatacenterID                     int64
	Datacenter, DatacenterText       string
}

// LoadBalancerType is a size of load balancers.
type LoadBalancerType struct {
	ID                                                       int64
	Name                                                     string
	MaxConnections, MaxServices, MaxTargets, MaxCertificates int
	Prices                                                   []Price
}

// ISO is a disc that can be put into an instance.
type ISO struct {
	ID                              int64
	Name, Description, Architecture string
}

// check says what is wrong with a catalogue.
func (c *Catalogue) check() error {
	prices := map[string][]Price{}
	for _, t := range c.ServerTypes {
		prices["server type "+t.Name] = t.Prices
	}
	for _, t := range c.LoadBalancerTypes {
		prices["load balancer type "+t.Name] = t.Prices
	}
	for what, prices := range prices {
		if len(prices) == 0 {
			return fmt.Errorf("%s is offered nowhere: want a price", what)
		}
		for _, p := range prices {
			if c.Location(p.Location) == nil {
				return fmt.Errorf("%s has a price in location %q, which is not there", what, p.Location)
			}
		}
	}
	return nil
}

// Add offers more types, each for its prices in locations that there are. One that has none there is refused, and one
// whose name is there already.
func (c *Catalogue) Add(types ...ServerType) error {
	for _, t := range types {
		if c.ServerType(t.Name) != nil {
			return fmt.Errorf("server type %s: the cloud has it", t.Name)
		}
		elsewhere := func(p Price) bool { return c.Location(p.Location) == nil }
		here := slices.DeleteFunc(slices.Clone(t.Prices), elsewhere)
		if len(here) == 0 {
			var names []string
			for _, l := range c.Locations {
				names = append(names, l.Name)
			}
			return fmt.Errorf("server type %s is offered in no location of this cloud, which has %s", t.Name, strings.Join(names, ", "))
		}
		t.Prices = here
		c.ServerTypes = append(c.ServerTypes, t)
	}
	return nil
}

// ServerType returns the type of that name, or ID in digits, or nil.
func (c *Catalogue) ServerType(idOrName string) *ServerType {
	return find(c.ServerTypes, idOrName, func(t *ServerType) (int64, string) { return t.ID, t.Name })
}

// Location returns the location of that name, or ID in digits, or nil.
func (c *Catalogue) Location(idOrName string) *Location {
	return find(c.Locations, idOrName, func(l *Location) (int64, string) { return l.ID, l.Name })
}

// Datacenter returns the location with the data centre of that name, or ID in digits, or nil.
func (c *Catalogue) Datacenter(idOrName string) *Location {
	return find(c.Locations, idOrName, func(l *Location) (int64, string) { return l.DatacenterID, l.Datacenter })
}

// LoadBalancerType returns the type of that name, or ID in digits, or nil.
func (c *Catalogue) LoadBalancerType(idOrName string) *LoadBalancerType {
	return find(c.LoadBalancerTypes, idOrName, func(t *LoadBalancerType) (int64, string) { return t.ID, t.Name })
}

// ISO returns the ISO of that name, or ID in digits, or nil.
func (c *Catalogue) ISO(idOrName string) *ISO {
	return find(c.ISOs, idOrName, func(i *ISO) (int64, string) { return i.ID, i.Name })
}

func find[T any](all []T, idOrName string, key func(*T) (int64, string)) *T {
	for k := range all {
		if id, name := key(&all[k]); name == idOrName || strconv.FormatInt(id, 10) == idOrName {
			return &all[k]
		}
	}
	return nil
}

// PriceIn returns the price in a location; ok is false where the type is not offered there.
func (t *ServerType) PriceIn(location string) (price Price, ok bool) {
	k := slices.IndexFunc(t.Prices, func(p Price) bool { return p.Location == location })
	if k < 0 {
		return Price{}, false
	}
	return t.Prices[k], true
}

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
