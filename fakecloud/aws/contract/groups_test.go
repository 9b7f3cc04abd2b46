package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	scaling "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

// makeGroup makes a launch template of m5.large and a group of it in two zones.
func makeGroup(t *testing.T, a *account, name string, least, most, desired int32) {
	t.Helper()
	image := *must[*ec2.DescribeImagesOutput](t)(a.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Filters: []types.Filter{filter("name", "*x86_64*")},
	})).Images[0].ImageId
	from := name + "-template"
	must[*ec2.CreateLaunchTemplateOutput](t)(a.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &from, LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: &image, InstanceType: "m5.large"},
	}))
	must[*autoscaling.CreateAutoScalingGroupOutput](t)(a.scaling.CreateAutoScalingGroup(t.Context(), &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: &least, MaxSize: &most, DesiredCapacity: &desired,
		AvailabilityZones: []string{"us-west-2a", "us-west-2b"},
		LaunchTemplate:    &scaling.LaunchTemplateSpecification{LaunchTemplateName: &from, Version: sdk.String("$Latest")},
		Tags: []scaling.Tag{
			{Key: sdk.String("k8s.io/cluster-autoscaler/enabled"), Value: sdk.String("true")},
			{Key: sdk.String("of"), Value: &name, PropagateAtLaunch: sdk.Bool(true)},
		},
	}))
}

func groupNamed(t *testing.T, a *account, name string) scaling.AutoScalingGroup {
	t.Helper()
	out := must[*autoscaling.DescribeAutoScalingGroupsOutput](t)(a.scaling.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{
		AutoScalingGroupNames: []string{name, "another"}, MaxRecords: sdk.Int32(100),
	}))
	if len(out.AutoScalingGroups) != 1 {
		t.Fatalf("%d groups are called %s", len(out.AutoScalingGroups), name)
	}
	return out.AutoScalingGroups[0]
}

// A group is made, grows and shrinks as Cluster Autoscaler has it, and what was done is listed.
func TestGroup(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	makeGroup(t, a, "a", 1, 3, 2)
	g := groupNamed(t, a, "a")
	if *g.MinSize != 1 || *g.MaxSize != 3 || *g.DesiredCapacity != 2 || len(g.Instances) != 2 || *g.LaunchTemplate.LaunchTemplateName != "a-template" ||
		len(g.Tags) != 2 || strings.Join(g.AvailabilityZones, " ") != "us-west-2a us-west-2b" {
		t.Errorf("the group is %+v", g)
	}
	first := g.Instances[0]
	if *first.InstanceType != "m5.large" || first.LifecycleState != scaling.LifecycleStateInService || *first.HealthStatus != "Healthy" ||
		*first.AvailabilityZone == *g.Instances[1].AvailabilityZone {
		t.Errorf("its instances are %+v", g.Instances)
	}
	described := must[*ec2.DescribeInstancesOutput](t)(a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{*first.InstanceId}}))
	of := described.Reservations[0].Instances[0]
	tags := map[string]string{}
	for _, tag := range of.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if *of.SubnetId == "" || *of.PrivateIpAddress == "" || tags["aws:autoscaling:groupName"] != "a" || tags["of"] != "a" || len(tags) != 2 {
		t.Errorf("EC2 says of one %+v", of)
	}
	must[*autoscaling.SetDesiredCapacityOutput](t)(a.scaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: sdk.String("a"), DesiredCapacity: sdk.Int32(3), HonorCooldown: sdk.Bool(false),
	}))
	out := must[*autoscaling.TerminateInstanceInAutoScalingGroupOutput](t)(a.scaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		InstanceId: first.InstanceId, ShouldDecrementDesiredCapacity: sdk.Bool(true),
	}))
	if *out.Activity.Description != "Terminating EC2 instance: "+*first.InstanceId {
		t.Errorf("it was ended as %+v", out.Activity)
	}
	g = groupNamed(t, a, "a")
	if *g.DesiredCapacity != 2 || len(g.Instances) != 2 {
		t.Errorf("the group is %+v then", g)
	}
	done := must[*autoscaling.DescribeScalingActivitiesOutput](t)(a.scaling.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: sdk.String("a"),
	}))
	for k, want := range []string{"Terminating", "Launching", "Launching", "Launching"} {
		if is := done.Activities[k]; !strings.HasPrefix(*is.Description, want) || is.StatusCode != scaling.ScalingActivityStatusCodeSuccessful || is.EndTime == nil {
			t.Errorf("activity %d is %+v", k, is)
		}
	}
	must[*autoscaling.TerminateInstanceInAutoScalingGroupOutput](t)(a.scaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		InstanceId: g.Instances[0].InstanceId, ShouldDecrementDesiredCapacity: sdk.Bool(false),
	}))
	if after := groupNamed(t, a, "a"); *after.DesiredCapacity != 2 || len(after.Instances) != 2 || *after.Instances[0].InstanceId == *g.Instances[0].InstanceId {
		t.Errorf("without decrement the group is %+v", after)
	}
	must[*autoscaling.DeleteAutoScalingGroupOutput](t)(a.scaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{
		AutoScalingGroupName: sdk.String("a"), ForceDelete: sdk.Bool(true),
	}))
}

