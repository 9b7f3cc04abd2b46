package contract

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	accounts "nodestorm/fakecloud/aws/account"
	"nodestorm/fakecloud/loopback"
)

// alone is the account of the example, served as "nodestorm cloud aws" serves it.
func alone(t *testing.T) *account {
	t.Helper()
	text, err := os.ReadFile("../../../features/examples/account.yaml")
	if err != nil {
		t.Fatal(err)
	}
	of, err := accounts.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	settings := of.Settings()
	settings.Clock, settings.Seed = clock.RealClock{}, 1
	cloud, err := fakecloud.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cloud.Close)
	if err := cloud.Update(of.Begin); err != nil {
		t.Fatal(err)
	}
	server, err := aws.New(of.Config(cloud, map[string]string{"AKIATEST": "secret"}))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	up := loopback.Serve(t.Context(), listener, server, server.UnsignedCalls())
	t.Cleanup(func() { _ = up.Close() })
	return clients(cloud, up.URL(), "AKIATEST", "secret")
}

// What Karpenter's guide "Getting Started" has people find out and clean up, with an account out of a file.
func TestGettingStarted(t *testing.T) {
	a, ctx := alone(t), t.Context()
	who := must[*sts.GetCallerIdentityOutput](t)(a.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}))
	cluster := must[*eks.DescribeClusterOutput](t)(a.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: pointer("shop")})).Cluster
	if *who.Account != "123456789012" || *cluster.Endpoint != "https://127.0.0.1:6443" || *cluster.Version != "1.34" {
		t.Errorf("account %s, cluster %+v", *who.Account, cluster)
	}
	image := must[*ssm.GetParameterOutput](t)(a.ssm.GetParameter(ctx, &ssm.GetParameterInput{
		Name: pointer("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"),
	})).Parameter.Value
	images := must[*ec2.DescribeImagesOutput](t)(a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{*image}})).Images
	if len(images) != 1 || !strings.HasSuffix(*images[0].Name, "-v20260915") {
		t.Errorf("images: %+v", images)
	}
	own := must[*ssm.GetParameterOutput](t)(a.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: pointer("/shop/node/image")})).Parameter.Value
	images = must[*ec2.DescribeImagesOutput](t)(a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}})).Images
	if len(images) != 1 || *images[0].ImageId != *own || *images[0].Name != "shop-node-20261101" {
		t.Errorf("own images: %+v, want %s", images, *own)
	}
	must[*iam.GetInstanceProfileOutput](t)(a.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: pointer("legacy")}))
	must[*sqs.GetQueueUrlOutput](t)(a.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: pointer("shop-interruptions")}))
	found := []types.Filter{filter("tag:karpenter.sh/discovery", "shop")}
	subnets := must[*ec2.DescribeSubnetsOutput](t)(a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: found})).Subnets
	if len(subnets) != 2 || *subnets[0].AvailableIpAddressCount+*subnets[1].AvailableIpAddressCount != 4091+11 {
		t.Errorf("subnets: %+v", subnets)
	}
	must[*ec2.CreateLaunchTemplateOutput](t)(a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: pointer("nodes"), LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: own},
		TagSpecifications: []types.TagSpecification{{
			ResourceType: types.ResourceTypeLaunchTemplate, Tags: []types.Tag{{Key: pointer("karpenter.k8s.aws/cluster"), Value: pointer("shop")}},
		}},
	}))
	templates := must[*ec2.DescribeLaunchTemplatesOutput](t)(a.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{filter("tag:karpenter.k8s.aws/cluster", "shop")},
	})).LaunchTemplates
	if len(templates) != 1 {
		t.Fatalf("templates: %+v", templates)
	}
	must[*ec2.DeleteLaunchTemplateOutput](t)(a.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{
		LaunchTemplateName: templates[0].LaunchTemplateName,
	}))
}

func pointer(text string) *string { return &text }
