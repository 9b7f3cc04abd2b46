package ec2

import (
	"strconv"
	"time"

	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What is said of instance types.
type (
	describeTypesRequest struct {
		DryRun        bool
		Filters       []listing.Filter `wire:"filter"`
		InstanceTypes []string         `wire:"instanceType,max=100"`
		MaxResults    *int64           `wire:",min=5,max=100"`
		NextToken     string
	}
	describeTypesAnswer struct {
		InstanceTypes []kinds.Info `wire:"instanceTypeSet"`
		NextToken     string
	}
)

func (s *Service) describeTypes(c *api.Call, in *describeTypesRequest) (*describeTypesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.InstanceTypes, "instanceTypes"); err != nil {
		return nil, err
	}
	if s.offered == nil {
		types := s.Cloud.Catalogue().ServerTypes
		for k := range types {
			s.offered = append(s.offered, kinds.Of(&types[k]))
		}
	}
	var all []*kinds.Info
	for k := range s.offered {
		if len(in.InstanceTypes) == 0 {
			all = append(all, &s.offered[k])
		}
	}
	for _, name := range in.InstanceTypes {
		t := s.types[name]
		if t == nil {
			return nil, wire.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: [%.80s]", name)
		}
		info := kinds.Of(t)
		all = append(all, &info)
	}
	all, err := kinds.Filters.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 100)
	if err != nil {
		return nil, err
	}
	out := &describeTypesAnswer{InstanceTypes: []kinds.Info{}, NextToken: next}
	for _, t := range some {
		out.InstanceTypes = append(out.InstanceTypes, *t)
	}
	return out, nil
}

// What is said of where types are offered.
type (
	offeringsRequest struct {
		DryRun       bool
		Filters      []listing.Filter `wire:"filter"`
		LocationType string           `wire:",enum=region|availability-zone|availability-zone-id"`
		MaxResults   *int64           `wire:",min=5,max=1000"`
		NextToken    string
	}
	offeringsAnswer struct {
		Offerings []offering `wire:"instanceTypeOfferingSet"`
		NextToken string
	}
	offering struct {
		InstanceType, LocationType, Location string
	}
)

var ofOfferings = listing.Kind[offering]{By: map[string]func(*offering) []string{
	"instance-type": listing.One(func(o *offering) string { return o.InstanceType }),
	"location":      listing.One(func(o *offering) string { return o.Location }),
}}

// describeOfferings lists where types are sold. One that has run out is sold all the same.
func (s *Service) describeOfferings(c *api.Call, in *offeringsRequest) (*offeringsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	var all []*offering
	catalogue := s.Cloud.Catalogue()
	for k := range catalogue.ServerTypes {
		t := &catalogue.ServerTypes[k]
		switch in.LocationType {
		case "", "region":
			all = append(all, &offering{t.Name, "region", s.Region})
			continue
		}
		for _, p := range t.Prices {
			if supply := c.Tx.Supply(t, p.Location); !supply.RetiredSince.IsZero() {
				continue
			}
			at := p.Location
			if in.LocationType == "availability-zone-id" {
				at = s.zoneID(p.Location)
			}
			all = append(all, &offering{t.Name, in.LocationType, at})
		}
	}
	all, err := ofOfferings.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &offeringsAnswer{Offerings: []offering{}, NextToken: next}
	for _, o := range some {
		out.Offerings = append(out.Offerings, *o)
	}
	return out, nil
}

// zoneID is the ID of a zone.
func (s *Service) zoneID(zone string) string {
	if l := s.Cloud.Catalogue().Location(zone); l != nil {
		return l.Datacenter
	}
	return ""
}

// What is said of spot prices.
type (
	spotPricesRequest struct {
		DryRun              bool
		Filters             []listing.Filter `wire:"filter"`
		AvailabilityZone    string
		InstanceTypes       []string `wire:"instanceType"`
		ProductDescriptions []string `wire:"productDescription"`
		StartTime, EndTime  *time.Time
		MaxResults          *int64 `wire:",min=1"`
		NextToken           string
	}
	spotPricesAnswer struct {
		Prices    []spotPrice `wire:"spotPriceHistorySet"`
		NextToken string
	}
	spotPrice struct {
		InstanceType, ProductDescription, SpotPrice string
		Timestamp                                   time.Time
		AvailabilityZone                            string
		AvailabilityZoneID                          string `wire:"availabilityZoneId"`
	}
)

var ofSpotPrices = listing.Kind[spotPrice]{By: map[string]func(*spotPrice) []string{
	"instance-type":       listing.One(func(p *spotPrice) string { return p.InstanceType }),
	"availability-zone":   listing.One(func(p *spotPrice) string { return p.AvailabilityZone }),
	"product-description": listing.One(func(p *spotPrice) string { return p.ProductDescription }),
	"spot-price":          listing.One(func(p *spotPrice) string { return p.SpotPrice }),
}}

// linux is the product that spot prices are of.
const linux = "Linux/UNIX"

// describeSpotPrices lists the prices as they are now: the cloud's have no history.
func (s *Service) describeSpotPrices(c *api.Call, in *spotPricesRequest) (*spotPricesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	fits := func(want []string, is string) bool {
		for _, w := range want {
			if w == is {
				return true
			}
		}
		return len(want) == 0
	}
	var all []*spotPrice
	for _, t := range s.Cloud.Catalogue().ServerTypes {
		if !fits(in.InstanceTypes, t.Name) || !fits(in.ProductDescriptions, linux) {
			continue
		}
		for _, p := range t.Prices {
			if p.Spot > 0 && (in.AvailabilityZone == "" || in.AvailabilityZone == p.Location) {
				all = append(all, &spotPrice{
					t.Name, linux, strconv.FormatFloat(p.Spot*p.Hourly()/p.Monthly, 'f', 6, 64), c.Tx.Now(), p.Location, s.zoneID(p.Location),
				})
			}
		}
	}
	all, err := ofSpotPrices.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 2000)
	if err != nil {
		return nil, err
	}
	out := &spotPricesAnswer{Prices: []spotPrice{}, NextToken: next}
	for _, p := range some {
		out.Prices = append(out.Prices, *p)
	}
	return out, nil
}
