package ec2

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
)

// What CreateFleet asks and answers.
type (
	fleetRequest struct {
		DryRun                bool
		ClientToken           string
		Context               string
		Configs               []fleetConfig      `wire:"launchTemplateConfigs,required,max=50"`
		OnDemandOptions       *allocation        `wire:"onDemandOptions"`
		SpotOptions           *spotAllocation    `wire:"spotOptions"`
		Tags                  []tagSpecification `wire:"tagSpecification"`
		Target                fleetTarget        `wire:"targetCapacitySpecification,required"`
		Type                  string             `wire:",enum=request|maintain|instant"`
		ValidFrom, ValidUntil *time.Time
	}
	fleetConfig struct {
		Template  fleetTemplate   `wire:"launchTemplateSpecification,required"`
		Overrides []fleetOverride `wire:",max=300"`
	}
	fleetTemplate struct {
		LaunchTemplateID   string `wire:"launchTemplateId"`
		LaunchTemplateName string
		Version            string
	}
	fleetOverride struct {
		AvailabilityZone   string
		AvailabilityZoneID string `wire:"availabilityZoneId"`
		ImageID            string `wire:"imageId"`
		InstanceType       string
		MaxPrice           string
		Priority           *float64
		SubnetID           string `wire:"subnetId"`
	}
	allocation struct {
		AllocationStrategy string `wire:",enum=lowest-price|prioritized"`
	}
	spotAllocation struct {
		AllocationStrategy string `wire:",max=64"` // checked with the fleet
	}
	fleetTarget struct {
		Total    *int64 `wire:"totalTargetCapacity,required,min=0,max=10000"`
		OnDemand *int64 `wire:"onDemandTargetCapacity,min=0"`
		Spot     *int64 `wire:"spotTargetCapacity,min=0"`
		Default  string `wire:"defaultTargetCapacityType,enum=spot|on-demand"`
	}
	fleetAnswer struct {
		FleetID   string          `wire:"fleetId"`
		Errors    []fleetError    `wire:"errorSet"`
		Instances []fleetInstance `wire:"fleetInstanceSet"`
	}
	fleetError struct {
		Of           launchedFrom `wire:"launchTemplateAndOverrides"`
		Lifecycle    string
		ErrorCode    string
		ErrorMessage string
	}
	fleetInstance struct {
		Of           launchedFrom `wire:"launchTemplateAndOverrides"`
		Lifecycle    string
		InstanceIDs  []string `wire:"instanceIds"`
		InstanceType string
	}
	launchedFrom struct {
		Template  fleetTemplate `wire:"launchTemplateSpecification"`
		Overrides fleetOverride
	}
)

var spotStrategies = []string{
	"", "lowest-price", "diversified", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized",
}

// maxOverrides is how many a fleet may have ("Amazon EC2 quotas, EC2 Fleet": 300 for one of type instant).
const maxOverrides = 300

// pool is one of the pools of capacity that a fleet is launched from.
type pool struct {
	from     launchedFrom
	order    order
	price    float64
	priority float64
	used     bool
}

// aboutFleet is what a fleet wants: faults are asked for each of its pools.
func (s *Service) aboutFleet(c *api.Call, in *fleetRequest) api.Subject {
	is, _ := tagsFor(in.Tags, "instance") // the fleet reports what is wrong with them
	spot := in.spot()
	about := api.Subject{Wants: map[string]any{"capacity": fakecloud.CapacityType(spot)}}
	for _, config := range in.Configs {
		for _, o := range config.Overrides {
			order := &order{typeName: o.InstanceType, zone: o.AvailabilityZone, subnet: o.SubnetID, spot: spot, tags: is}
			if _, in := subnetNamed(c.Tx, o.SubnetID); in != nil {
				order.zone = in.Zone
			}
			call := s.asked(c, order)
			call.Name, call.DryRun = config.Template.LaunchTemplateName, in.DryRun
			about.Matches = append(about.Matches, call)
		}
	}
	if types := named(about.Matches, func(c cloudfault.Call) string { return c.Type }); len(types) == 1 {
		about.Wants["type"] = types[0]
	}
	if zones := named(about.Matches, func(c cloudfault.Call) string { return c.Location }); len(zones) == 1 {
		about.Wants["location"] = zones[0]
	}
	return about
}

