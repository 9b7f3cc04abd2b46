// Package autoscaling has the operations of Amazon EC2 Auto Scaling, as far as Cluster Autoscaler calls them, and those that make and
// remove groups, on a fakecloud.Cloud. Groups, what they owe and what was done for them are the cloud's. What only Auto Scaling has of a
// group (its template, its subnets, which tags its instances get) is kept here, in memory.
//
// Its errors have the codes of "Common Error Types" and of the operations' own pages. Their texts, and in which order errors are found,
// cannot be known outside of AWS. Not modelled: cooldowns, health checks of load balancers, lifecycle hooks, suspended processes (as if
// AZRebalance were suspended), warm pools, mixed instances.
package autoscaling

import (
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
	"nodestorm/fakecloud/cloudfault"
)

// Version and Namespace are those of its protocol.
const (
	Version   = "2011-01-01"
	Namespace = "http://autoscaling.amazonaws.com/doc/2011-01-01/"
)

// GroupTag is the tag by which its instances say of which group they are.
const GroupTag = "aws:autoscaling:groupName"

// retry is how long after a failure launches are tried again. AWS does not say; users see a minute or more.
const retry = time.Minute

// Config says whose Auto Scaling it is.
type Config struct {
	Cloud           *fakecloud.Cloud
	Region, Account string
	EC2             *ec2.Service
}

// Service is Auto Scaling. It is used within the cloud's Update only.
type Service struct {
	Config
	groups map[int64]*extra
}

// extra is what only Auto Scaling has of a group.
type extra struct {
	from    ec2.Template
	version string
	subnets []string
	// propagated are the keys of the tags that its instances get.
	propagated map[string]bool
}

// New returns Auto Scaling.
func New(cfg Config) *Service {
	s := &Service{Config: cfg, groups: map[int64]*extra{}}
	cfg.Cloud.OnInstanceEvent(func(tx *fakecloud.Tx, verb string, i *fakecloud.Instance) {
		if g := s.of(tx, i); g != nil && verb == "created" {
			s.EC2.Adopt(tx, i, s.extraOf(g).from)
		}
	})
	return s
}

// of is the group of an instance, or nil.
func (s *Service) of(tx *fakecloud.Tx, i *fakecloud.Instance) *fakecloud.Group {
	return tx.Groups.Named(i.Labels[GroupTag])
}

// extraOf is never nil: of a cloud that was restored nothing is known.
func (s *Service) extraOf(g *fakecloud.Group) *extra {
	if of := s.groups[g.ID]; of != nil {
		return of
	}
	return &extra{}
}

// Operations are all that there are.
func (s *Service) Operations() []api.Operation {
	return []api.Operation{
		api.With(api.Does("CreateAutoScalingGroup", s.create), func(_ *api.Call, in *createRequest) api.Subject {
			return about(in.Name, in.DesiredCapacity)
		}),
		api.With(api.Does("DeleteAutoScalingGroup", s.remove), func(_ *api.Call, in *removeRequest) api.Subject { return about(in.Name, nil) }),
		api.Does("DescribeAutoScalingGroups", s.describe),
		api.With(api.Does("DescribeScalingActivities", s.describeActivities), func(_ *api.Call, in *activitiesRequest) api.Subject {
			return about(in.Name, nil)
		}),
		api.With(api.Does("SetDesiredCapacity", s.setDesired), func(_ *api.Call, in *desiredRequest) api.Subject {
			return about(in.Name, in.DesiredCapacity)
		}),
		api.With(api.Does("TerminateInstanceInAutoScalingGroup", s.terminate), func(_ *api.Call, in *terminateRequest) api.Subject {
			return api.Subject{Instances: []string{in.InstanceID}}
		}),
		api.Does("DescribeLaunchConfigurations", s.describeConfigurations),
	}
}

// about is a call about a group, which is to have so many instances.
func about(group string, to *int64) api.Subject {
	is := api.Subject{Matches: []cloudfault.Call{{Group: group}}}
	if to != nil {
		is.Wants = map[string]any{"to": int(*to)}
	}
	return is
}

