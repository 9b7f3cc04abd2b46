package ec2

import (
	"encoding/base64"
	"errors"
	"slices"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
)

// machine is what EC2 has of an instance beside what the cloud has.
type machine struct {
	reservation, fleet, template, templateName string
	profile                                    string // ARN
	subnet, vpc                                string
	groups                                     []string
	eni, volume, spotRequest, token            string
	metadata                                   metadataOptions
	placement                                  placementSpec
	monitoring                                 bool
}

// order is an instance to be launched, as template and overrides have it.
type order struct {
	typeName, image, subnet, zone string
	spot                          bool
	data                          *templateData
	template                      *template
	tags                          map[string]string
	reservation, fleet, token     string
}

// capacity is what the order wants.
func (o *order) capacity() string { return fakecloud.CapacityType(o.spot) }

// resolved is an order of which all that it names has been found.
type resolved struct {
	*order
	is      *fakecloud.ServerType
	image   *fakecloud.Image
	network *fakecloud.Network
	in      *fakecloud.Subnet
	groups  []string
	profile string
}

// resolve finds what the order names, or the error of the first that is not there, or does not fit.
func (s *Service) resolve(tx *fakecloud.Tx, o *order) (*resolved, error) {
	r := &resolved{order: o, is: s.types[o.typeName]}
	if r.is == nil {
		return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%.80s' for InstanceType.", o.typeName)
	}
	is, image := s.imageNamed(tx, o.image)
	if r.image = image; image == nil {
		return nil, missing("AMIID", "image id", "["+o.image+"]")
	}
	if is.Architecture != kinds.Architecture(r.is.Architecture == "arm") {
		return nil, wire.Errorf("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the "+
			"architecture '%s' of the specified AMI.", kinds.Architecture(r.is.Architecture == "arm"), is.Architecture)
	}
	if err := s.resolveSubnet(tx, r); err != nil {
		return nil, err
	}
	if err := s.resolveGroups(tx, r); err != nil {
		return nil, err
	}
	if p := o.data.InstanceProfile; p != nil {
		if r.profile = s.HasProfile(p.Name); p.Name != "" && r.profile == "" {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%.128s) for parameter iamInstanceProfile.name is invalid. Invalid IAM "+
				"Instance Profile name", p.Name)
		}
	}
	return r, nil
}

// resolveSubnet finds the subnet: the one that is named, or else the first of the zone, or of all.
func (s *Service) resolveSubnet(tx *fakecloud.Tx, r *resolved) error {
	if k := slices.IndexFunc(r.data.NetworkInterfaces, func(i templateInterface) bool { return i.SubnetID != "" }); k >= 0 && r.subnet == "" {
		r.subnet = r.data.NetworkInterfaces[k].SubnetID
	}
	if r.subnet == "" {
		for _, of := range s.subnets(tx) {
			if r.zone == "" || of.AvailabilityZone == r.zone {
				r.subnet = of.SubnetID
				break
			}
		}
	}
	r.network, r.in = subnetNamed(tx, r.subnet)
	switch {
	case r.in == nil:
		return missing("SubnetID", "subnet ID", r.subnet)
	case r.zone != "" && r.zone != r.in.Zone:
		return wire.Errorf("InvalidParameterValue", "The availability zone %.40s is not that of the subnet %s", r.zone, r.subnet)
	}
	r.zone = r.in.Zone
	return nil
}

func (s *Service) resolveGroups(tx *fakecloud.Tx, r *resolved) error {
	r.groups = slices.Clone(r.data.SecurityGroupIDs)
	for _, i := range r.data.NetworkInterfaces {
		r.groups = append(r.groups, i.Groups...)
	}
	slices.Sort(r.groups)
	r.groups = slices.Compact(r.groups)
	for _, id := range r.groups {
		if tx.Firewalls.Named(id) == nil {
			return missing("Group", "security group", id)
		}
	}
	return nil
}