// named are the different values of what calls ask for.
func named(calls []cloudfault.Call, of func(cloudfault.Call) string) (all []string) {
	for _, c := range calls {
		all = append(all, of(c))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spot reports whether the fleet's target is spot capacity.
func (in *fleetRequest) spot() bool { return in.Target.Default == "spot" }

// createFleet launches what it can at once: fleets of type instant have no life of their own. Like AWS's it launches all from the pool
// that its strategy puts first, and goes on to the next where that has no more; what each pool lacked is in the answer, once.
// Of equal pools the first by name is taken: what AWS's strategies know of capacity is known to AWS alone.
func (s *Service) createFleet(c *api.Call, in *fleetRequest) (*fleetAnswer, error) {
	return api.Again(&s.answers, c, in.ClientToken, func() (*fleetAnswer, error) { return s.launchFleet(c, in) })
}

func (s *Service) launchFleet(c *api.Call, in *fleetRequest) (*fleetAnswer, error) {
	pools, err := s.pools(c, in)
	if err == nil {
		err = dryRun(in.DryRun)
	}
	if err != nil {
		return nil, err
	}
	out := &fleetAnswer{FleetID: fleetID(c.Tx), Errors: []fleetError{}, Instances: []fleetInstance{}}
	lifecycle := fakecloud.CapacityType(in.spot())
	var ids []string
	for left, k := int(*in.Target.Total), 0; left > 0 && k < len(pools); {
		p := pools[k]
		p.order.fleet, p.order.reservation = out.FleetID, "r-"+c.Tx.Hex(17)
		i, err := s.launch(c, &p.order)
		if err != nil {
			k++
			if refused := (&wire.Error{}); errors.As(err, &refused) {
				p.from.Overrides.AvailabilityZone, p.from.Overrides.AvailabilityZoneID = p.order.zone, s.zoneID(p.order.zone)
				out.Errors = append(out.Errors, fleetError{p.from, lifecycle, refused.Code, refused.Message})
			}
			continue
		}
		left--
		ids = append(ids, i.Name)
		if !p.used {
			p.from.Overrides.SubnetID, p.from.Overrides.AvailabilityZone = p.order.subnet, i.Location
			p.from.Overrides.AvailabilityZoneID, p.from.Overrides.InstanceType = s.zoneID(i.Location), i.Type
			out.Instances = append(out.Instances, fleetInstance{Of: p.from, Lifecycle: lifecycle, InstanceType: i.Type})
			p.used = true
			c.Note("type", i.Type)
			c.Note("location", i.Location)
		}
		last := &out.Instances[len(out.Instances)-1]
		last.InstanceIDs = append(last.InstanceIDs, i.Name)
	}
	noteLaunched(c, in.Target.Total, ids)
	if len(out.Errors) > 0 {
		c.Note("error", out.Errors[0].ErrorCode)
	}
	return out, nil
}

// noteLaunched has the event say how many instances were asked for, and which came of it.
func noteLaunched(c *api.Call, asked *int64, ids []string) {
	c.Note("asked", *asked)
	if len(ids) > 0 {
		c.Note("instances", ids)
	}
}

func fleetID(tx *fakecloud.Tx) string {
	return fmt.Sprintf("fleet-%s-%s-%s-%s-%s", tx.Hex(8), tx.Hex(4), tx.Hex(4), tx.Hex(4), tx.Hex(12))
}

// pools are those of a fleet, in the order in which they are tried.
func (s *Service) pools(c *api.Call, in *fleetRequest) ([]*pool, error) {
	if _, err := tagsFor(in.Tags, "instance"); err != nil {
		return nil, err
	}
	if o := in.SpotOptions; o != nil && !slices.Contains(spotStrategies, o.AllocationStrategy) {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%.80s) for parameter SpotOptions.AllocationStrategy is invalid.",
			o.AllocationStrategy)
	}
	if in.Type != "instant" {
		c.ReportUnserved(fmt.Sprintf("the cloud does not serve fleets of type %q", cmp.Or(in.Type, "maintain")))
		return nil, wire.Errorf("UnsupportedOperation", "Fleets of type %q are not served: want instant", cmp.Or(in.Type, "maintain"))
	}
	if in.Target.OnDemand != nil || in.Target.Spot != nil {
		c.ReportUnserved("the cloud does not serve fleets with targets of on-demand and spot capacity beside the total")
		return nil, wire.Errorf("UnsupportedOperation", "Targets beside the total are not served")
	}
	var all []*pool
	seen := map[fleetOverride]bool{}
	for _, config := range in.Configs {
		of, err := s.find(config.Template.LaunchTemplateID, config.Template.LaunchTemplateName, config.Template.Version)
		if err != nil {
			return nil, err
		}
		overrides := config.Overrides
		if len(overrides) == 0 {
			overrides = []fleetOverride{{}}
		}
		for _, o := range overrides {
			p, err := s.pool(c, in, of, config.Template, o)
			if err != nil {
				return nil, err
			}
			key := fleetOverride{InstanceType: p.order.typeName, SubnetID: p.order.subnet, AvailabilityZone: p.order.zone, MaxPrice: of.id}
			// mutant: a fleet may have the same override twice
			if seen[key] {
				return nil, wire.Errorf("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools")
			}
			seen[key] = true
			all = append(all, p)
		}
	}
	if len(all) > maxOverrides {
		return nil, wire.Errorf("InvalidFleetConfig", "The fleet configuration has %d overrides, and may have %d", len(all), maxOverrides)
	}
	slices.SortStableFunc(all, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.price, b.price), cmp.Compare(a.order.typeName, b.order.typeName),
			cmp.Compare(a.order.zone, b.order.zone), cmp.Compare(a.order.subnet, b.order.subnet))
	})
	return all, nil
}

