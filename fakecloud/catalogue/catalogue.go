// Package catalogue has what can be had in a cloud: types, images, locations and prices; of Hetzner's cloud, and of a plain one. It knows
// nothing of what there is.
package catalogue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/fakecloud/table"
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

// Check says what is wrong with a catalogue.
func (c *Catalogue) Check() error {
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

// Image is what an instance boots. System images have fixed IDs and cannot be changed; snapshots
// and backups are the project's.
type Image struct {
	table.Meta
	Type         string // "system", "snapshot", "backup" or "app"
	Description  string
	OSFlavor     string
	OSVersion    string
	Architecture string
	DiskGB       float32
	CreatedFrom  int64 // instance, zero for none
	FromName     string
	BoundTo      int64 // instance of a backup
	// DeprecatedSince is zero for an image that is not deprecated.
	DeprecatedSince time.Time
}