// launch launches an instance, or says why it cannot.
func (s *Service) launch(c *api.Call, o *order) (*fakecloud.Instance, error) {
	r, err := s.resolve(c.Tx, o)
	if err != nil {
		return nil, err
	}
	if err := s.strike(c, o); err != nil {
		return nil, err
	}
	matching, err := o.data.CapacityReservation.matching(c.Tx)
	if err != nil {
		return nil, err
	}
	user, _ := base64.StdEncoding.DecodeString(o.data.UserData) // checked with the template
	i, _, _, err := c.Tx.Create(fakecloud.Spec{
		Name: "i-" + c.Tx.Hex(17), Labels: o.tags, Type: r.is, Image: r.image, Location: o.zone, UserData: string(user),
		Start: true, Spot: o.spot, Matching: matching, Networks: []int64{r.network.ID}, Subnet: r.in.Range,
	})
	if err != nil {
		return nil, refusal(err, o)
	}
	s.keep(c.Tx, i, r)
	return i, nil
}

// keep notes what EC2 has of an instance beside what the cloud has.
func (s *Service) keep(tx *fakecloud.Tx, i *fakecloud.Instance, r *resolved) {
	m := &machine{
		reservation: r.reservation, fleet: r.fleet, profile: r.profile, subnet: r.subnet, vpc: r.network.Name, groups: r.groups,
		eni: "eni-" + tx.Hex(17), volume: "vol-" + tx.Hex(17), token: r.token,
	}
	if r.spot {
		m.spotRequest = "sir-" + tx.Hex(8)
	}
	if r.template != nil {
		m.template, m.templateName = r.template.id, r.template.name
	}
	m.take(r.data)
	s.machines[i.ID] = m
	s.forget(tx)
}

// take keeps of a template what descriptions of the instance say.
func (m *machine) take(d *templateData) {
	if d.MetadataOptions != nil {
		m.metadata = *d.MetadataOptions
	}
	if d.Placement != nil {
		m.placement = *d.Placement
	}
	m.monitoring = d.Monitoring != nil && d.Monitoring.Enabled
}

// forget drops what is kept of instances that are listed no longer, now and then.
func (s *Service) forget(tx *fakecloud.Tx) {
	if len(s.machines) < 2*(tx.Instances.Len()+tx.Ended.Len())+1000 {
		return
	}
	for id := range s.machines {
		if tx.Instances.Get(id) == nil && tx.Ended.Get(id) == nil {
			delete(s.machines, id)
		}
	}
}

// errQuiet is that an instance is not launched and nothing is said of why.
var errQuiet = errors.New("it is not launched")

// strike has faults keep an instance from being launched.
func (s *Service) strike(c *api.Call, o *order) error {
	hit := c.Cloud.Faults().First(cloudfault.Launch, s.asked(c, o))
	if hit == nil {
		return nil
	}
	hit.Effective()
	code, message := hit.Effect.(cloudfault.Launcher).Unlaunched()
	if code == "" {
		return errQuiet
	}
	if message == "" {
		message = api.Message(code)
	}
	return wire.Errorf(code, "%s", message)
}

// asked is what faults are matched with for an order.
func (s *Service) asked(c *api.Call, o *order) cloudfault.Call {
	return cloudfault.Call{
		Operation: c.Operation(), Group: o.tags[s.Cloud.GroupLabel()], Type: o.typeName, Location: o.zone, Subnet: o.subnet,
		Capacity: o.capacity(),
	}
}

// refusal is the cloud's error in EC2's words.
func refusal(err error, o *order) error {
	refused := &fakecloud.Error{}
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case "no_subnet_available":
		return wire.Errorf("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in the subnet '%s' to satisfy the "+
			"requested number of instances.", o.subnet)
	case "resource_unavailable":
		if o.spot {
			return wire.Errorf("InsufficientInstanceCapacity", "There is no Spot capacity available that matches your request.")
		}
		return wire.Errorf("InsufficientInstanceCapacity", "We currently do not have sufficient %s capacity in the Availability Zone you "+
			"requested (%s). Our system will be working on provisioning additional capacity.", o.typeName, o.zone)
	case "reservation_full":
		return wire.Errorf("ReservationCapacityExceeded", "The requested reservation does not have sufficient compatible and available "+
			"capacity for this request.")
	case "invalid_input":
		return wire.Errorf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).",
			o.typeName, o.zone)
	}
	return wire.Errorf("InternalError", "%s", refused.Message)
}
