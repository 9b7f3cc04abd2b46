package contract

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: &name, Values: values}
}

// discovered is what Karpenter's own guide has NodeClasses find.
var discovered = []types.Filter{filter("tag:karpenter.sh/discovery", "c1")}

// fleet is what a fleet of Karpenter's asks for, of types in the subnets of all zones.
func fleet(t *testing.T, a *account, name string, capacity types.DefaultTargetCapacityType, typeNames ...types.InstanceType) *ec2.CreateFleetInput {
	t.Helper()
	subnets := must[*ec2.DescribeSubnetsOutput](t)(a.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: discovered}))
	var overrides []types.FleetLaunchTemplateOverridesRequest
	for _, typeName := range typeNames {
		for _, s := range subnets.Subnets {
			overrides = append(overrides, types.FleetLaunchTemplateOverridesRequest{
				InstanceType: typeName, SubnetId: s.SubnetId, AvailabilityZone: s.AvailabilityZone, Priority: sdk.Float64(0.1),
			})
		}
	}
	tags := []types.Tag{{Key: sdk.String("karpenter.sh/nodepool"), Value: sdk.String("default")}}
	return &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: capacity, TotalTargetCapacity: sdk.Int32(1),
		},
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &name, Version: sdk.String("$Latest")},
			Overrides:                   overrides,
		}},
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: tags}, {ResourceType: types.ResourceTypeFleet, Tags: tags}},
	}
}

// template makes a launch template as Karpenter does, with the profile c1-profile.
func template(t *testing.T, a *account, name string) *types.LaunchTemplate {
	t.Helper()
	parameter := must[*ssm.GetParameterOutput](t)(a.ssm.GetParameter(t.Context(), &ssm.GetParameterInput{
		Name: sdk.String("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"),
	}))
	groups := must[*ec2.DescribeSecurityGroupsOutput](t)(a.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: discovered}))
	out := must[*ec2.CreateLaunchTemplateOutput](t)(a.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name,
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId: parameter.Parameter.Value, UserData: sdk.String(base64.StdEncoding.EncodeToString([]byte("user data & more"))),
			IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: sdk.String("c1-profile")},
			BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{
				DeviceName: sdk.String("/dev/xvda"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{
					Encrypted: sdk.Bool(true), VolumeSize: sdk.Int32(20), VolumeType: types.VolumeTypeGp3,
				},
			}},
			Monitoring:     &types.LaunchTemplatesMonitoringRequest{Enabled: sdk.Bool(false)},
			EnclaveOptions: &types.LaunchTemplateEnclaveOptionsRequest{Enabled: sdk.Bool(false)},
			Placement:      &types.LaunchTemplatePlacementRequest{Tenancy: types.TenancyDefault},
			MetadataOptions: &types.LaunchTemplateInstanceMetadataOptionsRequest{
				HttpEndpoint: types.LaunchTemplateInstanceMetadataEndpointStateEnabled, HttpPutResponseHopLimit: sdk.Int32(1),
				HttpTokens: types.LaunchTemplateHttpTokensStateRequired, InstanceMetadataTags: types.LaunchTemplateInstanceMetadataTagsStateDisabled,
			},
			NetworkInterfaces: []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
				DeviceIndex: sdk.Int32(0), Groups: []string{*groups.SecurityGroups[0].GroupId},
			}},
			CapacityReservationSpecification: &types.LaunchTemplateCapacityReservationSpecificationRequest{
				CapacityReservationPreference: types.CapacityReservationPreferenceNone,
			},
			TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{
				ResourceType: types.ResourceTypeNetworkInterface, Tags: []types.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}},
			}},
		},
		TagSpecifications: []types.TagSpecification{{
			ResourceType: types.ResourceTypeLaunchTemplate, Tags: []types.Tag{{Key: sdk.String("eks:eks-cluster-name"), Value: sdk.String("c1")}},
		}},
	}))
	return out.LaunchTemplate
}

// profile makes the instance profile c1-profile with the role of nodes.
func profile(t *testing.T, a *account) {
	t.Helper()
	name := sdk.String("c1-profile")
	out := must[*iam.CreateInstanceProfileOutput](t)(a.iam.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{
		InstanceProfileName: name, Path: sdk.String("/karpenter/us-west-2/c1/"), Tags: []iamtypes.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}},
	}))
	if *out.InstanceProfile.Path != "/karpenter/us-west-2/c1/" || len(out.InstanceProfile.Tags) != 1 {
		t.Errorf("got %+v", *out.InstanceProfile)
	}
	must[*iam.AddRoleToInstanceProfileOutput](t)(a.iam.AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: name, RoleName: sdk.String("KarpenterNodeRole-c1"),
	}))
}

