// Package aws serves a fakecloud.Cloud on AWS's own wire API, as far as Karpenter for AWS and the cloud controller manager of AWS
// call it, and Cluster Autoscaler: EC2, Auto Scaling, IAM, SSM, SQS, EKS, the price list, STS and ARC zonal shift, in one handler for
// all hosts of a region.
//
//	wire      protocols and signatures           api   a call: faults, transaction, history
//	offer     instance types, prices, images     ec2   EC2's operations
//	                                             autoscaling   Auto Scaling's
//
// It decides nothing that other clouds have as well: instances, subnets and supply are fakecloud's. Launch templates, instance
// profiles, parameters and queues are AWS's alone, and kept here, in memory.
//
// What AWS does beyond its documentation cannot be known here: in what order it finds errors, their very texts, how long it
// takes. Where that matters, the code says what is assumed.
package aws

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/autoscaling"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

// Region is the one that is served where nothing else is said.
const Region = "us-west-2"

// pricingRegion is that of the price list for most regions.
const pricingRegion = "us-east-1"

// Latency is in the order of the fastest answers that users see. AWS documents none. It must not be zero where a client of AWS's own
// calls: smithy-go's request bodies return io.EOF where Go's client looks whether anything is left of them after an answer is there,
// and the client closes the connection then. Half of the answers of more than a few kilobytes are lost by it, of any server that
// answers within some ten microseconds.
const Latency = 20 * time.Millisecond

// Config says what a Server works with. Cloud, Keys and Account are required.
type Config struct {
	// Cloud is what it serves. Its catalogue is Catalogue's, see Settings.
	Cloud *fakecloud.Cloud
	// Region is that of the cloud's zones. Empty means us-west-2.
	Region string
	// Account is the number of whom all belongs to, of 12 digits.
	Account string
	// Keys are the secrets of access keys, by the keys' IDs.
	Keys map[string]string
	// Cluster is what EKS says of the only cluster.
	Cluster Cluster
	// Queue is the name of the queue of interruptions. Empty: there is none.
	Queue string
	// Latency is how long an answer takes at least, on the cloud's clock: Latency, or zero for a clock that is moved by hand.
	Latency time.Duration
	// Roles are the names of the roles that nodes can have. Nil means KarpenterNodeRole-CLUSTER.
	Roles []string
	// Profiles are the instance profiles that are there at the start, with roles that are there.
	Profiles []Profile
	// Parameters are those of SSM by their names, beside AWS's public ones.
	Parameters map[string]string
}

// Profile is an instance profile of IAM's. Path begins and ends with a slash; Role may be empty.
type Profile struct {
	Name, Path, Role string
	Tags             map[string]string
}

// Cluster is one of EKS.
type Cluster struct {
	Name, Endpoint string
	// CABundle is its authority's certificate as PEM, in base64.
	CABundle string
	// ServiceCIDR is the range of its Services, Version that of Kubernetes as in "1.34".
	ServiceCIDR, Version string
}

// Server serves the API. It is an http.Handler; its methods are safe for concurrent use.
type Server struct {
	*api.Handler
	ec2      *ec2.Service
	scaling  *autoscaling.Service
	profiles *profiles
	queue    *queue
	shifts   *shifts
	cluster  string
}

var accountNumber = regexp.MustCompile(`^[0-9]{12}$`)

// New returns a Server. The account has a VPC with a subnet in each zone, a security group, a role for nodes and AWS's images.
func New(cfg Config) (*Server, error) {
	if cfg.Region == "" {
		cfg.Region = Region
	}
	if cfg.Roles == nil {
		cfg.Roles = []string{"KarpenterNodeRole-" + cfg.Cluster.Name}
	}
	switch {
	case cfg.Cloud == nil || len(cfg.Keys) == 0:
		return nil, errors.New("aws: Config wants a Cloud and Keys")
	case !accountNumber.MatchString(cfg.Account):
		return nil, fmt.Errorf("aws: account %q: want 12 digits", cfg.Account)
	case !slices.ContainsFunc(cfg.Cloud.Catalogue().Locations, cfg.isIn):
		return nil, fmt.Errorf("aws: the cloud has no zone of %s: want one with the catalogue of that region", cfg.Region)
	}
	s := &Server{profiles: newProfiles(cfg), queue: newQueue(cfg), cluster: cfg.Cluster.Name}
	s.shifts = &shifts{cloud: cfg.Cloud, resource: cfg.clusterARN(), name: cfg.Cluster.Name}
	s.ec2 = ec2.New(ec2.Config{
		Cloud: cfg.Cloud, Region: cfg.Region, Account: cfg.Account, Cluster: cfg.Cluster.Name, Version: cfg.Cluster.Version,
		HasProfile: s.profiles.has,
	})
	s.scaling = autoscaling.New(autoscaling.Config{Cloud: cfg.Cloud, Region: cfg.Region, Account: cfg.Account, EC2: s.ec2})
	s.Handler = api.New(api.Config{
		Cloud: cfg.Cloud, Keys: cfg.Keys, Services: s.services(cfg), Latency: cfg.Latency,
	})
	return s, nil
}

// isIn reports whether a zone is one of the account's region.
func (cfg Config) isIn(l fakecloud.Location) bool { return strings.HasPrefix(l.Name, cfg.Region) }

