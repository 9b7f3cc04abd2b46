package contract

import (
	"net/netip"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

// small is the kth of further subnets, of 16 addresses each.
func small(k int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 200, byte(16 * k)}), 28)
}

// Errors that AWS gives, by their codes.
func TestErrors(t *testing.T) {
	a := start(t)
	ctx := t.Context()
	profile(t, a)
	template(t, a, "template-1")
	name := sdk.String
	for want, call := range map[string]func() error{
		"InvalidParameterCombination": func() error {
			_, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}, MaxResults: sdk.Int32(10)})
			return err
		},
		"InvalidInstanceID.NotFound": func() error {
			_, err := a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{"i-0123456789abcdef0"}})
			return err
		},
		"InvalidInstanceID.Malformed": func() error {
			_, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{"m-1"}})
			return err
		},
		"InvalidParameterValue": func() error {
			_, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(1001)})
			return err
		},
		"InvalidNextToken": func() error {
			_, err := a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{NextToken: name("none")})
			return err
		},
		"InvalidInstanceType": func() error {
			_, err := a.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m99.large"}})
			return err
		},
		"InvalidLaunchTemplateName.NotFoundException": func() error {
			_, err := a.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"none"}})
			return err
		},
		"InvalidLaunchTemplateId.NotFound": func() error {
			_, err := a.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: name("lt-1")})
			return err
		},
		"InvalidLaunchTemplateName.AlreadyExistsException": func() error {
			_, err := a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
				LaunchTemplateName: name("template-1"), LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: name("ami-1")},
			})
			return err
		},
		"InvalidFleetConfig": func() error {
			_, err := a.ec2.CreateFleet(ctx, fleet(t, a, "template-1", "on-demand", "m5.large", "m5.large"))
			return err
		},
		"InvalidSubnetID.NotFound": func() error {
			_, err := a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-1"}})
			return err
		},
		"InvalidAMIID.NotFound": func() error {
			_, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{"ami-1"}})
			return err
		},
		"InvalidGroup.NotFound": func() error {
			_, err := a.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{"sg-1"}})
			return err
		},
		"InvalidID": func() error {
			_, err := a.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{"x-1"}, Tags: []types.Tag{{Key: name("a"), Value: name("b")}}})
			return err
		},
		"InvalidCapacityReservationId.NotFound": func() error {
			_, err := a.ec2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-1"}})
			return err
		},
		"UnknownParameter": func() error { // one that AWS has
			_, err := a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
				LaunchTemplateName: name("template-2"), LaunchTemplateData: &types.RequestLaunchTemplateData{RamDiskId: name("ari-1")},
			})
			return err
		},
		"InvalidAction": func() error { // one that AWS has
			_, err := a.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
			return err
		},
		"NoSuchEntity": func() error {
			_, err := a.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name("c1-profile"), RoleName: name("r")})
			return err
		},
		"LimitExceeded": func() error {
			_, err := a.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{
				InstanceProfileName: name("c1-profile"), RoleName: name("KarpenterNodeRole-c1"),
			})
			return err
		},
		"EntityAlreadyExists": func() error {
			_, err := a.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: name("c1-profile")})
			return err
		},
		"ParameterNotFound": func() error {
			_, err := a.ssm.GetParameter(ctx, &ssm.GetParameterInput{
				Name: name("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/nvidia/recommended/image_id"),
			})
			return err
		},
		"ResourceNotFoundException": func() error {
			_, err := a.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name("other")})
			return err
		},
		"ReceiptHandleIsInvalid": func() error {
			_, err := a.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: name("https://sqs/q1"), ReceiptHandle: name("none")})
			return err
		},
	} {
		if err := call(); code(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Who signs with a key that was not handed out, or with another secret, is refused by each service in its own words.
func TestSignatures(t *testing.T) {
	a := start(t)
	for _, test := range []struct{ key, secret, ec2, iam, ssm string }{
		{"AKIAOTHER", "secret", "AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException"},
		{"AKIATEST", "other", "SignatureDoesNotMatch", "SignatureDoesNotMatch", "InvalidSignatureException"},
	} {
		b := clients(a.cloud, *a.config.BaseEndpoint, test.key, test.secret)
		_, err := b.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
		_, err2 := b.iam.ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{})
		_, err3 := b.ssm.GetParameter(t.Context(), &ssm.GetParameterInput{Name: sdk.String("a")})
		if code(err) != test.ec2 || code(err2) != test.iam || code(err3) != test.ssm {
			t.Errorf("%s: got %v, %v and %v", test.key, err, err2, err3)
		}
	}
}

// Capacity that cannot be had is in a fleet's errors with the pool that lacks it, and the next one is taken.
func TestFleetErrors(t *testing.T) {
	a := start(t)
	profile(t, a)
	template(t, a, "template-1")
	for _, f := range []fault.Fault{
		{Name: "out of it", Effect: cloudfault.Unavailable{Type: "m5.large", Location: "us-west-2a"}},
		{Name: "throttled", Match: cloudfault.Match{Type: "m5.large", Location: "us-west-2b"}, Effect: cloudfault.NotLaunched{Code: "RequestLimitExceeded"}},
	} {
		if err := a.cloud.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	out := must[*ec2.CreateFleetOutput](t)(a.ec2.CreateFleet(t.Context(), fleet(t, a, "template-1", "on-demand", "m5.large")))
	if len(out.Errors) != 2 || len(out.Instances) != 1 || *out.Instances[0].LaunchTemplateAndOverrides.Overrides.AvailabilityZone != "us-west-2c" {
		t.Fatalf("got %+v", out)
	}
	for k, want := range []string{"InsufficientInstanceCapacity", "RequestLimitExceeded"} {
		e := out.Errors[k]
		if *e.ErrorCode != want || e.LaunchTemplateAndOverrides.Overrides.InstanceType != "m5.large" ||
			e.LaunchTemplateAndOverrides.Overrides.SubnetId == nil || *e.LaunchTemplateAndOverrides.Overrides.AvailabilityZone != "us-west-2"+"ab"[k:k+1] {
			t.Errorf("error %d: %+v", k, e)
		}
	}
	if unmet := a.cloud.Unmet(); len(unmet) > 0 {
		t.Errorf("faults made no difference: %q", unmet)
	}
}