// pool is that of one override of a template.
func (s *Service) pool(c *api.Call, in *fleetRequest, t *template, from fleetTemplate, o fleetOverride) (*pool, error) {
	is, _ := tagsFor(in.Tags, "instance") // checked with the fleet
	p := &pool{order: order{
		typeName: cmp.Or(o.InstanceType, t.data.InstanceType), image: cmp.Or(o.ImageID, t.data.ImageID), subnet: o.SubnetID,
		zone: o.AvailabilityZone, spot: in.spot(), data: &t.data, template: t, tags: is, token: in.ClientToken,
	}}
	p.from = launchedFrom{fleetTemplate{LaunchTemplateID: t.id, LaunchTemplateName: t.name, Version: cmp.Or(from.Version, "$Default")}, o}
	p.from.Template.LaunchTemplateName = t.name
	if from.LaunchTemplateID == "" {
		p.from.Template.Version = "1"
	}
	switch {
	case p.order.typeName == "":
		return nil, wire.Errorf("InvalidParameterValue", "An instance type must be specified in the launch template or the overrides")
	case p.order.image == "":
		return nil, wire.Errorf("InvalidParameterValue", "An image must be specified in the launch template or the overrides")
	case o.SubnetID != "" && len(t.data.NetworkInterfaces) > 0 && t.data.NetworkInterfaces[0].SubnetID != "":
		return nil, wire.Errorf("InvalidFleetConfig", "A subnet may not be specified both in a network interface and in the overrides")
	}
	if _, in := subnetNamed(c.Tx, p.order.subnet); in != nil {
		p.order.zone = cmp.Or(p.order.zone, in.Zone)
	}
	prioritized := in.SpotOptions != nil && in.SpotOptions.AllocationStrategy == "capacity-optimized-prioritized" ||
		in.OnDemandOptions != nil && in.OnDemandOptions.AllocationStrategy == "prioritized"
	if prioritized && o.Priority != nil {
		p.priority = *o.Priority
	}
	p.price = s.price(p.order.typeName, p.order.zone, p.order.spot)
	if most, err := strconv.ParseFloat(o.MaxPrice, 64); o.MaxPrice != "" && (err != nil || most <= 0) {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%.40s) for parameter maxPrice is invalid", o.MaxPrice)
	}
	return p, nil
}

// price is what an hour costs; without a zone, in the first.
func (s *Service) price(typeName, zone string, spot bool) float64 {
	t := s.types[typeName]
	if t == nil {
		return 0
	}
	for _, p := range t.Prices {
		if zone == "" || p.Location == zone {
			if spot {
				return p.Spot * p.Hourly() / p.Monthly
			}
			return p.Hourly()
		}
	}
	return 0
}