// A launch that fails is an activity with its reason, in each zone that was tried, and nothing is there of it.
func TestFailedLaunch(t *testing.T) {
	a := start(t)
	if err := a.cloud.Inject(fault.Fault{Name: "none", Effect: cloudfault.Unavailable{Type: "m5.large"}}); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Millisecond)
	makeGroup(t, a, "a", 0, 3, 1)
	if g := groupNamed(t, a, "a"); *g.DesiredCapacity != 1 || len(g.Instances) != 0 {
		t.Errorf("the group is %+v", g)
	}
	p := autoscaling.NewDescribeScalingActivitiesPaginator(a.scaling, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: sdk.String("a"), MaxRecords: sdk.Int32(1),
	})
	for _, zone := range []string{"us-west-2b", "us-west-2a"} {
		out := must[*autoscaling.DescribeScalingActivitiesOutput](t)(p.NextPage(t.Context()))
		is := out.Activities[0]
		if is.StatusCode != scaling.ScalingActivityStatusCodeFailed || !strings.Contains(*is.StatusMessage, "We currently do not have sufficient m5.large "+
			"capacity in the Availability Zone you requested ("+zone+")") || is.StartTime.Before(before) || is.StartTime.Nanosecond() == 0 {
			t.Errorf("the activity is %+v", is)
		}
	}
	if p.HasMorePages() {
		t.Error("there are more activities")
	}
}

// Groups are found by their tags, page by page.
func TestGroupPages(t *testing.T) {
	a := start(t)
	for k := range 5 {
		makeGroup(t, a, fmt.Sprintf("group-%d", k), 0, 1, 0)
	}
	for name, f := range map[string]struct {
		filter scaling.Filter
		want   int
	}{
		"a key":         {scaling.Filter{Name: sdk.String("tag-key"), Values: []string{"k8s.io/cluster-autoscaler/enabled"}}, 5},
		"a value":       {scaling.Filter{Name: sdk.String("tag:of"), Values: []string{"group-1", "group-2"}}, 2},
		"another's key": {scaling.Filter{Name: sdk.String("tag-key"), Values: []string{"none"}}, 0},
	} {
		found, pages := 0, 0
		for p := autoscaling.NewDescribeAutoScalingGroupsPaginator(a.scaling, &autoscaling.DescribeAutoScalingGroupsInput{
			Filters: []scaling.Filter{f.filter}, MaxRecords: sdk.Int32(2),
		}); p.HasMorePages(); pages++ {
			found += len(must[*autoscaling.DescribeAutoScalingGroupsOutput](t)(p.NextPage(t.Context())).AutoScalingGroups)
		}
		if found != f.want || pages != max(1, (f.want+1)/2) {
			t.Errorf("%s finds %d groups on %d pages", name, found, pages)
		}
	}
}

// What Auto Scaling refuses.
func TestGroupErrors(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	makeGroup(t, a, "a", 1, 2, 1)
	set := func(name string, to int32) error {
		_, err := a.scaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &name, DesiredCapacity: &to})
		return err
	}
	end := func(id string) error {
		_, err := a.scaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &id, ShouldDecrementDesiredCapacity: sdk.Bool(true),
		})
		return err
	}
	_, twice := a.scaling.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: sdk.String("a"), MinSize: sdk.Int32(0), MaxSize: sdk.Int32(1), AvailabilityZones: []string{"us-west-2a"},
		LaunchTemplate: &scaling.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("a-template")},
	})
	_, inUse := a.scaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: sdk.String("a")})
	_, noFilter := a.scaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		Filters: []scaling.Filter{{Name: sdk.String("colour"), Values: []string{"blue"}}},
	})
	_, noPage := a.scaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{NextToken: sdk.String("none")})
	_, noNodegroup := a.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: sdk.String("c1"), NodegroupName: sdk.String("none")})
	for k, of := range []struct {
		err        error
		code, text string
	}{
		{set("a", 0), "ValidationError", "New SetDesiredCapacity value 0 is below min value 1"},
		{set("a", 3), "ValidationError", "New SetDesiredCapacity value 3 is above max value 2"},
		{set("none", 1), "ValidationError", "not found"},
		{end("i-0123456789abcdef0"), "ValidationError", "No managed instance found"},
		{end(*groupNamed(t, a, "a").Instances[0].InstanceId), "ValidationError", "desiredSize equals minSize (1)"},
		{twice, "AlreadyExists", ""}, {inUse, "ResourceInUse", ""}, {noFilter, "ValidationError", "colour"}, {noPage, "InvalidNextToken", ""},
		{noNodegroup, "ResourceNotFoundException", ""},
	} {
		if of.err == nil || code(of.err) != of.code || !strings.Contains(of.err.Error(), of.text) {
			t.Errorf("%d: %v, want %s", k, of.err, of.code)
		}
	}
}