// invalid is the error about a request that cannot be carried out.
func invalid(format string, args ...any) error {
	return wire.Errorf("ValidationError", format, args...)
}

// named is the group of that name.
func (s *Service) named(c *api.Call, name string) (*fakecloud.Group, error) {
	if g := c.Tx.Groups.Named(name); g != nil {
		return g, nil
	}
	return nil, invalid("AutoScalingGroup name not found - AutoScalingGroup %.80s not found", name)
}

// What CreateAutoScalingGroup asks.
type (
	templateSpec struct {
		ID      string `wire:"LaunchTemplateId"`
		Name    string `wire:"LaunchTemplateName"`
		Version string
	}
	tag struct {
		Key               string `wire:",required,max=128"`
		Value             string `wire:",max=256"`
		PropagateAtLaunch bool
		ResourceID        string `wire:"ResourceId"`
		ResourceType      string `wire:",enum=auto-scaling-group"`
	}
	createRequest struct {
		Name            string        `wire:"AutoScalingGroupName,required,max=255"`
		LaunchTemplate  *templateSpec `wire:",required"`
		MinSize         *int64        `wire:",required,min=0"`
		MaxSize         *int64        `wire:",required,min=0"`
		DesiredCapacity *int64        `wire:",min=0"`
		Zones           []string      `wire:"AvailabilityZones"`
		Subnets         string        `wire:"VPCZoneIdentifier,max=5000"`
		Tags            []tag         `wire:",max=50"`
	}
	nothing struct{}
)

func (s *Service) create(c *api.Call, in *createRequest) (*nothing, error) {
	least, most, desired := int(*in.MinSize), int(*in.MaxSize), int(*in.MinSize)
	if in.DesiredCapacity != nil {
		desired = int(*in.DesiredCapacity)
	}
	subnets := strings.FieldsFunc(in.Subnets, func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case c.Tx.Groups.Named(in.Name) != nil:
		return nil, wire.Errorf("AlreadyExists", "AutoScalingGroup by this name already exists - A group with the name %s already exists",
			in.Name)
	case least > most:
		return nil, invalid("Max bound, %d, must be greater than or equal to min bound, %d", most, least)
	case desired < least || desired > most:
		return nil, invalid("Desired capacity:%d must be between the specified min size:%d and max size:%d", desired, least, most)
	case len(subnets) == 0 && len(in.Zones) == 0:
		return nil, invalid("At least one Availability Zone or VPC Subnet is required.")
	case len(subnets) > 0 && len(in.Zones) > 0:
		c.ReportUnserved("the cloud does not know groups with both zones and subnets")
		return nil, invalid("Zones and subnets are both given")
	}
	t := in.LaunchTemplate
	g, from, err := s.EC2.ForGroup(c.Tx, t.ID, t.Name, t.Version, subnets, in.Zones)
	if err != nil {
		return nil, invalid("You must use a valid fully-formed launch template. %v", err)
	}
	of := &extra{from: from, version: t.Version, subnets: subnets, propagated: map[string]bool{}}
	g.Name, g.Labels, g.Min, g.Max, g.Retry = in.Name, map[string]string{}, least, most, retry
	for _, t := range in.Tags {
		g.Labels[t.Key] = t.Value
		if t.PropagateAtLaunch {
			of.propagated[t.Key] = true
			g.InstanceLabels[t.Key] = t.Value
		}
	}
	made, err := c.Tx.CreateGroup(g)
	if err != nil {
		return nil, invalid("%v", err)
	}
	s.groups[made.ID] = of
	c.Tx.SetTarget(made.ID, desired)
	return &nothing{}, nil
}

// What DeleteAutoScalingGroup asks.
type removeRequest struct {
	Name        string `wire:"AutoScalingGroupName,required"`
	ForceDelete bool
}

