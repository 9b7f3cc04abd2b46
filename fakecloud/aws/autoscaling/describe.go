package autoscaling

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/fakecloud/aws/ec2/listing"
)

// What DescribeAutoScalingGroups asks and answers.
type (
	describeRequest struct {
		Names      []string `wire:"AutoScalingGroupNames,max=100"`
		Filters    []filter
		MaxRecords *int64 `wire:",min=1,max=100"`
		NextToken  string
	}
	filter struct {
		Name   string `wire:",required"`
		Values []string
	}
	describeAnswer struct {
		Groups    []group `wire:"AutoScalingGroups"`
		NextToken string
	}
	group struct {
		Name                   string `wire:"AutoScalingGroupName"`
		ARN                    string `wire:"AutoScalingGroupARN"`
		LaunchTemplate         *templateSpec
		MinSize                int64
		MaxSize                int64
		DesiredCapacity        int64
		DefaultCooldown        int64
		AvailabilityZones      []string
		HealthCheckType        string
		HealthCheckGracePeriod int64
		Instances              []member
		CreatedTime            time.Time
		VPCZoneIdentifier      string
		Tags                   []tag
		TerminationPolicies    []string
		Protected              bool   `wire:"NewInstancesProtectedFromScaleIn"`
		ServiceLinkedRoleARN   string `wire:"ServiceLinkedRoleARN"`
	}
	member struct {
		InstanceID           string `wire:"InstanceId"`
		InstanceType         string
		AvailabilityZone     string
		LifecycleState       string
		HealthStatus         string
		LaunchTemplate       *templateSpec
		ProtectedFromScaleIn bool
	}
)

var ofGroups = listing.Kind[fakecloud.Group]{
	Tags: func(g *fakecloud.Group) map[string]string { return g.Labels },
	By: map[string]func(*fakecloud.Group) []string{"tag-value": func(g *fakecloud.Group) (values []string) {
		for _, value := range g.Labels {
			values = append(values, value)
		}
		return values
	}},
}

// describe lists groups; names of which there are none are left out, as AWS does.
func (s *Service) describe(c *api.Call, in *describeRequest) (*describeAnswer, error) {
	var all []*fakecloud.Group
	for _, g := range c.Tx.Groups.All() {
		if len(in.Names) == 0 || slices.Contains(in.Names, g.Name) {
			all = append(all, g)
		}
	}
	var filters []listing.Filter
	for _, f := range in.Filters {
		filters = append(filters, listing.Filter{Name: f.Name, Value: f.Values})
	}
	all, err := ofGroups.Filtered(c, all, filters)
	if err != nil {
		return nil, invalid("%v", err)
	}
	some, next, err := page(all, in.MaxRecords, in.NextToken, 50)
	if err != nil {
		return nil, err
	}
	out := &describeAnswer{Groups: []group{}, NextToken: next}
	for _, g := range some {
		out.Groups = append(out.Groups, s.describeGroup(c.Tx, g))
	}
	return out, nil
}

func (s *Service) arn(g *fakecloud.Group) string {
	return fmt.Sprintf("arn:aws:autoscaling:%s:%s:autoScalingGroup:00000000-0000-4000-8000-%012x:autoScalingGroupName/%s", s.Region, s.Account,
		g.ID, g.Name)
}

func (s *Service) describeGroup(tx *fakecloud.Tx, g *fakecloud.Group) group {
	of := s.extraOf(g)
	is := group{
		Name: g.Name, ARN: s.arn(g), MinSize: int64(g.Min), MaxSize: int64(g.Max), DesiredCapacity: int64(g.Target), DefaultCooldown: 300,
		AvailabilityZones: []string{}, HealthCheckType: "EC2", Instances: []member{}, CreatedTime: g.Created,
		VPCZoneIdentifier: strings.Join(of.subnets, ","), Tags: []tag{}, TerminationPolicies: []string{"Default"},
		ServiceLinkedRoleARN: "arn:aws:iam::" + s.Account + ":role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
	}
	if of.from.ID != "" {
		is.LaunchTemplate = &templateSpec{of.from.ID, of.from.Name, of.version}
	}
	for _, p := range g.Places {
		if !slices.Contains(is.AvailabilityZones, p.Location) {
			is.AvailabilityZones = append(is.AvailabilityZones, p.Location)
		}
	}
	for _, t := range listing.Tags(g.Labels) {
		is.Tags = append(is.Tags, tag{t.Key, t.Value, of.propagated[t.Key], g.Name, "auto-scaling-group"})
	}
	for _, i := range tx.Instances.All() {
		if s.of(tx, i) == g {
			is.Instances = append(is.Instances, member{
				InstanceID: i.Name, InstanceType: i.Type, AvailabilityZone: i.Location, LifecycleState: lifecycle(i.State), HealthStatus: health(i),
				LaunchTemplate: is.LaunchTemplate,
			})
		}
	}
	return is
}

