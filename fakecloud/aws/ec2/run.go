package ec2

import (
	"cmp"
	"slices"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/wire"
)

// What RunInstances asks and answers. What it asks for goes over what its template has.
type (
	runRequest struct {
		DryRun              bool
		CapacityReservation *reservationSpec `wire:"capacityReservationSpecification"`
		ClientToken         string
		ImageID             string `wire:"imageId"`
		InstanceType        string
		MinCount            *int64              `wire:",required,min=1,max=1000"`
		MaxCount            *int64              `wire:",required,min=1,max=1000"`
		LaunchTemplate      *fleetTemplate      `wire:"launchTemplate"`
		SubnetID            string              `wire:"subnetId"`
		SecurityGroupIDs    []string            `wire:"securityGroupId"`
		InstanceProfile     *profileSpec        `wire:"iamInstanceProfile"`
		MarketOptions       *marketOptions      `wire:"instanceMarketOptions"`
		MetadataOptions     *metadataOptions    `wire:"metadataOptions"`
		NetworkInterfaces   []templateInterface `wire:"networkInterface"`
		Placement           *placementSpec      `wire:"placement"`
		Tags                []tagSpecification  `wire:"tagSpecification"`
		UserData            string              `wire:"userData"`
	}
	runAnswer struct {
		ReservationID string            `wire:"reservationId"`
		OwnerID       string            `wire:"ownerId"`
		Groups        []groupIdentifier `wire:"groupSet"`
		Instances     []instance        `wire:"instancesSet"`
	}
)

// data is what instances are launched from: the template's, with what the request says in place of it.
func (s *Service) data(in *runRequest) (*templateData, *template, error) {
	var from *template
	data := &templateData{}
	if t := in.LaunchTemplate; t != nil {
		var err error
		if from, err = s.find(t.LaunchTemplateID, t.LaunchTemplateName, t.Version); err != nil {
			return nil, nil, err
		}
		of := from.data
		data = &of
	}
	data.ImageID, data.InstanceType = cmp.Or(in.ImageID, data.ImageID), cmp.Or(in.InstanceType, data.InstanceType)
	data.UserData = cmp.Or(in.UserData, data.UserData)
	data.InstanceProfile, data.MarketOptions = cmp.Or(in.InstanceProfile, data.InstanceProfile), cmp.Or(in.MarketOptions, data.MarketOptions)
	data.CapacityReservation = cmp.Or(in.CapacityReservation, data.CapacityReservation)
	data.MetadataOptions, data.Placement = cmp.Or(in.MetadataOptions, data.MetadataOptions), cmp.Or(in.Placement, data.Placement)
	if len(in.SecurityGroupIDs) > 0 {
		data.SecurityGroupIDs = in.SecurityGroupIDs
	}
	if len(in.NetworkInterfaces) > 0 {
		data.NetworkInterfaces = in.NetworkInterfaces
	}
	return data, from, data.check()
}

func (s *Service) aboutRun(c *api.Call, in *runRequest) api.Subject {
	data, from, err := s.data(in)
	if err != nil {
		return api.Subject{}
	}
	is, _ := tagsFor(in.Tags, "instance")
	o := s.runOrder(in, data, from, is)
	r := &resolved{order: o}
	_ = s.resolveSubnet(c.Tx, r) // the call reports it
	call := s.asked(c, o)
	call.DryRun = in.DryRun
	if from != nil {
		call.Name = from.name
	}
	wants := map[string]any{"capacity": o.capacity()}
	for key, value := range map[string]string{"type": o.typeName, "location": o.zone} {
		if value != "" {
			wants[key] = value
		}
	}
	about := api.Subject{Wants: wants}
	about.Matches = append(about.Matches, call)
	return about
}

func (s *Service) runOrder(in *runRequest, data *templateData, from *template, is map[string]string) *order {
	o := &order{
		typeName: cmp.Or(data.InstanceType, "m1.small"), image: data.ImageID, subnet: in.SubnetID, data: data, template: from,
		tags: is, token: in.ClientToken, spot: data.MarketOptions != nil && data.MarketOptions.MarketType == "spot",
	}
	if data.Placement != nil {
		o.zone = data.Placement.AvailabilityZone
	}
	return o
}

// runInstances launches all that it can up to MaxCount, or none if that is less than MinCount. A dry run goes as far as anything can
// be known to be wrong.
func (s *Service) runInstances(c *api.Call, in *runRequest) (*runAnswer, error) {
	return api.Again(&s.answers, c, in.ClientToken, func() (*runAnswer, error) { return s.run(c, in) })
}

func (s *Service) run(c *api.Call, in *runRequest) (*runAnswer, error) {
	data, from, err := s.data(in)
	if err != nil {
		return nil, err
	}
	is, err := tagsFor(in.Tags, "instance")
	switch {
	case err != nil:
		return nil, err
	case *in.MinCount > *in.MaxCount:
		return nil, wire.Errorf("InvalidParameterValue", "minCount must not be greater than maxCount")
	case data.ImageID == "":
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter ImageId")
	}
	o := s.runOrder(in, data, from, is)
	o.reservation = "r-" + c.Tx.Hex(17)
	if _, err := s.resolve(c.Tx, o); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := s.enough(c.Tx, o, int(*in.MinCount)); err != nil {
		return nil, err
	}
	out := &runAnswer{ReservationID: o.reservation, OwnerID: s.Account, Groups: []groupIdentifier{}, Instances: []instance{}}
	var ids []string
	for range *in.MaxCount {
		i, err := s.launch(c, o)
		if err != nil && len(out.Instances) == 0 {
			return nil, err
		}
		if err != nil {
			break
		}
		ids = append(ids, i.Name)
		out.Instances = append(out.Instances, s.describe(c.Tx, i, nil))
	}
	noteLaunched(c, in.MaxCount, ids)
	return out, nil
}

// enough finds out whether a subnet has addresses for all that are wanted at least.
func (s *Service) enough(tx *fakecloud.Tx, o *order, want int) error {
	all := s.subnets(tx)
	k := slices.IndexFunc(all, func(is *subnet) bool { return is.SubnetID == o.subnet })
	if k >= 0 && int(all[k].AvailableIPAddressCount) < want {
		return refusal(fakecloud.Errorf("no_subnet_available", ""), o)
	}
	return nil
}