// remove takes a group away at once. AWS does so when its instances are gone.
func (s *Service) remove(c *api.Call, in *removeRequest) (*nothing, error) {
	g, err := s.named(c, in.Name)
	if err != nil {
		return nil, err
	}
	if len(c.Tx.Membership(g)) > 0 && !in.ForceDelete {
		return nil, wire.Errorf("ResourceInUse", "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance "+
			"request(s) still in the group.")
	}
	c.Tx.SetTarget(g.ID, 0)
	c.Tx.RemoveGroup(g.ID)
	delete(s.groups, g.ID)
	return &nothing{}, nil
}

// What SetDesiredCapacity asks.
type desiredRequest struct {
	Name            string `wire:"AutoScalingGroupName,required"`
	DesiredCapacity *int64 `wire:",required,min=0"`
	HonorCooldown   bool
}

func (s *Service) setDesired(c *api.Call, in *desiredRequest) (*nothing, error) {
	g, err := s.named(c, in.Name)
	if err != nil {
		return nil, err
	}
	switch to := int(*in.DesiredCapacity); {
	// mutant: a group may be smaller than its least size
	case to < g.Min:
		return nil, invalid("New SetDesiredCapacity value %d is below min value %d for the AutoScalingGroup.", to, g.Min)
	case to > g.Max:
		return nil, invalid("New SetDesiredCapacity value %d is above max value %d for the AutoScalingGroup.", to, g.Max)
	case in.HonorCooldown:
		c.ReportUnserved("the cloud does not know cooldowns of groups")
	}
	c.Tx.SetTarget(g.ID, int(*in.DesiredCapacity))
	return &nothing{}, nil
}

// What TerminateInstanceInAutoScalingGroup asks and answers.
type (
	terminateRequest struct {
		InstanceID string `wire:"InstanceId,required"`
		Decrement  *bool  `wire:"ShouldDecrementDesiredCapacity,required"`
	}
	terminateAnswer struct {
		Activity activity
	}
)

func (s *Service) terminate(c *api.Call, in *terminateRequest) (*terminateAnswer, error) {
	i := c.Tx.Instances.Named(in.InstanceID)
	if i == nil || s.of(c.Tx, i) == nil {
		return nil, invalid("Instance Id not found - No managed instance found for instance ID: %.40s", in.InstanceID)
	}
	g := s.of(c.Tx, i)
	switch {
	case *in.Decrement && i.State != fakecloud.Deleting && g.Target <= g.Min:
		return nil, invalid("Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's min size "+
			"constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", g.Min)
	case *in.Decrement:
		if err := c.Tx.DeleteMembers(g.ID, i.ID); err != nil {
			return nil, wire.Errorf("InternalFailure", "%v", err)
		}
	case i.State != fakecloud.Deleting:
		c.Tx.Discard(i)
	}
	g = c.Tx.Groups.Get(g.ID)
	k := slices.IndexFunc(g.Activities, func(a fakecloud.Activity) bool { return a.Instance == i.Name && a.Deletion })
	if k < 0 { // what faults have done
		return &terminateAnswer{s.said(g, fakecloud.Activity{ID: g.ID, Start: c.Tx.Now(), Instance: i.Name, Deletion: true})}, nil
	}
	return &terminateAnswer{s.said(g, g.Activities[k])}, nil
}

// What DescribeLaunchConfigurations asks, and that there are none: AWS has no new ones since 2024 ("Launch configurations": accounts
// that were made since October 2024 can create none).
type (
	configurationsRequest struct {
		Names      []string `wire:"LaunchConfigurationNames,max=50"`
		MaxRecords *int64   `wire:",min=1,max=100"`
		NextToken  string
	}
	configurationsAnswer struct {
		Configurations []nothing `wire:"LaunchConfigurations"`
	}
)

func (s *Service) describeConfigurations(*api.Call, *configurationsRequest) (*configurationsAnswer, error) {
	return &configurationsAnswer{Configurations: []nothing{}}, nil
}

// page is the page of a listing that is asked for.
func page[T any](all []T, most *int64, token string, size int) ([]T, string, error) {
	some, next, err := listing.Page(all, most, token, size)
	if err != nil {
		return nil, "", wire.Errorf("InvalidNextToken", "The token '%.80s' is invalid", token)
	}
	return some, next, nil
}