// lifecycle is the state of an instance in its group.
func lifecycle(s fakecloud.State) string {
	switch s {
	case fakecloud.Creating, fakecloud.Starting:
		return "Pending"
	case fakecloud.Deleting:
		return "Terminating"
	}
	return "InService"
}

func health(i *fakecloud.Instance) string {
	if i.State == fakecloud.Off || !i.Impaired.IsZero() {
		return "Unhealthy"
	}
	return "Healthy"
}

// What DescribeScalingActivities asks and answers.
type (
	activitiesRequest struct {
		Name        string   `wire:"AutoScalingGroupName"`
		ActivityIDs []string `wire:"ActivityIds"`
		MaxRecords  *int64   `wire:",min=1,max=100"`
		NextToken   string
	}
	activitiesAnswer struct {
		Activities []activity
		NextToken  string
	}
	activity struct {
		ActivityID           string `wire:"ActivityId"`
		AutoScalingGroupName string
		AutoScalingGroupARN  string
		Description          string
		Cause                string
		StartTime            time.Time
		EndTime              time.Time
		StatusCode           string
		StatusMessage        string
		Progress             int64
		Details              string
	}
)

// describeActivities lists the latest first.
func (s *Service) describeActivities(c *api.Call, in *activitiesRequest) (*activitiesAnswer, error) {
	var all []activity
	if in.Name != "" {
		if _, err := s.named(c, in.Name); err != nil {
			return nil, err
		}
	}
	for _, g := range c.Tx.Groups.All() {
		if in.Name != "" && g.Name != in.Name {
			continue
		}
		for _, a := range g.Activities {
			is := s.said(g, a)
			if len(in.ActivityIDs) == 0 || slices.Contains(in.ActivityIDs, is.ActivityID) {
				all = append(all, is)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b activity) int { return strings.Compare(b.ActivityID, a.ActivityID) })
	some, next, err := page(all, in.MaxRecords, in.NextToken, 100)
	if err != nil {
		return nil, err
	}
	return &activitiesAnswer{Activities: append([]activity{}, some...), NextToken: next}, nil
}

// said is an activity in AWS's words.
func (s *Service) said(g *fakecloud.Group, a fakecloud.Activity) activity {
	is := activity{
		ActivityID: fmt.Sprintf("00000000-0000-4000-8000-%012x", a.ID), AutoScalingGroupName: g.Name, AutoScalingGroupARN: s.arn(g),
		StartTime: a.Start, EndTime: a.End, StatusCode: "InProgress", Progress: 50,
		Details: fmt.Sprintf(`{"Availability Zone":%q}`, a.Location),
		Cause: "At " + a.Start.UTC().Format(time.RFC3339) + " an instance was started in response to a difference between desired and actual " +
			"capacity.",
		Description: "Launching a new EC2 instance",
	}
	if a.Deletion {
		is.Cause = "At " + a.Start.UTC().Format(time.RFC3339) + " an instance was taken out of service."
		is.Description = "Terminating EC2 instance"
	}
	if a.Instance != "" {
		is.Description += ": " + a.Instance
	}
	if !a.End.IsZero() {
		is.StatusCode, is.Progress = "Successful", 100
	}
	if f := a.Failure; f != nil {
		is.StatusCode, is.StatusMessage = "Failed", ec2.Refusal(f, a.Struck, g.Type, a.Location)+" Launching EC2 instance failed."
		is.Description += ".  Status Reason: " + is.StatusMessage
	}
	return is
}