// What Cluster Autoscaler asks to know the type of a group that is empty.
func TestTemplateOfGroup(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	makeGroup(t, a, "a", 0, 1, 0)
	out := must[*ec2.DescribeLaunchTemplateVersionsOutput](t)(a.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateName: sdk.String("a-template"), Versions: []string{"$Latest"},
	}))
	data := out.LaunchTemplateVersions[0].LaunchTemplateData
	if len(out.LaunchTemplateVersions) != 1 || data.InstanceType != "m5.large" || *data.ImageId == "" {
		t.Errorf("the template has %+v", out.LaunchTemplateVersions)
	}
	if _, err := a.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateName: sdk.String("a-template"), Versions: []string{"2"},
	}); code(err) != "InvalidLaunchTemplateId.VersionNotFound" {
		t.Errorf("of another version: %v", err)
	}
	fits := must[*ec2.GetInstanceTypesFromInstanceRequirementsOutput](t)(a.ec2.GetInstanceTypesFromInstanceRequirements(ctx, &ec2.GetInstanceTypesFromInstanceRequirementsInput{
		ArchitectureTypes: []types.ArchitectureType{"x86_64"}, VirtualizationTypes: []types.VirtualizationType{"hvm"},
		InstanceRequirements: &types.InstanceRequirementsRequest{
			VCpuCount: &types.VCpuCountRangeRequest{Min: sdk.Int32(2), Max: sdk.Int32(2)},
			MemoryMiB: &types.MemoryMiBRequest{Min: sdk.Int32(8192), Max: sdk.Int32(8192)},
		},
	}))
	names := map[string]bool{}
	for _, is := range fits.InstanceTypes {
		names[*is.InstanceType] = true
	}
	if !names["m5.large"] || names["m6g.large"] || names["c5.large"] {
		t.Errorf("2 processors and 8 GiB have %v", names)
	}
	if none := must[*autoscaling.DescribeLaunchConfigurationsOutput](t)(a.scaling.DescribeLaunchConfigurations(ctx, &autoscaling.DescribeLaunchConfigurationsInput{
		LaunchConfigurationNames: []string{"a"}, MaxRecords: sdk.Int32(50),
	})); len(none.LaunchConfigurations) != 0 {
		t.Errorf("there are launch configurations: %+v", none)
	}
}

// A managed node group has the labels and taints that its nodes come with.
func TestNodegroup(t *testing.T) {
	a := start(t)
	makeGroup(t, a, "eks-a-1", 0, 2, 1)
	if err := a.server.Manage("eks-a-1", "a", map[string]string{"pool": "a"}, []string{"only=a:NoSchedule", "other:NoExecute"}); err != nil {
		t.Fatal(err)
	}
	is := must[*eks.DescribeNodegroupOutput](t)(a.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{
		ClusterName: sdk.String("c1"), NodegroupName: sdk.String("a"),
	})).Nodegroup
	if is.Labels["pool"] != "a" || len(is.Taints) != 2 || *is.Taints[0].Key != "only" || *is.Taints[0].Value != "a" ||
		is.Taints[0].Effect != "NO_SCHEDULE" || is.Taints[1].Effect != "NO_EXECUTE" || *is.Resources.AutoScalingGroups[0].Name != "eks-a-1" ||
		*is.ScalingConfig.MaxSize != 2 || *is.Version != "1.34" {
		t.Errorf("the node group is %+v", *is)
	}
	tags := map[string]string{}
	for _, tag := range groupNamed(t, a, "eks-a-1").Tags {
		tags[*tag.Key] = *tag.Value
	}
	if tags["eks:cluster-name"] != "c1" || tags["eks:nodegroup-name"] != "a" || tags["of"] != "eks-a-1" {
		t.Errorf("its group has the tags %v", tags)
	}
}