// services are all that are served, EC2 first.
func (s *Server) services(cfg Config) []api.Service {
	all := []api.Service{
		{
			Name: "ec2", Protocol: wire.EC2Query, Version: "2016-11-15", Namespace: "http://ec2.amazonaws.com/doc/2016-11-15/",
			Region: cfg.Region, Operations: append(s.ec2.Operations(), placementGroups(), s.topology()),
		},
		{
			Name: "autoscaling", Protocol: wire.AWSQuery, Version: autoscaling.Version, Namespace: autoscaling.Namespace, Region: cfg.Region,
			Operations: s.scaling.Operations(),
		},
		{
			Name: "iam", Protocol: wire.AWSQuery, Version: "2010-05-08", Namespace: "https://iam.amazonaws.com/doc/2010-05-08/",
			Region: pricingRegion, Operations: s.profiles.operations(),
		},
		{
			Name: "sts", Protocol: wire.AWSQuery, Version: "2011-06-15", Namespace: "https://sts.amazonaws.com/doc/2011-06-15/",
			Region: cfg.Region, Operations: callers(cfg),
		},
		{Name: "ssm", Protocol: wire.JSON11, Target: "AmazonSSM", Region: cfg.Region, Operations: parameters(cfg)},
		{Name: "sqs", Protocol: wire.JSON10, Target: "AmazonSQS", Region: cfg.Region, Operations: s.queue.operations()},
		{Name: "eks", Protocol: wire.RESTJSON, Region: cfg.Region, Operations: clusters(cfg)},
		{Name: "pricing", Protocol: wire.JSON11, Target: "AWSPriceListService", Region: pricingRegion, Operations: prices(cfg)},
		{Name: "arc-zonal-shift", Protocol: wire.RESTJSON, Region: cfg.Region, Operations: s.shifts.operations()},
	}
	for k := range all {
		all[k].Hosts = hosts(all[k].Name, cfg.Region)
	}
	return all
}

// hosts are those of a service in a region.
func hosts(service, region string) []string {
	switch service {
	case "iam":
		return []string{"iam.amazonaws.com"}
	case "pricing":
		return []string{"api.pricing." + pricingRegion + ".amazonaws.com"}
	}
	return []string{service + "." + region + ".amazonaws.com"}
}

// Hosts are the names of all that are served in a region.
func Hosts(region string) (all []string) {
	for _, service := range []string{"ec2", "autoscaling", "iam", "sts", "ssm", "sqs", "eks", "pricing", "arc-zonal-shift"} {
		all = append(all, hosts(service, region)...)
	}
	return all
}

// AddSubnet has the VPC have one more subnet in a zone, which is called name by its tag, with so many free addresses.
func (s *Server) AddSubnet(name, zone string, free int) error {
	return s.ec2.AddSubnet(name, zone, free)
}

// LeaveFree has the subnet that is called name by its tag have so many free addresses.
func (s *Server) LeaveFree(name string, free int) error { return s.ec2.LeaveFree(name, free) }

// AddReservation reserves capacity for so many instances of a type in a zone, and calls that name by its tag. Targeted is that only
// instances that name it fill it.
func (s *Server) AddReservation(name, typeName, zone string, count int, targeted bool) error {
	return s.ec2.AddReservation(name, typeName, zone, count, targeted)
}

// EndReservation has the capacity reservation that is called name by its tag end after a time.
func (s *Server) EndReservation(name string, after time.Duration) error {
	return s.ec2.EndReservation(name, after)
}

// Close ends the count of strangers.
func (s *Server) Close() error { return s.UnsignedCalls().Close() }

// Catalogue is what is offered in us-west-2.
func Catalogue() *fakecloud.Catalogue { return offer.Catalogue(Region) }

// keepsEnded is how long terminated instances are listed ("Amazon EC2 User Guide, Terminate Amazon EC2 instances": "for a short
// while, typically less than an hour").
const keepsEnded = 55 * time.Minute

// Settings are what a cloud of AWS has in its configuration; clock, seed and recorder are missing. The durations are in the order of
// what users see: an instance is pending for some seconds, and shutting down for about half a minute.
func Settings() fakecloud.Config {
	return fakecloud.Config{
		Catalogue: Catalogue(), GroupLabel: "karpenter.sh/nodepool", CheckFault: CheckFault, Keeps: keepsEnded,
		KeptLabel: autoscaling.GroupTag, InstanceName: func(tx *fakecloud.Tx) string { return "i-" + tx.Hex(17) },
		Durations: map[string]time.Duration{
			"create_server": time.Second, "start_server": 4 * time.Second, "attach_to_network": 0, "delete_server": 30 * time.Second,
		},
	}
}

// all are the operations of a server that serves nothing, for their names.
func all() (ops []api.Operation) {
	s := &Server{profiles: &profiles{}, queue: &queue{}, shifts: &shifts{}, ec2: &ec2.Service{}, scaling: &autoscaling.Service{}}
	for _, service := range s.services(Config{}) {
		ops = append(ops, service.Operations...)
	}
	return ops
}

// Calls are the names of all calls, as the history has them.
func Calls() (names []string) {
	for _, op := range all() {
		names = append(names, op.Name)
	}
	return names
}

// Operations are what faults match: all calls, and the commands of actions.
func Operations() []string { return append(Calls(), "create_server", "start_server", "delete_server") }

// CheckFault finds what is wrong with a fault of this API.
func CheckFault(f fault.Fault) error { return cloudfault.Check(f, Operations()) }

// lastOf is what comes after the last slash.
func lastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
