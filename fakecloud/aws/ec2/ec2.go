// Package ec2 has EC2's operations, as far as Karpenter calls them, on a fakecloud.Cloud. What EC2 alone has (launch templates, what an
// instance was launched from, reservations) is kept here, in memory; instances, subnets and supply are the cloud's.
//
// Its errors have the codes of "Error codes for the Amazon EC2 API". Their texts, and which of several errors is found first, cannot be
// known outside of AWS: here they are found in the order of the parameters' documentation.
package ec2

import (
	"net/netip"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/fakecloud/aws/wire"
)

// Config says whose EC2 it is.
type Config struct {
	Cloud *fakecloud.Cloud
	// Region and Account are where it is, and whose. Cluster is the name in the tags of the default network, Version that of
	// Kubernetes in the names of images.
	Region, Account, Cluster, Version string
	// HasProfile is the ARN of an instance profile, or empty. It is called within the cloud's Update.
	HasProfile func(name string) (arn string)
}

// Service is EC2. It is used within the cloud's Update only.
type Service struct {
	Config
	templates []*template // by their age
	machines  map[int64]*machine
	types     map[string]*fakecloud.ServerType
	offered   []kinds.Info
	answers   api.Answers
}

// New returns EC2. The account gets a VPC with a subnet in each zone and a security group, tagged for Karpenter to discover, unless
// there is a VPC already.
func New(cfg Config) *Service {
	s := &Service{Config: cfg, machines: map[int64]*machine{}, types: map[string]*fakecloud.ServerType{}}
	catalogue := cfg.Cloud.Catalogue()
	for k := range catalogue.ServerTypes {
		t := &catalogue.ServerTypes[k]
		s.types[t.Name] = t
	}
	_ = cfg.Cloud.Update(func(tx *fakecloud.Tx) error { // it returns no error
		if tx.Networks.Len() == 0 {
			s.addNetwork(tx)
		}
		return nil
	})
	return s
}

// vpcRange is that of the default VPC. Each zone has a subnet of 8,192 addresses in it.
var vpcRange = netip.MustParsePrefix("10.0.0.0/16")

// discovery is the tag by which Karpenter's own guide has NodeClasses find subnets and security groups.
const discovery = "karpenter.sh/discovery"

func (s *Service) addNetwork(tx *fakecloud.Tx) {
	n := fakecloud.Network{Meta: tx.NewMeta("vpc-"+tx.Hex(17), map[string]string{"Name": s.Cluster}), Range: vpcRange}
	for k := range offer.Zones {
		zone := s.Region + offer.Zones[k:k+1]
		n.Subnets = append(n.Subnets, s.newSubnet(tx, k, s.Cluster+"-"+zone, zone))
	}
	tx.Networks.Put(n)
	tx.Firewalls.Put(fakecloud.Firewall{Meta: tx.NewMeta("sg-"+tx.Hex(17), map[string]string{
		"Name": s.Cluster + "-nodes", discovery: s.Cluster,
	})})
}

// reservedIPs are those at the beginning of a subnet that AWS keeps; it keeps the last one, too ("Subnet sizing": five addresses).
const reservedIPs = 4

// Operations are all that there are.
func (s *Service) Operations() []api.Operation {
	return []api.Operation{
		api.Does("DescribeInstanceTypes", s.describeTypes),
		api.Does("DescribeInstanceTypeOfferings", s.describeOfferings),
		api.Does("DescribeSpotPriceHistory", s.describeSpotPrices),
		api.Does("DescribeAvailabilityZones", s.describeZones),
		api.Does("DescribeSubnets", s.describeSubnets),
		api.Does("DescribeSecurityGroups", s.describeGroups),
		api.Does("DescribeImages", s.describeImages),
		api.Does("DescribeLaunchTemplates", s.describeTemplates),
		api.Does("CreateLaunchTemplate", s.createTemplate),
		api.Does("DeleteLaunchTemplate", s.deleteTemplate),
		api.Does("DescribeLaunchTemplateVersions", s.describeVersions),
		api.Does("GetInstanceTypesFromInstanceRequirements", s.typesFor),
		api.With(api.Does("CreateFleet", s.createFleet), s.aboutFleet),
		api.With(api.Does("RunInstances", s.runInstances), s.aboutRun),
		api.With(api.Does("DescribeInstances", s.describeInstances), instancesSubject),
		api.With(api.Does("DescribeInstanceStatus", s.describeStatus), statusSubject),
		api.With(api.Does("TerminateInstances", s.terminate), terminationSubject),
		api.With(api.Does("CreateTags", s.createTags), tagsSubject),
		api.With(api.Does("DeleteTags", s.deleteTags), tagsSubject),
		api.Does("DescribeCapacityReservations", s.describeReservations),
	}
}

// dryRun is the answer to a call that would have succeeded and is not to be carried out.
func dryRun(is bool) error {
	if !is {
		return nil
	}
	return wire.Errorf(wire.DryRun, "Request would have succeeded, but DryRun flag is set.")
}

// done is the answer of operations that have nothing to say.
type done struct {
	Return bool
}

// malformed is the error of an ID that none of its kind is like, and missing that of one which is not there. They are EC2's for
// resources of a kind, as in InvalidSubnetID.
func malformed(kind, id string) error {
	return wire.Errorf("Invalid"+kind+".Malformed", "Invalid id: %.80q", id)
}

func missing(kind, what, id string) error {
	return wire.Errorf("Invalid"+kind+".NotFound", "The %s '%.80s' does not exist", what, id)
}