// What Karpenter asks when it starts.
func TestStart(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	_, err := a.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: sdk.Bool(true)})
	if code(err) != "DryRunOperation" {
		t.Errorf("a dry run: %v", err)
	}
	named := must[*ec2.DescribeInstanceTypesOutput](t)(a.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{
		InstanceTypes: []types.InstanceType{"m5.large", "g5.xlarge", "t4g.nano", "i3.metal"},
	}))
	large := named.InstanceTypes[0]
	if *large.VCpuInfo.DefaultVCpus != 2 || *large.MemoryInfo.SizeInMiB != 8192 || *large.NetworkInfo.MaximumNetworkInterfaces != 3 ||
		*large.NetworkInfo.Ipv4AddressesPerInterface != 10 || large.Hypervisor != "nitro" || len(large.SupportedUsageClasses) != 2 {
		t.Errorf("m5.large: %+v", large)
	}
	if gpus := named.InstanceTypes[1].GpuInfo.Gpus; len(gpus) != 1 || *gpus[0].Name != "A10G" || *gpus[0].Count != 1 {
		t.Errorf("g5.xlarge: %+v", gpus)
	}
	if nano := named.InstanceTypes[2]; nano.ProcessorInfo.SupportedArchitectures[0] != "arm64" || *nano.MemoryInfo.SizeInMiB != 512 {
		t.Errorf("t4g.nano: %+v", nano)
	}
	if metal := named.InstanceTypes[3]; !*metal.BareMetal || metal.SupportedUsageClasses[0] != "on-demand" || len(metal.SupportedUsageClasses) != 1 {
		t.Errorf("i3.metal: %+v", metal)
	}
	zones := must[*ec2.DescribeAvailabilityZonesOutput](t)(a.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{}))
	if len(zones.AvailabilityZones) != 3 || *zones.AvailabilityZones[0].ZoneId != "usw2-az1" {
		t.Errorf("zones: %+v", zones.AvailabilityZones)
	}
	cluster := must[*eks.DescribeClusterOutput](t)(a.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String("c1")})).Cluster
	if *cluster.KubernetesNetworkConfig.ServiceIpv4Cidr != "10.100.0.0/16" || *cluster.Endpoint != "https://c1" || *cluster.Version != "1.34" ||
		*cluster.CertificateAuthority.Data != "Y2E=" || time.Since(*cluster.CreatedAt) > time.Hour {
		t.Errorf("cluster: %+v", cluster)
	}
	who := must[*sts.GetCallerIdentityOutput](t)(a.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}))
	if *who.Account != "123456789012" {
		t.Errorf("caller: %+v", who)
	}
	must[*ec2.DescribeCapacityReservationsOutput](t)(a.ec2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{
		Filters: []types.Filter{filter("state", "active")}, MaxResults: sdk.Int32(1000),
	}))
	must[*ec2.DescribePlacementGroupsOutput](t)(a.ec2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{
		Filters: []types.Filter{filter("state", "available")},
	}))
}

// Prices as Karpenter asks for them, and what they are for m5.large.
func TestPrices(t *testing.T) {
	a := start(t)
	term := func(field, value string) pricingtypes.Filter {
		return pricingtypes.Filter{Field: &field, Type: pricingtypes.FilterTypeTermMatch, Value: &value}
	}
	found, pages := "", 0
	pager := pricing.NewGetProductsPaginator(a.pricing, &pricing.GetProductsInput{
		ServiceCode: sdk.String("AmazonEC2"), MaxResults: sdk.Int32(100), Filters: []pricingtypes.Filter{
			term("regionCode", "us-west-2"), term("serviceCode", "AmazonEC2"), term("preInstalledSw", "NA"), term("operatingSystem", "Linux"),
			term("capacitystatus", "Used"), term("marketoption", "OnDemand"), term("tenancy", "Shared"), term("productFamily", "Compute Instance"),
		},
	})
	for ; pager.HasMorePages(); pages++ {
		for _, text := range must[*pricing.GetProductsOutput](t)(pager.NextPage(t.Context())).PriceList {
			var item struct {
				Product struct{ Attributes struct{ InstanceType string } }
				Terms   struct {
					OnDemand map[string]struct {
						PriceDimensions map[string]struct{ PricePerUnit map[string]string }
					}
				}
			}
			if err := json.Unmarshal([]byte(text), &item); err != nil {
				t.Fatal(err)
			}
			for _, term := range item.Terms.OnDemand {
				for _, d := range term.PriceDimensions {
					if item.Product.Attributes.InstanceType == "m5.large" {
						found = d.PricePerUnit["USD"]
					}
				}
			}
		}
	}
	if !strings.HasPrefix(found, "0.096") || pages < 5 {
		t.Errorf("m5.large is %q, on %d pages", found, pages)
	}
	spot := must[*ec2.DescribeSpotPriceHistoryOutput](t)(a.ec2.DescribeSpotPriceHistory(t.Context(), &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}, StartTime: sdk.Time(time.Now()),
		InstanceTypes: []types.InstanceType{"m5.large"},
	}))
	if len(spot.SpotPriceHistory) != 3 || *spot.SpotPriceHistory[0].SpotPrice != "0.033600" || spot.SpotPriceHistory[0].Timestamp == nil {
		t.Errorf("spot prices: %+v", spot.SpotPriceHistory)
	}
}

// A machine's life as Karpenter has it.
func TestLife(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	profile(t, a)
	lt := template(t, a, "karpenter.k8s.aws/1")
	_, err := a.ec2.CreateFleet(ctx, dry(fleet(t, a, "karpenter.k8s.aws/1", "on-demand", "m5.large")))
	if code(err) != "DryRunOperation" {
		t.Errorf("a dry run: %v", err)
	}
	_, err = a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
		DryRun: sdk.Bool(true), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: "m5.large",
		LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateId: lt.LaunchTemplateId, Version: sdk.String("$Latest")},
	})
	if code(err) != "DryRunOperation" {
		t.Errorf("a dry run: %v", err)
	}
	out := must[*ec2.CreateFleetOutput](t)(a.ec2.CreateFleet(ctx, fleet(t, a, "karpenter.k8s.aws/1", "spot", "m5.large", "m6i.large")))
	if len(out.Instances) != 1 || len(out.Errors) != 0 || out.Instances[0].Lifecycle != "spot" || out.Instances[0].InstanceType != "m5.large" {
		t.Fatalf("the fleet: %+v", out)
	}
	from := out.Instances[0].LaunchTemplateAndOverrides
	if *from.Overrides.AvailabilityZone != "us-west-2a" || *from.LaunchTemplateSpecification.LaunchTemplateId != *lt.LaunchTemplateId {
		t.Errorf("launched from %+v", from)
	}
	id := out.Instances[0].InstanceIds[0]
	must[*ec2.CreateTagsOutput](t)(a.ec2.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{id}, Tags: []types.Tag{{Key: sdk.String("Name"), Value: sdk.String("node & 1")}},
	}))
	is := described(t, a, id)
	if is.State.Name != "running" || *is.Placement.AvailabilityZoneId != "usw2-az1" || is.InstanceLifecycle != "spot" || is.SpotInstanceRequestId == nil ||
		*is.PrivateDnsName != "ip-10-0-0-4.us-west-2.compute.internal" || !strings.HasSuffix(*is.IamInstanceProfile.Arn, "/karpenter/us-west-2/c1/c1-profile") ||
		is.CapacityReservationSpecification.CapacityReservationPreference != "none" || len(is.SecurityGroups) != 1 || len(is.NetworkInterfaces) != 1 ||
		time.Since(*is.LaunchTime) > time.Minute || is.MetadataOptions.HttpTokens != "required" {
		t.Errorf("the instance: %+v", is)
	}
	tags := map[string]string{}
	for _, tag := range is.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if len(tags) != 2 || tags["Name"] != "node & 1" || tags["karpenter.sh/nodepool"] != "default" {
		t.Errorf("its tags: %v", tags)
	}
	if i := a.cloud.Instances()[0]; i.UserData != "user data & more" || !i.Spot {
		t.Errorf("the cloud has %+v", i)
	}
	must[*ec2.DeleteTagsOutput](t)(a.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: sdk.String("Name")}}}))
	statuses := must[*ec2.DescribeInstanceStatusOutput](t)(a.ec2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}}))
	if s := statuses.InstanceStatuses; len(s) != 1 || s[0].InstanceStatus.Status != "initializing" || len(s[0].Events) != 0 {
		t.Errorf("statuses: %+v", s)
	}
	impair(t, a)
	statuses = must[*ec2.DescribeInstanceStatusOutput](t)(a.ec2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}}))
	if s := statuses.InstanceStatuses[0]; s.SystemStatus.Status != types.SummaryStatusImpaired || s.SystemStatus.Details[0].ImpairedSince == nil ||
		s.InstanceStatus.Details[0].Status != types.StatusTypeFailed || len(s.Events) != 1 || s.Events[0].Code != types.EventCodeSystemReboot ||
		*s.Events[0].Description != "[Completed] The instance is scheduled for a system reboot" || s.Events[0].NotBefore == nil {
		t.Errorf("statuses of one that is impaired: %+v", s)
	}
	ended := must[*ec2.TerminateInstancesOutput](t)(a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))
	if c := ended.TerminatingInstances[0]; *c.InstanceId != id || c.PreviousState.Name != "running" || c.CurrentState.Name != "shutting-down" {
		t.Errorf("terminated: %+v", c)
	}
	if is := described(t, a, id); is.State.Name != "terminated" || is.PrivateIpAddress != nil || len(is.Tags) != 1 {
		t.Errorf("after its end: %+v", is)
	}
	deleted := must[*ec2.DeleteLaunchTemplateOutput](t)(a.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: lt.LaunchTemplateId}))
	if *deleted.LaunchTemplate.LaunchTemplateName != "karpenter.k8s.aws/1" {
		t.Errorf("deleted: %+v", deleted.LaunchTemplate)
	}
}

func dry(in *ec2.CreateFleetInput) *ec2.CreateFleetInput {
	in.DryRun = sdk.Bool(true)
	return in
}

// described is an instance, by its ID.
func described(t *testing.T, a *account, id string) types.Instance {
	t.Helper()
	out := must[*ec2.DescribeInstancesOutput](t)(a.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}}))
	if len(out.Reservations) != 1 || len(out.Reservations[0].Instances) != 1 {
		t.Fatalf("%s: %+v", id, out.Reservations)
	}
	return out.Reservations[0].Instances[0]
}

// An instance profile's life.
func TestProfiles(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	profile(t, a)
	name, role := sdk.String("c1-profile"), sdk.String("KarpenterNodeRole-c1")
	got := must[*iam.GetInstanceProfileOutput](t)(a.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name}))
	if len(got.InstanceProfile.Roles) != 1 || *got.InstanceProfile.Roles[0].RoleName != *role || got.InstanceProfile.CreateDate == nil {
		t.Errorf("got %+v", got.InstanceProfile)
	}
	_, err := a.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: name})
	if code(err) != "DeleteConflict" {
		t.Errorf("with a role in it: %v", err)
	}
	must[*iam.RemoveRoleFromInstanceProfileOutput](t)(a.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{
		InstanceProfileName: name, RoleName: role,
	}))
	must[*iam.DeleteInstanceProfileOutput](t)(a.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: name}))
	_, err = a.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name})
	if code(err) != "NoSuchEntity" {
		t.Errorf("after its end: %v", err)
	}
}

// Messages: one that was interrupted, one that was sent, and none.
func TestQueue(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	url := must[*sqs.GetQueueUrlOutput](t)(a.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String("q1")})).QueueUrl
	receive := func(wait int32) *sqs.ReceiveMessageOutput {
		t.Helper()
		return must[*sqs.ReceiveMessageOutput](t)(a.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: wait, VisibilityTimeout: 20, MessageAttributeNames: []string{"All"},
		}))
	}
	if out := receive(0); len(out.Messages) != 0 {
		t.Errorf("at first: %+v", out.Messages)
	}
	sent := make(chan error, 1)
	go func() {
		_, err := a.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: sdk.String("hello")})
		sent <- err
	}()
	out := receive(20)
	if err := <-sent; err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != "hello" {
		t.Fatalf("sent (%v): %+v", err, out.Messages)
	}
	if again := receive(0); len(again.Messages) != 0 {
		t.Errorf("a message that was received is visible: %+v", again.Messages)
	}
	must[*sqs.DeleteMessageOutput](t)(a.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: out.Messages[0].ReceiptHandle}))
	_, err := a.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: sdk.String("other")})
	if code(err) != "AWS.SimpleQueueService.NonExistentQueue" && code(err) != "QueueDoesNotExist" {
		t.Errorf("another queue: %v", err)
	}
}

// impair has the checks of all instances fail, and lists maintenance of them that is over.
func impair(t *testing.T, a *account) {
	t.Helper()
	for _, f := range []fault.Fault{
		{Name: "impaired", Effect: cloudfault.Impaired{}},
		{Name: "maintained", Effect: cloudfault.Maintained{Kind: "system-reboot", Finished: true}},
	} {
		if err := a.cloud.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
}
